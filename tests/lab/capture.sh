# SPDX-License-Identifier: BSD-3-Clause
# Takes a capture for one row. Host and guest both source it. capture_dir is its directory.

# More than any row of the short tier carries. Of the full tier's rows their beginning is judged, which is the short
# workload: under the others this machine could drop packets from the capture.
CAPTURE_KB=200000
CAPTURE_FULL_KB=30000

# capture_start NAME INTERFACE...: all TCP there, from now on.
capture_start() {
	local name=$1 interface args=() limit_kb=$CAPTURE_KB
	shift
	for interface; do args+=(-i "$interface"); done
	[ "${LAB_TIER:-${tier:-}}" != full ] || limit_kb=$CAPTURE_FULL_KB
	mkdir -p "$capture_dir"
	# Unless told, dumpcap gives its own queue between two interfaces and the file 1000 packets, and drops the others.
	dumpcap -B 64 -C $((256 << 20)) -f 'tcp or udp port 9' "${args[@]}" -a filesize:$limit_kb -w "$capture_dir/$name.pcapng" \
		>"$capture_dir/$name.log" 2>&1 </dev/null 3>&- &
	capture_pid=$!
	echo $capture_pid >"$capture_dir/pid"
	wait_for 30 capture_runs_or_ended "$name" && grep -q '^File:' "$capture_dir/$name.log" && return
	echo "dumpcap does not start: $(tail -1 "$capture_dir/$name.log")"
	return 1
}

# capture_runs_or_ended NAME: it has made its file, or never will.
capture_runs_or_ended() {
	grep -q '^File:' "$capture_dir/$1.log" || ! kill -0 $capture_pid 2>/dev/null
}

# capture_stop NAME ADDRESS...: an address behind each interface, by which the file shows that everything is in it. Sets
# capture_bounded if the capture had ended by itself. Fails and says why if something is not in the file. Not for a
# subshell: dumpcap is this shell's child.
capture_stop() {
	local name=$1 address text="the end of $1" file="$capture_dir/$1.pcapng"
	shift
	capture_bounded=
	if kill -0 $capture_pid 2>/dev/null; then
		for address; do
			printf '%s' "$text" >"/dev/udp/$address/9"
		done
		wait_for 20 capture_has "$file" "$text" $#
		kill -INT $capture_pid
	else
		capture_bounded=yes
	fi
	wait $capture_pid
	rm -f "$capture_dir/pid"
	# dumpcap counts what it still had queued at its end ("flushed") among the dropped.
	if [ -n "$capture_bounded" ]; then
		! grep '^Packets received/dropped' "$capture_dir/$name.log" | grep -v '(pcap:0/dumpcap:0/.*/ps_ifdrop:0)'
		return
	fi
	capture_has "$file" "$text" $# || { echo "its end is not in the capture"; return 1; }
}

# capture_has FILE TEXT COUNT: the text stands so often near the end of the file.
capture_has() {
	[ "$(tail -c 2000000 "$1" | grep -aoF "$2" | wc -l)" -ge "$3" ]
}

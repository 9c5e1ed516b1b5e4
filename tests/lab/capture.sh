# SPDX-License-Identifier: BSD-3-Clause
# Captures the packets of one row in the directory capture_dir. Host and guest source it.

# Limits of a capture. CAPTURE_KB exceeds any row of the short tier. In the full tier only the beginning of a row is
# judged, because dumpcap could drop packets of the rest.
CAPTURE_KB=200000
CAPTURE_FULL_KB=30000

# capture_start NAME INTERFACE...: starts to capture all TCP packets of these interfaces.
capture_start() {
	local name=$1 interface args=() limit_kb=$CAPTURE_KB
	shift
	for interface; do args+=(-i "$interface"); done
	[ "${LAB_TIER:-${tier:-}}" != full ] || limit_kb=$CAPTURE_FULL_KB
	mkdir -p "$capture_dir"
	# By default dumpcap's queue holds 1000 packets, and it drops further ones.
	dumpcap -B 64 -C $((256 << 20)) -f 'tcp or udp port 9' "${args[@]}" -a filesize:$limit_kb -w "$capture_dir/$name.pcapng" \
		>"$capture_dir/$name.log" 2>&1 </dev/null 3>&- &
	capture_pid=$!
	echo $capture_pid >"$capture_dir/pid"
	wait_for 30 capture_runs_or_ended "$name" && grep -q '^File:' "$capture_dir/$name.log" && return
	echo "dumpcap does not start: $(tail -1 "$capture_dir/$name.log")"
	return 1
}

# capture_runs_or_ended NAME: dumpcap has created the file, or has ended.
capture_runs_or_ended() {
	grep -q '^File:' "$capture_dir/$1.log" || ! kill -0 $capture_pid 2>/dev/null
}

# capture_stop NAME ADDRESS...: sends a marker packet to an ADDRESS behind each interface, and stops the capture when
# the file has the markers. Sets capture_bounded if the capture had reached its limit. Fails with a message if packets
# are missing. Do not call it in a subshell: dumpcap is a child of this shell.
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
	# dumpcap counts packets that it discarded from its queue at the end ("flushed") as dropped.
	if [ -n "$capture_bounded" ]; then
		! grep '^Packets received/dropped' "$capture_dir/$name.log" | grep -v '(pcap:0/dumpcap:0/.*/ps_ifdrop:0)'
		return
	fi
	capture_has "$file" "$text" $# || { echo "its end is not in the capture"; return 1; }
}

# capture_has FILE TEXT COUNT: TEXT occurs COUNT times near the end of the file.
capture_has() {
	[ "$(tail -c 2000000 "$1" | grep -aoF "$2" | wc -l)" -ge "$3" ]
}

# SPDX-License-Identifier: BSD-3-Clause
# The host's side of judged rows (`judged` in guest/rows.sh), sourced by host.sh: captures and verdicts. The packet
# judge runs while the next row runs. Needs: here, share, LAB_BUILD.
. "$here/capture.sh"

# judge_begin ROW: captures the tap device and the loopback of this namespace.
judge_begin() {
	capture_start "$1" lab0 lo
}

# judge_end ROW [OPTION...]: ends the capture, and starts the judge with these options of judge.sh.
judge_end() {
	local row=$1
	shift
	capture_stop "$row" 10.0.2.15 127.0.0.1 || return 1
	judge_file "$row" ${capture_bounded:+-b} "$@"
}

# judge_say ROW ok|"not ok" TEXT LOG: stores the verdict, after the first remarks of the log.
judge_say() {
	{
		grep -m 3 '^remark: ' "$4" | sed "s/^remark: /$1|#|/"
		printf '%s|%s|%s\n' "$1" "$2" "$3"
	} >"$capture_dir/$1.tmp"
	mv "$capture_dir/$1.tmp" "$capture_dir/$1.verdict"
}

# judge_file ROW [OPTION...]: judges captures one at a time. It deletes a capture without violations, unless
# LAB_CAPTURES is set.
judge_file() {
	local row=$1
	shift
	(
		flock 9
		start=$SECONDS
		log=$capture_dir/$row.judge
		if JUDGE_KEEP=$capture_dir/$row.wrong nice "$here/../judge/judge.sh" "$LAB_BUILD/tests/judge/judge" "$@" \
			"$capture_dir/$row.pcapng" >"$log" 2>&1; then
			judge_say "$row" ok "$(tail -1 "$log") in $(($(stat -c %s "$capture_dir/$row.pcapng") >> 20)) MiB # $((SECONDS - start)) s" "$log"
			[ -n "${LAB_CAPTURES:-}" ] || rm -f "$capture_dir/$row.pcapng"
		else
			judge_say "$row" "not ok" "$(grep -vc '^remark: ' "$log") remarks, the first: $(grep -v -m 1 '^remark: ' "$log")" "$log"
		fi
	) 9>"$capture_dir/lock" >/dev/null 2>&1 </dev/null &
}

# judge_verdicts: prints each new verdict as ROW|ok|TEXT, and before it each remark as ROW|#|TEXT.
judge_verdicts() {
	local verdict
	for verdict in "$capture_dir"/*.verdict; do
		[ -e "$verdict" ] || continue
		cat "$verdict"
		mv "$verdict" "$verdict.told"
	done
}

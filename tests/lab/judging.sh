# SPDX-License-Identifier: BSD-3-Clause
# The host's side of judged rows (see `judged` in guest/rows.sh), sourced by host.sh: captures, and verdicts of the
# packet judge, which are reported while the next row runs. Needs: here, share, LAB_BUILD.
. "$here/capture.sh"

# judge_begin ROW: captures what rows carry, on the way to the guest and on this namespace's loopback.
judge_begin() {
	capture_start "$1" lab0 lo
}

# judge_end ROW [OPTION...]: the capture's end, and the trial's beginning; options as judge.sh takes them.
judge_end() {
	local row=$1
	shift
	capture_stop "$row" 10.0.2.15 127.0.0.1 || return 1
	judge_file "$row" ${capture_bounded:+-b} "$@"
}

# judge_say ROW ok|"not ok" TEXT LOG: the verdict, behind the first remarks of the log.
judge_say() {
	{
		grep -m 3 '^remark: ' "$4" | sed "s/^remark: /$1|#|/"
		printf '%s|%s|%s\n' "$1" "$2" "$3"
	} >"$capture_dir/$1.tmp"
	mv "$capture_dir/$1.tmp" "$capture_dir/$1.verdict"
}

# judge_file ROW [OPTION...]: one at a time. A capture in which nothing is wrong is not kept, unless LAB_CAPTURES is set.
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

# judge_verdicts: those that are new, a line each: ROW|ok|TEXT; and, before it, ROW|#|TEXT for a remark.
judge_verdicts() {
	local verdict
	for verdict in "$capture_dir"/*.verdict; do
		[ -e "$verdict" ] || continue
		cat "$verdict"
		mv "$verdict" "$verdict.told"
	done
}

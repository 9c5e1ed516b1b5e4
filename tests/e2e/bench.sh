#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ./dev bench works, with measurements of a tenth of a second. Each method produces plausible results, over loopback and
# over a wire, and the run makes a table and a page. The size of the results is not judged.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
not_sanitized
for program in haproxy socat jq python3; do
	command -v $program >/dev/null || skip_all "$program is not installed"
done

bench() {
	env -u E2E_INSIDE "$E2E_SRC/../bench/bench.sh" -b "$E2E_BUILD" -l "$E2E_BUILD" --rounds 1 --seconds 0.1 -o "$results" "$@"
}

# Not in /run, because the script has a private /run.
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# column NAME: prints that column of samples.csv, as "SERIES ROW CONTENDER VALUE"
column() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $1, $2, $3, $at }' \
		"$results/samples.csv"
}

# each COLUMN TEST LINES: the column has LINES lines, and every value passes TEST
each() {
	column "$1" | awk -v lines="$3" "{ n++; v = \$4; if (\$4 == \"\" || !($2)) bad = 1 } END { exit bad || n != lines }" ||
		{ column "$1"; return 1; }
}

well_formed() { python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$results/page.html"; }

check "closed loop, open loop, connections and crowds, of each contender" bench --contenders 'direct|socat|haproxy2|copy2|tcp|chain' \
	--rows '^lo/(getattr-x16|getattr-open|read-1m-x4|connect|crowd)$'
note "$(cut -d, -f1-3,9-12 "$results/samples.csv" | tail -n +2)"
check "each has operations, and each connection is one" each all_ops 'v > 0' 28
# On a busy machine no Call may end in a tenth of a second.
timed() { paste -d' ' <(column ops) <(column p99_us) | awk '($4 > 0) != ($8 > 0) { bad = 1 } $8 > 0 { n++ } END { exit bad || !n }'; }
check "where some ended in the time that counts there is a p99" timed
check "each has spent CPU time in the server" each cpu_server_s 'v > 0' 28
one_rate() { column rate | awk '$2 == "getattr-open" { n++; if (!($4 > 0) || n > 1 && $4 != rate) bad = 1; rate = $4 } END { exit bad || n != 6 }'; }
check "the open loop has one rate for all" one_rate
# hops COLUMN LINES: in LINES lines with that hop, it has used CPU time
hops() { column "$1" | awk -v lines="$2" '$4 > 0 { n++ } END { exit n != lines }' || { column "$1"; return 1; }; }
check "each first hop has spent CPU time" hops cpu_first_s 23
check "so has each second hop" hops cpu_second_s 15
check "the table has ratios of what is aimed at" grep -qE 'CPU of a GETATTR, 16 in flight +[0-9]' "$results/table.txt"
check "the page is well-formed" well_formed
check "the page has plots" grep -q '<svg' "$results/page.html"

check "a bulk client next to another client, and idle connections" bench --contenders chain --rows '^(lo/mixed|idle/idle-c1000)$'
check "an idle connection has memory in both hops" eval 'column pss_second_bytes | grep -qE "idle-c1000 chain [1-9]"'
slept() { column wakes_first_per_s | awk '$2 == "idle-c1000" && $4 ~ /^[0-9.]+$/ && $4 < 1000 { found = 1 } END { exit !found }'; }
check "wake-ups are counted" slept
check "a row with two loads has no CPU time" eval 'column cpu_first_s | grep -qE "mixed chain $"'

check "on separate cores, on cores that never sleep, peak memory, and with other open connections" bench \
	--contenders 'tcp|chain-reserved' --rows '^((pinned|spinning)/getattr-x1|lo/crowd-held|peak/write-64k-x128)$'
note "$(cut -d, -f1-3,9-12 "$results/samples.csv" | tail -n +2)"
check "each has operations" each all_ops 'v > 0' 5
check "the most memory is that of a process" eval 'column peak_first_bytes | awk "\$1 == \"peak\" && \$4 > 1e6 { n++ } END { exit n != 1 }"'

check "another build next to this one" bench --contenders '(tcp|chain)(-beside)?' --beside "$E2E_BUILD" --rows '^lo/getattr-x1$'
check "it is in the samples" eval 'column all_ops | grep -qE "getattr-x1 chain-beside [1-9]"'

check "over a wire with short packets" bench --contenders 'haproxy2|copy2|chain' --rows '^mtu1500/read-1m-x4$'
check "each has operations" each all_ops 'v > 0' 3

# If the server sends wrong bytes, a run reports this and makes no table.
mkdir -p "$results/spoilt/tests/bench"
ln -s "$E2E_BUILD/tests/bench/nfs_load" "$E2E_BUILD/tests/bench/copy_proxy" "$results/spoilt/tests/bench/"
printf '#!/bin/sh\nexec %s -x 20 "$@"\n' "$E2E_BUILD/tests/bench/nfs_serve" >"$results/spoilt/tests/bench/nfs_serve"
chmod +x "$results/spoilt/tests/bench/nfs_serve"
spoilt() {
	rm -f "$results/table.txt"
	bench -l "$results/spoilt" --contenders direct --rows '^lo/read-64k-x8$' >"$T/spoilt" 2>&1
	[ $? = 1 ] && grep -q 'VOID: .* [1-9][0-9]* Replies had bytes that are not' "$T/spoilt" && ! [ -e "$results/table.txt" ] || { cat "$T/spoilt"; return 1; }
}
check "wrong bytes make a run void" spoilt

if command -v strace >/dev/null; then
	# Two system calls forward a single GETATTR, on any machine.
	calls() {
		env -u E2E_INSIDE "$E2E_SRC/../bench/calls.sh" -b "$E2E_BUILD" -l "$E2E_BUILD" -w getattr -n 1 -t 0.2 -c tcp >"$T/calls" 2>&1
		cat "$T/calls"
		grep -qE '^tcp.1 +[0-9]+ RPCs:.* readv 2\.0.* sendmsg 2\.0|^tcp.1 .* sendmsg 2\.0.* readv 2\.0' "$T/calls"
	}
	# On a busy machine no RPC may end in that time.
	check "system calls are counted by strace" wait_for 60 calls
fi

exits_with() { local wanted=$1; shift; "$@"; [ $? = "$wanted" ]; }
check "without a load generator it is a skip" exits_with 77 bench -l /
check "a row that there is not is no success" exits_with 77 bench --rows '^lo/no-such-row$'
check "nor is an option that there is not" exits_with 2 bench --frobnicate
finish

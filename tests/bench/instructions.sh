#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints a table of the instructions that a proxy takes for one RPC, counted by callgrind.
#
# usage: instructions.sh [-b BUILD] [-l BUILD] [-s SIDE] [-w WORK] [-f IN_FLIGHT] [-r RUNS] [-k KEYS] [-q]
#    -b BUILD      the build whose proxy is measured, of any version of the project (build/)
#    -l BUILD      the build that has the load generator: `make e2e-programs` there (build/)
#    -s SIDE       tcp-rdma or rdma-tcp; by default both
#    -w WORK       getattr, read, write, compound-read or compound-getattr; by default all
#    -f IN_FLIGHT  Calls in flight; by default 1 and then 8
#    -r RUNS       the limit of runs (9): at least three, until the two smallest agree within 0.1 %
#    -k KEYS       further keys for the proxy's service towards RDMA: -k 'ddp = "nfs";'
#    -q            quick: a few RPCs, once; shows that it works and measures nothing
#
# Exits with 77 if something that it needs is missing.

sides=(tcp-rdma rdma-tcp)
works=(getattr read write compound-read compound-getattr)
windows=(1 8)
runs=9 keys= quick= load_build=
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while getopts b:l:s:w:f:r:k:qh option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	l) load_build=$OPTARG ;;
	s) sides=("$OPTARG") ;;
	w) works=("$OPTARG") ;;
	f) windows=("$OPTARG") ;;
	r) runs=$OPTARG ;;
	k) keys=$OPTARG ;;
	q) quick=1 runs=1 ;;
	*) sed -n '3,15s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

missing() { echo "instructions.sh: $*" >&2; exit 77; }
die() { echo "instructions.sh: $*" >&2; show_logs >&2; exit 1; }

. "$here/../e2e/lib.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }
LOAD=$(cd "${load_build:-$here/../../build}" && pwd)/tests/bench/rpc_load
[ -x "$LOAD" ] || missing "$LOAD is not built: make e2e-programs"
[ -x "$PROXY" ] || missing "$PROXY is not built"
command -v valgrind >/dev/null || missing "valgrind is not installed (package valgrind)"
enter "$@"

# The number of reads depends on how they are split, so the script keeps that constant. Socket buffers hold whole
# messages and do not grow. All processes share one processor, and each keeps it until it has nothing to do. So each
# process finds everything that the one before it sent.
WORKERS=1
# shellcheck disable=SC2034
A_SERVICE=$keys
sysctl -qw net.ipv4.tcp_rmem="16777216 16777216 16777216" net.ipv4.tcp_wmem="16777216 16777216 16777216"
taskset -pc "$(taskset -pc $$ | sed 's/.*[ ,-]//')" $$ >/dev/null
chrt --batch -p 0 $$

# few WORK, many WORK: print the RPCs of the two runs of a slope
few() {
	case $quick$1 in
	1*) echo 5 ;;
	read | write) echo 200 ;;
	*) echo 1000 ;;
	esac
}
many() { echo $((2 * $(few "$1"))); }

# total SIDE WORK WINDOW COUNT: prints all instructions of that proxy, from its start to its end
total() {
	local measured=a side

	[ "$1" = tcp-rdma ] || measured=b
	rm -f "$T/callgrind.out"
	for side in b a; do
		PROXY_WRAP=
		[ $side != $measured ] ||
			PROXY_WRAP="valgrind -q --tool=callgrind --vgdb=no --callgrind-out-file=$T/callgrind.out"
		start_proxy $side
	done
	"$LOAD" "$FRONT_PORT" "$NFS_PORT" "$2" "$4" "$3" >&2 || die "$*: the load generator failed"
	for side in a b; do
		stop $side
		[ "$exit_status" = 0 ] || die "$*: proxy $side ended with $exit_status"
	done
	awk '/^(summary|totals):/ { n = $2 } END { if (!n) exit 1; print n }' "$T/callgrind.out" ||
		die "$*: callgrind has written no sum"
}

# measure SIDE WORK WINDOW COUNT: sets least and next to the smallest and the second smallest count of several runs.
# Disturbances add instructions by chance, so two equal counts were not disturbed.
measure() {
	local i n

	least= next=
	for ((i = 1; i <= runs; i++)); do
		total "$@" >total || exit 1
		read -r n <total
		if [ -z "$least" ] || ((n < least)); then
			next=${least:-$n} least=$n
		elif ((i == 2 || n < next)); then
			next=$n
		fi
		((i < 3 || (next - least) * 1000 > least)) || break
	done
}

# slope SIDE WORK WINDOW: sets slope, and spread to the sum of the distances of the two smallest counts, in percent
slope() {
	local base noise rpcs=$(few "$2")

	measure "$@" "$rpcs"
	base=$least noise=$((next - least))
	measure "$@" "$(many "$2")"
	slope=$(((least - base) / rpcs))
	spread=$(awk -v n=$((noise + next - least)) -v of=$((least - base)) 'BEGIN { printf "%.2f %%", 100 * n / of }')
}

row='%-10s %-18s %9s %12s %18s %9s\n'
# shellcheck disable=SC2059
printf "$row" topology work "in flight" RPCs "instructions/RPC" spread
for topology in "${sides[@]}"; do
	for work in "${works[@]}"; do
		for window in "${windows[@]}"; do
			slope "$topology" "$work" "$window"
			# shellcheck disable=SC2059
			printf "$row" "$topology" "$work" "$window" "$(few "$work")-$(many "$work")" "$slope" "$spread"
		done
	done
done

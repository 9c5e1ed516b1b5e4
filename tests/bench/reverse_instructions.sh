#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures how many instructions 1,000 reverse Calls per second add to a forward RPC: a table, and a verdict.
#
# usage: reverse_instructions.sh [-b BUILD] [-n CALLS] [-m PERCENT] [-w WORK] [-r RATE]
#    -b BUILD    the build that has tests/bench/reverse_mix: `make e2e-programs` there (build/)
#    -n CALLS    forward Calls in the shorter of two runs (2000)
#    -m PERCENT  the largest allowed additional cost of a forward RPC (1)
#    -w WORK     getattr, read or write; by default all
#    -r RATE     forward Calls per second; by default 50000, 10000 and 2000
#
# README.md explains what is counted. Exits with 1 if a row exceeds the limit, with 77 if something that it needs is
# missing.

works=(getattr read write)
rates=(50000 10000 2000)
build= calls=2000 limit=1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while getopts b:n:m:w:r:h option; do
	case $option in
	b) build=$OPTARG ;;
	n) calls=$OPTARG ;;
	m) limit=$OPTARG ;;
	w) works=("$OPTARG") ;;
	r) rates=("$OPTARG") ;;
	*) sed -n '3,13s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

missing() { echo "reverse_instructions.sh: $*" >&2; exit 77; }
die() { echo "reverse_instructions.sh: $*" >&2; exit 1; }
MIX=${build:-$here/../../build}/tests/bench/reverse_mix
[ -x "$MIX" ] || missing "$MIX is not built: make e2e-programs"
command -v valgrind >/dev/null || missing "valgrind is not installed (package valgrind)"
work_dir=$(mktemp -d) || exit 1
trap 'rm -rf "$work_dir"' EXIT

# proxy_instructions FILE: prints the instructions of functions of lib/ and daemon/ in the output of callgrind, without
# test-only code. A line after "calls=" is the cost of the called function, which has separate lines.
proxy_instructions() {
	awk '
	/^c?f[lie]=/ {
		id = path = $0
		sub(/^[^(]*/, "", id)
		sub(/ .*/, "", id)
		if (sub(/^[^ ]* /, "", path)) name[id] = path
		if (!/^c/) counts = name[id] ~ /\/(lib|daemon)\// && name[id] !~ /\/tests\/|^\/usr\/|fabric\/sim\/|stream\/pair/
		next
	}
	/^calls=/ { skip = 1; next }
	/^[0-9+*-]/ { if (skip) skip = 0; else if (counts) sum += $2 }
	END { if (!sum) exit 1; printf "%.0f\n", sum }' "$1"
}

# total KIND WORK RATE CALLS
total() {
	valgrind -q --tool=callgrind --vgdb=no --callgrind-out-file="$work_dir/out" "$MIX" "$@" >&2 || die "$*: it failed"
	proxy_instructions "$work_dir/out" || die "$*: callgrind has counted nothing"
}

# slope KIND WORK RATE: prints the instructions per forward Call of that replay
slope() {
	local few many

	few=$(total "$@" "$calls") || exit 1
	many=$(total "$@" $((2 * calls))) || exit 1
	awk -v d=$((many - few)) -v n="$calls" 'BEGIN { printf "%.1f\n", d / n }'
}

row='%-8s %10s %12s %12s %16s %16s %9s\n'
# shellcheck disable=SC2059
printf "$row" work "forward/s" alone beside "reverse Call" "lone reverse" change
bad=0
for work in "${works[@]}"; do
	for rate in "${rates[@]}"; do
		for kind in neither forward reverse mixed; do
			slope "$kind" "$work" "$rate" >"$work_dir/$kind" || exit 1
		done
		# shellcheck disable=SC2059
		paste "$work_dir"/{neither,forward,reverse,mixed} |
			awk -v limit="$limit" -v row="$row" -v work="$work" -v rate="$rate" '
			{
				alone = $2 - $1
				beside = $4 - $3
				change = 100 * (beside - alone) / alone
				every = rate / 1000
				printf row, work, rate, alone, beside, ($4 - $2) * every, ($3 - $1) * every,
					sprintf("%+.2f %%", change)
				exit change > limit
			}' || bad=1
	done
done
[ $bad = 0 ] || die "a forward RPC costs more than $limit % more with reverse Calls beside it"

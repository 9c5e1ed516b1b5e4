#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints how each hop spends the processor time of an RPC, by perf: microseconds per Call by purpose.
#
# usage: profile.sh [-b BUILD] [-l BUILD] [-c CONTENDERS] [-w WORK] [-n IN_FLIGHT] [-t SECONDS] [-o DIR]
#    -b BUILD       the build whose proxy is measured, of any version of the project (build/)
#    -l BUILD       the build that has the load generator: `make bench-programs` there (build/)
#    -c CONTENDERS  of ./dev bench (haproxy2 chain)
#    -w WORK        as for nfs_load (read:65536)
#    -n IN_FLIGHT   Calls in flight (8)
#    -t SECONDS     how long each hop is sampled (5)
#    -o DIR         directory of the samples, HOP.stacks: one frame a line, an empty line between two samples
#
# perf needs root, and a kernel that exposes its symbol addresses. Sampling itself takes time, a tenth to a third where
# Calls are short, so the sums exceed the results of `./dev bench`. Exits with 77 if something that it needs is
# missing.

load_build= contenders="haproxy2 chain" work=read:65536 inflight=8 seconds=5 out= HZ=4999
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
given=("$@")
while getopts b:l:c:w:n:t:o:h option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	l) load_build=$OPTARG ;;
	c) contenders=$OPTARG ;;
	w) work=$OPTARG ;;
	n) inflight=$OPTARG ;;
	t) seconds=$OPTARG ;;
	o) out=$OPTARG ;;
	*) sed -n '3,16s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

missing() { echo "profile.sh: $*" >&2; exit 77; }
die() { echo "profile.sh: $*" >&2; show_logs >&2; exit 1; }

. "$bench/../e2e/lib.sh"
. "$bench/../e2e/hosts.sh"
. "$bench/contenders.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }
BENCH=$(cd "${load_build:-$bench/../../build}" && pwd)/tests/bench
[ -x "$BENCH/nfs_load" ] || missing "$BENCH/nfs_load is not built: make bench-programs"
[ -x "$PROXY" ] || missing "$PROXY is not built"
PATH=$PATH:/usr/sbin:/sbin
for program in perf haproxy jq python3; do
	command -v $program >/dev/null || missing "$program is not installed"
done
[ -z "$out" ] || { mkdir -p "$out" && out=$(cd "$out" && pwd); } || exit 1
enter "${given[@]}"
way_to[near]= way_to[far]=
out=${out:-$T}

samples_say() { [ -s "$out/$1.perf" ]; }

# profile HOP CONTENDER: writes its samples to HOP.stacks, and its Calls to HOP.calls
profile() {
	local hop=$1 addr port

	read -r addr port < <(front_of "$2")
	rm -f "$out/$hop.perf"
	start perf perf record -q -g -e cpu-clock -F $HZ -o "$out/$hop.perf" -p "${pid_of[$hop]}"
	wait_for 10 samples_say "$hop" || missing "perf cannot sample: $(tail -n 1 "$T/perf.log")"
	"$BENCH/nfs_load" -w "$work" -n "$inflight" -t "$seconds" "$addr" "$port" >"$out/$hop.json" || die "the load has failed"
	stop perf INT
	jq .all_ops "$out/$hop.json" >"$out/$hop.calls"
	perf script -i "$out/$hop.perf" -F ip,sym 2>/dev/null | sed 's/^ *[0-9a-f]* //' >"$out/$hop.stacks"
	rm -f "$out/$hop.perf"
}

serve
hops=()
for contender in $contenders; do start_contender "$contender"; done
for contender in $contenders; do
	for hop in $(hops_of "$contender"); do
		profile "$hop" "$contender"
		hops+=("$hop")
	done
done
for contender in $contenders; do stop_contender "$contender"; done
stop_serving
echo "$work, $inflight in flight: microseconds of a Call"
python3 -B "$bench/report/stacks.py" $HZ "$out" "${hops[@]}"

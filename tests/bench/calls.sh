#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints how many system calls each hop makes for an RPC, by strace. No limit is checked: strace slows the traced
# process, so more work comes together in a loop iteration than without it. With one Call in flight that makes no
# difference.
#
# usage: calls.sh [-b BUILD] [-l BUILD] [-c CONTENDERS] [-w WORK] [-n IN_FLIGHT] [-k CONNECTIONS] [-t SECONDS]
#    -b BUILD        the build whose proxy is traced (build/)
#    -l BUILD        the build that has the load generator: `make bench-programs` there (build/)
#    -c CONTENDERS   of ./dev bench (haproxy tcp haproxy2 chain)
#    -w WORK         as for nfs_load (read:65536)
#    -n IN_FLIGHT    Calls in flight on each connection (8)
#    -k CONNECTIONS  (1)
#    -t SECONDS      how long each hop is traced (2)
#
# Exits with 77 if something that it needs is missing.

load_build='' contenders='haproxy tcp haproxy2 chain' work=read:65536 inflight=8 connections=1 seconds=2
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
given=("$@")
while getopts b:l:c:w:n:k:t:h option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	l) load_build=$OPTARG ;;
	c) contenders=$OPTARG ;;
	w) work=$OPTARG ;;
	n) inflight=$OPTARG ;;
	k) connections=$OPTARG ;;
	t) seconds=$OPTARG ;;
	*) sed -n '3,16s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

missing() { echo "calls.sh: $*" >&2; exit 77; }
die() { echo "calls.sh: $*" >&2; show_logs >&2; exit 1; }

. "$bench/../e2e/lib.sh"
. "$bench/../e2e/hosts.sh"
. "$bench/contenders.sh"
. "$bench/load.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }
BENCH=$(cd "${load_build:-$bench/../../build}" && pwd)/tests/bench
[ -x "$BENCH/nfs_load" ] || missing "$BENCH/nfs_load is not built: make bench-programs"
[ -x "$PROXY" ] || missing "$PROXY is not built"
PATH=$PATH:/usr/sbin:/sbin
for program in strace haproxy jq; do
	command -v $program >/dev/null || missing "$program is not installed"
done
enter "${given[@]}"
way_to[near]= way_to[far]=

# is_traced PID: strace has attached to each of its threads
is_traced() { ! grep -qx 'TracerPid:[[:space:]]0' /proc/"$1"/task/*/status; }

# look HOP FRONT...: prints a line of its calls per RPC, except calls in fewer than one of a hundred RPCs
look() {
	local hop=$1 pid=${pid_of[$1]} children child said_of_load
	local -a looked_at=(-p "$pid")

	load_start load "${@:2}" -w "$work" -n "$inflight" -k "$connections" -t "$seconds" -g ||
		die "the load does not begin: $(cat "$T/load.err")"
	read -ra children <"/proc/$pid/task/$pid/children" # which socat has for each connection
	for child in "${children[@]}"; do looked_at+=(-p "$child"); done
	start strace strace -f -c -S calls -U name,calls -o "$T/$hop.calls" "${looked_at[@]}"
	wait_for 20 is_traced "$pid" || missing "strace may not look at others: $(cat "$T/strace.log")"
	load_goes_on load && load_says load || die "the load fails: $(cat "$T/load.err")"
	said_of_load=$said
	stop strace INT
	load_ends load || die "the load fails: $(cat "$T/load.err")"
	awk -v hop="$hop" -v rpcs="$(jq .all_ops <<<"$said_of_load")" '
		NF == 2 && $2 ~ /^[0-9]+$/ && $1 != "total" && $2 >= rpcs / 100 { line = line sprintf("  %s %.2f", $1, $2 / rpcs) }
		END { printf "%-18s %8d RPCs:%s\n", hop, rpcs, line; exit line == "" }' \
		"$T/$hop.calls" || die "strace has counted nothing of $hop"
}

serve
echo "$work, $inflight in flight, $connections connections: system calls for each RPC"
for contender in $contenders; do
	start_contender "$contender"
	read -ra front < <(front_of "$contender")
	for hop in $(hops_of "$contender"); do look "$hop" "${front[@]}"; done
	stop_contender "$contender"
done
stop_serving

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints a table of the cost of one READ or WRITE between two proxies over iwarp, in version one and version two,
# before and after they raise their Receive sizes, by the daemons' own counters.
#
# usage: receive_sizes.sh [-b BUILD] [-l BUILD] [-w WORK] [-s BYTES] [-n RPCS] [-t]
#    -b BUILD  the build whose proxy is measured (build/)
#    -l BUILD  the build that has the load generator: `make e2e-programs` there (build/)
#    -w WORK   read or write; by default both
#    -s BYTES  data bytes of an RPC, up to 1048576; by default 4 to 64 KiB
#    -n RPCS   RPCs of a measurement, one after the other (200); as many before it raise the sizes
#    -t        in version one instead, with thresholds of 4, 8, 64 and 256 KiB at both ends; by default 4 to 128 KiB
#
# Exits with 77 if something that it needs is missing.

works=(read write) sizes=(4096 8192 16384 32768 65536) rpcs=200 load_build= thresholds=()
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while getopts b:l:w:s:n:th option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	l) load_build=$OPTARG ;;
	w) works=("$OPTARG") ;;
	s) given=("$OPTARG") ;;
	n) rpcs=$OPTARG ;;
	t) thresholds=(4096 8192 65536 262144) sizes[3]=65536 sizes[4]=131072 ;;
	*) sed -n '3,14s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

[ -z "${given:-}" ] || sizes=("${given[@]}")

missing() { echo "receive_sizes.sh: $*" >&2; exit 77; }
die() { echo "receive_sizes.sh: $*" >&2; show_logs >&2; exit 1; }

. "$here/../e2e/lib.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }
LOAD=$(cd "${load_build:-$here/../../build}" && pwd)/tests/bench/rpc_load
[ -x "$LOAD" ] || missing "$LOAD is not built: make e2e-programs"
[ -x "$PROXY" ] || missing "$PROXY is not built"
enter "$@"
ip link set lo mtu 1500 # packets as an Ethernet has them
WORKERS=1

# packets: prints the kernel's count of segments on the connection between the proxies, in both directions
packets() {
	ss -tinH "sport = :$FABRIC_PORT" | tr ' ' '\n' |
		awk -F: '$1 == "segs_out" || $1 == "segs_in" { n += $2 } END { print n + 0 }'
}

# cpu: prints the CPU time of both proxies, in ns
cpu() { cat "/proc/${pid_of[a]}"/task/*/schedstat "/proc/${pid_of[b]}"/task/*/schedstat | awk '{ n += $1 } END { print n }'; }

# counted: prints Sends, RDMA Reads and Writes, keys, their bytes, packets and CPU time of both proxies since their
# start
counted() {
	echo "$(($(counter a iwarp sends_sent) + $(counter b iwarp sends_sent)))" \
		"$(counter b iwarp read_requests_sent) $(counter b iwarp writes_sent) $(counter a rdma keys_lent)" \
		"$(($(counter b iwarp read_bytes_received) + $(counter b iwarp write_bytes_sent))) $(packets) $(cpu)"
}

# receives: prints the receive sizes of both proxies, "FIRST/SECOND"
receives() {
	ctl a -j connections |
		jq -r '.connections[0].upstream | "\(.recv_size_bytes / 1024)/\(.peer_recv_size_bytes / 1024) KiB"'
}

turn_is_over() { grep -qx "turn $1" load.log; }
turn_ends() {
	wait_for 60 eval "turn_is_over $1 || ! alive load"
	turn_is_over "$1" || die "the load generator failed: $(cat load.log)"
}

row='%-6s %7s %8s %12s %6s %6s %7s %6s %9s %12s %8s %7s\n'

# measure WORK BYTES VERSION KEYS: prints a row
measure() {
	local before after go_on side each

	A_SERVICE="connect_version = $3; $4" B_SERVICE=$4
	start_chain
	rm -f load.log
	"$LOAD" "$FRONT_PORT" "$NFS_PORT" "$1:$2" "$rpcs" 1 2 <load.in >load.log 2>&1 &
	pid_of[load]=$!
	exec {go_on}>load.in
	turn_ends 1
	before=$(counted)
	echo >&"$go_on"
	turn_ends 2
	after=$(counted)
	mapfile -t each < <(paste <(tr ' ' '\n' <<<"$before") <(tr ' ' '\n' <<<"$after") |
		awk -v n="$rpcs" '{ printf (NR == 5 ? "%.0f\n" : "%.3g\n"), ($2 - $1) / n / (NR == 7 ? 1000 : 1) }')
	# An RDMA Read completes before the Call is executed, so it is one more round trip.
	# shellcheck disable=SC2059
	printf "$row" "$1" "$2" "$3" "$(receives)" "${each[@]:0:5}" "$(jq -n "1 + ${each[1]}")" \
		"${each[5]}" "${each[6]}"
	exec {go_on}>&-
	stop load KILL
	for side in a b; do stop $side; done
}

mkfifo load.in
# shellcheck disable=SC2059
printf "$row" work bytes version receives Sends Reads Writes keys "by RDMA" "round trips" packets "CPU us"
for work in "${works[@]}"; do
	for bytes in "${sizes[@]}"; do
		for threshold in "${thresholds[@]}"; do
			measure "$work" "$bytes" 1 "inline_threshold_bytes = $threshold;"
		done
		[ ${#thresholds[@]} = 0 ] || continue
		measure "$work" "$bytes" 1 ""
		measure "$work" "$bytes" 2 "receive_max_bytes = 8192;"
		measure "$work" "$bytes" 2 ""
		measure "$work" "$bytes" 2 "receive_max_bytes = 131072;"
	done
done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A service with a failing server and clients that send all they can costs the other service of the same workers a
# little time, and nothing else. The same holds for a connection that blocks the others of its service.
BACK_PORT=3049 WORKERS=1
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

# steady WHAT [hung]: a case: the good service serves one RPC after another for a while; prints their time
steady() {
	check "$limit MiB, $1: every RPC of the other is answered" steady_run "${2:-}"
	note "$limit MiB, $1, $(cat $T/steady.out)"
}
# shellcheck disable=SC2086
steady_run() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 steady $seconds $1 >$T/steady.out; }

# start_neighbour KIND: starts the load of the bad service
start_neighbour() {
	rm -f $T/neighbour.log
	start neighbour "$BIN/rpc_peer" "$FRONT_MNT" "$MNT_PORT" 0 0 neighbour "$1"
}

# waiting SIDE SERVICE: prints the number of claims that wait for memory
waiting() { ctl "$1" -j services | jq --arg name "$2" '.services[] | select(.name == $name).memory.waiting_claims'; }

# has_effect KIND: the bad clients use all memory that they can get, or have all lost a connection
has_effect() {
	case $1 in
	refusing | resetting | deserted) grep -q lost $T/neighbour.log ;;
	*) [ "$(waiting a mount)" -gt 0 ] ;;
	esac
}

# waits SIDE SERVICE: prints how many Calls have waited for memory so far
waits() { ctl "$1" -j stats | jq --arg name "$2" '[.services[$name][] | .budget_waits? // 0] | add'; }
waits_are() { test "$(waits "$1" "$2")" "$3" "$4"; }

has_claimed_nothing() { [ "$(ctl "$1" -j status | jq '.memory.claimed_bytes')" = 0 ]; }
has_told() { grep -q "\[mount#.* a Call has waited 5 s .* most is held by service mount " "$T/$1.log"; }

# leave KIND: the bad clients end, and the proxy releases what they held
leave() {
	stop neighbour KILL
	for side in a b; do
		check "$limit MiB, $1: then nothing is claimed at proxy $side" wait_for 20 has_claimed_nothing $side
	done
}

# beside KIND: tests the good service during the load of the bad one
beside() {
	start_neighbour "$1"
	check "$limit MiB, $1: the clients get what they can" wait_for 20 has_effect "$1"
	steady "$1"
}

# company MIB: tests every kind of load, with this amount of memory
company() {
	limit=$1
	A_GLOBAL="memory_limit_mib = $limit;" B_GLOBAL=$A_GLOBAL
	start_chain
	steady alone
	for kind in refusing deserted resetting reading answering silent; do
		beside $kind
		[ "$limit $kind" != "16 silent" ] ||
			check "the log has the waiting Call and the service that holds most memory" wait_for 20 has_told a
		leave $kind
	done
	check "Calls of the bad service had to wait" waits_are a mount -gt 0
	for side in a b; do
		check "no Call of the good service had to at proxy $side" waits_are $side nfs = 0
	done
	steady "a connection of the same service hangs, its client is called back" hung
	stop_proxy a
	stop_proxy b
}

seconds=0.5 # for each measurement
company 16
company 1024
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# While hostile connections open and close at both proxies, a good service copies files and answers every RPC.
# Afterwards the proxies keep nothing of them. This test takes a few seconds; `./dev hostile` runs for minutes.
#
# HOSTILE_CONNECTIONS  the number of connections
# HOSTILE_AT_ONCE      how many of them concurrently
# HOSTILE_MIB          the length of each file
# HOSTILE_SEED         decides what they do
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
connections=${HOSTILE_CONNECTIONS:-1500} at_once=${HOSTILE_AT_ONCE:-150} mib=${HOSTILE_MIB:-24}
seed=${HOSTILE_SEED:-$((RANDOM << 15 | RANDOM))}
note "HOSTILE_SEED=$seed HOSTILE_CONNECTIONS=$connections HOSTILE_AT_ONCE=$at_once HOSTILE_MIB=$mib"

# The hostile services, through both proxies: the port for TCP clients, the port for RDMA clients, the server.
ECHO=(12101 20101 3101) SILENT=(12102 20102 3102) REFUSING=(12103 20103 3103) NAMELESS=(12104 20104)
# shellcheck disable=SC2034
A_SERVICE='stall_timeout_s = 3;' B_SERVICE=$A_SERVICE A_MORE=more_a B_MORE=more_b
more_a() {
	service echo "tcp://127.0.0.1:${ECHO[0]}" "$FABRIC:${ECHO[1]}" "$A_SERVICE"; echo ,
	service silent "tcp://127.0.0.1:${SILENT[0]}" "$FABRIC:${SILENT[1]}" "$A_SERVICE"; echo ,
	service refusing "tcp://127.0.0.1:${REFUSING[0]}" "tcp://127.0.0.1:${REFUSING[2]}"; echo ,
	service nameless "tcp://127.0.0.1:${NAMELESS[0]}" "tcp://nobody.invalid:2049"
}
more_b() {
	service echo "$FABRIC:${ECHO[1]}" "tcp://127.0.0.1:${ECHO[2]}" "$B_SERVICE"; echo ,
	service silent "$FABRIC:${SILENT[1]}" "tcp://127.0.0.1:${SILENT[2]}" "$B_SERVICE"; echo ,
	service refusing "$FABRIC:${REFUSING[1]}" "tcp://127.0.0.1:${REFUSING[2]}"; echo ,
	service nameless "$FABRIC:${NAMELESS[1]}" "tcp://nobody.invalid:2049"
}
targets() {
	echo "tcp:$FRONT_PORT:100003" "tcp:$FRONT_MNT:100005" "rdma:$FABRIC_PORT:100003" "rdma:$FABRIC_MNT:100005"
	for port in "${ECHO[0]}" "${SILENT[0]}" "${REFUSING[0]}" "${NAMELESS[0]}"; do echo "tcp:$port:0"; done
	for port in "${ECHO[1]}" "${SILENT[1]}" "${REFUSING[1]}" "${NAMELESS[1]}"; do echo "rdma:$port:0"; done
}
be_hostile() {
	# shellcheck disable=SC2046
	"$BIN/rpc_peer" 0 "${ECHO[2]}" 0 "${SILENT[2]}" hostile "$seed" "$connections" "$at_once" $(targets)
}

# copy N: writes and reads a file through the proxies, then reads it without them; a lost connection is a failure
copy() {
	local url=$V3

	(($1 % 2)) || url=$V4
	nfs_client "$url" write "file-$1" "${mib}m" "$1" 1m &&
		nfs_client "$url" verify "file-$1" "${mib}m" "$1" 1m &&
		nfs_client "nfs://127.0.0.1/export?version=3&nfsport=$NFS_PORT&mountport=$MNT_PORT" \
			verify "file-$1" "${mib}m" "$1" 1m &&
		rm -f "export/file-$1"
}
# copy_on: copies while hostile connections come, at least once; prints the number of copies
copy_on() {
	local n=0

	while :; do
		copy $((++n)) || return 1
		alive hostile || break
	done
	echo "$n" >copies
}

status_of() { ctl "$1" -j status | jq ".memory.$2"; }
rss_kib() { awk '/^VmRSS/ { print $2 }' "/proc/${pid_of[$1]}/status"; }
refused() { ctl "$1" -j services | jq '[.services[] | select(.name == "nfs" or .name == "mount").refused[]] | add // 0'; }
closes() { ctl "$1" -j stats | jq -c '.services.nfs.closes | map_values(with_entries(select(.value > 0)))'; }
is() { [ "$("${@:2}")" = "$1" ]; }
# at_most MAXIMUM COMMAND...: the printed number is at most MAXIMUM
at_most() { [ "$("${@:2}")" -le "$1" ]; }

start_ganesha
start_chain
export NFS_CLIENT_ONCE=1
check "a file is copied before they come" copy 0
declare -A idle_descriptors=() idle_rss=()
for side in a b; do
	wait_for 20 no_connections $side && wait_for 20 no_control_clients $side || bail "proxy $side is not idle"
	idle_descriptors[$side]=$(descriptors $side) idle_rss[$side]=$(rss_kib $side)
done

start ask "$BIN/rpc_peer" "$FRONT_PORT" 0 "$FRONT_MNT" 0 ask
wait_for 20 grep -q asking ask.log || bail "the good client is not served"
start hostile be_hostile
check "files are copied equal all the while, and no connection of theirs is lost" copy_on
ends_well hostile "$connections hostile connections have come and gone"
note "$(cat hostile.log)"
stop ask
check "every RPC of a good client was answered on one connection" [ "$exit_status" = 0 ]
note "$(cat copies) copies of $mib MiB"
note "$(tail -n 1 ask.log)"
for side in a b; do
	check "proxy $side has refused no client at the good services" is 0 refused $side
	note "proxy $side: connections of the good service ended so: $(closes $side)"
	check "no connection is left at proxy $side" wait_for 20 no_connections $side
	check "nothing is claimed at proxy $side" wait_for 20 is 0 status_of $side claimed_bytes
	check "no claim waits for memory at proxy $side" is 0 status_of $side waiting_claims
	check "no buffer is in use at proxy $side" wait_for 20 is 0 status_of $side in_use_bytes
	check "proxy $side has the descriptors that it had" wait_for 20 is "${idle_descriptors[$side]}" descriptors $side
	note "proxy $side: $(status_of $side mapped_bytes) bytes kept, RSS ${idle_rss[$side]} KiB before, $(rss_kib $side) after"
	[ -n "${E2E_SANITIZED:-}" ] ||
		check "proxy $side holds no more than what it may keep" at_most $((idle_rss[$side] + 65536 + 6 * 2 * 512)) rss_kib $side
done
check "a file is copied when they have gone" copy 0
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A third proxy in the middle, from RDMA to RDMA, with versions one and two on its sides, thresholds from 1 KiB to 256
# KiB, errors that it forwards, and MOUNT over TCP through all three.
GATE_PORT=20050 BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha

# start_gate KEYS: starts the proxy in the middle, with KEYS for its service from RDMA to RDMA. A second service stands
# in front of the server, and itself rejects Calls longer than 1 MiB.
start_gate() {
	{
		echo "control = \"$T/g.sock\"; workers = 2; services = ("
		service gate "iwarp://127.0.0.1:$GATE_PORT" "iwarp://127.0.0.1:$FABRIC_PORT" "${1:-}"
		echo ","
		service mount "tcp://127.0.0.1:12050" "tcp://127.0.0.1:$MNT_PORT"
		echo ","
		service server "tcp://127.0.0.1:$BACK_PORT" "tcp://127.0.0.1:$NFS_PORT" "max_message_bytes = 1114112;"
		echo ");"
	} >g.conf
	start g "$PROXY" -c g.conf
	serves g $GATE_PORT $BACK_PORT 12050 || bail "the gateway does not start"
	start_chain
	V3="nfs://127.0.0.1/export?version=3&nfsport=$FRONT_PORT&mountport=12050"
}

stop_gate() { for side in a g b; do stop_proxy $side; done; }

start_gate
check "NFSv3 writes 30 MB" nfs_client "$V3" write three 30m 3
check "NFSv3 reads them back bit for bit" nfs_client "$V3" verify three 30m 3
check "NFSv4.0: a bit of everything" nfs_client "$V4" mixed four 8m 4
check "NFSv3: every size around the inline threshold" nfs_client "$V3" sizes f 7990 8190 1
check "the gateway carried it from RDMA to RDMA" counter_is g rdma calls_received -gt 100
check "MOUNT went over TCP" counter_is g tcp calls_sent -gt 0
stop_gate

# ---------------------------------------------------------------- versions and thresholds

: >export/large
chmod 666 export/large

# at_least_4096 VERSION BYTES: prints the receive size for a threshold in a version
at_least_4096() { echo $(($1 == 2 && $2 < 4096 ? 4096 : $2)); }

# shows SIDE LEG VERSION BYTES: the leg uses this version, and sends up to BYTES
shows() {
	ctl "$1" -j connections | jq -e --arg leg "$2" --argjson version "$3" --argjson bytes "$(at_least_4096 "$3" "$4")" \
		'[.connections[][$leg] | select(.rpcrdma_version == $version and .inline_recv_bytes == $bytes)] | length > 0'
}

# refused SIDE SENT RECEIVED: compares the sent ERR_CHUNKs, and the received ones if given
refused() { counter_is "$1" rdma err_chunk_sent = "$2" && counter_is "$1" rdma err_chunk_received = "$3"; }

# between FRONT BACK FRONT_BYTES BACK_BYTES: sets the versions and thresholds before and behind the gateway. The gateway
# itself permits the maximum, so the given thresholds are the limits
between() {
	local what="version $1, $3 bytes | version $2, $4 bytes"

	# shellcheck disable=SC2034
	A_SERVICE="connect_version = $1; inline_threshold_bytes = $3;"
	# shellcheck disable=SC2034
	B_SERVICE="inline_threshold_bytes = $4; max_message_bytes = 3211264;"
	start_gate "connect_version = $2; inline_threshold_bytes = 262144;"
	start small "$BIN/nfs_client" "$V3" hold "small-$1-$3-$4" 8 1
	check "$what: the first proxy shows so" wait_for 20 shows a upstream "$1" "$3"
	check "$what: the last one, too" wait_for 20 shows b client "$2" "$4"
	stop small KILL
	check "$what: NFSv3, sizes up to the smaller ones" nfs_client "$V3" sizes f 700 4300 150
	check "$what: NFSv3, sizes up to 320 KiB" nfs_client "$V3" sizes f 20000 320000 25000
	check "$what: NFSv4.0: a bit of everything" nfs_client "$V4" mixed "four-$1-$3-$4" 2m 4
	check "$what: none was refused" refused b 0 0
	check "$what: what the server answers SYSTEM_ERR" rpc_peer "$FRONT_PORT" 0 0 0 large over 2
	check "$what: comes as the Reply that it is" refused a 0 0
	check "$what: a Call that the last proxy finds too long is answered SYSTEM_ERR" \
		rpc_peer "$FRONT_PORT" 0 0 0 large over 4
	check "$what: it was refused by ERR_CHUNK" refused b 1 0
	check "$what: the gateway carried that over" refused g 1 1
	check "$what: so it came to the first proxy" refused a 0 1
	stop_gate
}

# Each threshold on either side.
between 1 2 1024 262144
between 1 2 65536 4096
between 2 1 262144 1024
between 2 1 4096 65536
finish

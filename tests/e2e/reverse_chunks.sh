#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# In version two reverse Calls and their Replies can be longer than a Send if both proxies allow it.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

# Receive sizes do not change, so that long messages stay long.
STILL="inline_threshold_bytes = 4096; receive_max_bytes = 4096;"
SHORT="4 800 3900"
LONG="4100 9000 16200 100000 1048000" # a server's are refused past 1 MiB, whatever carries them

# chain A B: restarts the chain; A and B set reverse_chunks of each proxy
chain() {
	stop_proxy a
	stop_proxy b
	A_SERVICE="$STILL connect_version = 2; reverse_chunks = $1;" B_SERVICE="$STILL reverse_chunks = $2;"
	start_chain
}

# reverse passes|fails BYTES...: makes reverse Calls of these sizes
reverse() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 reverse "$@"; }

chain true true
# shellcheck disable=SC2086
check "reverse Calls of every size pass where both proxies have chunks for them" reverse passes $SHORT $LONG
check "the long ones went by chunk, and so did their Replies" \
	eval 'counter_is a rdma read_chunk_bytes_pulled -gt 1000000 && counter_is a rdma reply_chunk_bytes_pushed -gt 1000000'
check "none was refused" eval 'counter_is a rdma reverse_refused -eq 0 && counter_is b rdma reverse_refused -eq 0'

for one in "true false" "false true"; do
	# shellcheck disable=SC2086
	chain $one
	# shellcheck disable=SC2086
	check "with $one the short ones pass" reverse passes $SHORT
	check "with $one the long ones get SYSTEM_ERR" reverse fails 4100 9000
	check "with $one they are counted" counter_is b rdma reverse_refused -eq 400
done

# A third proxy in the middle receives and sends them by chunk.
{
	echo "control = \"$T/g.sock\"; workers = 2; services = ("
	service gate "iwarp://127.0.0.1:20050" "iwarp://127.0.0.1:$FABRIC_PORT" \
		"$STILL connect_version = 2; reverse_chunks = true;"
	echo ");"
} >g.conf
start g "$PROXY" -c g.conf
serves g 20050 || bail "the gateway does not start"
GATE_PORT=20050
chain true true
# shellcheck disable=SC2086
check "from RDMA to RDMA every size passes too" reverse passes $SHORT $LONG
check "by chunk there" counter_is g rdma read_chunk_bytes_pulled -gt 1000000
stop_proxy g
finish

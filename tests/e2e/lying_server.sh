#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An iWARP server returns chunks that it has not written. Its clients get SYSTEM_ERR, and never a byte of an earlier
# Reply of another service in that memory. Both services continue, and their data are correct.
BACK_PORT=3049 WORKERS=1
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

LYING_PORT=12101 SERVER_PORT=20101 CALLS=120
# shellcheck disable=SC2034
A_MORE=lying_service
lying_service() { service lying "tcp://127.0.0.1:$LYING_PORT" "iwarp://127.0.0.1:$SERVER_PORT" 'ddp = "nfs";'; }

# of SERVICE COUNTER: prints a counter of proxy a
of() { ctl a -j stats | jq --arg name "$1" ".services[\$name].rdma.$2"; }

start_chain
check "no lie is believed, and all that is true comes as it was sent" \
	rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 "$SERVER_PORT" lying "$LYING_PORT" $CALLS
note "$(tail -n 1 "$T/check.out")"
check "each lie is counted at the service of its server" is "$(of lying bad_replies)" $CALLS
check "none at the other" is "$(of nfs bad_replies)" 0
check "nothing of them counts as received by RDMA Write but what is true" is "$(of lying write_chunk_bytes_taken)" \
	$((CALLS / 2 * 262144))
check "the log says of whom" grep -q "\[lying#.*claims bytes of a chunk that the peer has not written" "$T/a.log"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server executes REMOVE, RENAME or CREATE and its connection is cut before the reply: the
# retransmission on a new connection gets the first answer, from the server's duplicate request cache.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain

try() { rpc_peer "$FRONT_PORT" "$BACK_PORT" "$FRONT_MNT" "$NFS_PORT" replay "$@"; }

touch export/victim export/before
check "REMOVE, retransmitted from the same port" try remove
check "the file is gone" [ ! -e export/victim ]
check "RENAME, retransmitted from the same port" try rename
check "the file has its new name" [ -e export/after ]
check "exclusive CREATE, retransmitted from the same port" try exclusive
check "guarded CREATE, retransmitted from the same port" try guarded
if [ "$E2E_CHAIN" = proxies ]; then
	rm -f export/guarded export/exclusive
	touch export/victim
	mv export/after export/before
	check "REMOVE, retransmitted from another port" try remove other
	check "RENAME, retransmitted from another port" try rename other
fi
finish

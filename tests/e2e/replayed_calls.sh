#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server executes REMOVE, RENAME or CREATE, and its clients lose their connections before they have read the Reply.
# The retransmissions on new connections get the first Reply, from the server's duplicate request cache. 1, 2, 5 and 20
# clients, through one proxy and through two, over TCP and over RDMA.
BACK_PORT=3049 ONE_PORT=12050 OWN_PORT=12051 OWN_FABRIC=20051
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
# more_services: prints services for one proxy alone, and for one whose server sees the addresses of its clients
more_services() {
	service one "tcp://127.0.0.1:$ONE_PORT" "tcp://127.0.0.1:$BACK_PORT"
	echo ,
	service own "tcp://127.0.0.1:$OWN_PORT" "tcp://127.0.0.1:$BACK_PORT" 'source = "client";'
	echo ,
	service own-rdma "iwarp://127.0.0.1:$OWN_FABRIC" "tcp://127.0.0.1:$BACK_PORT" 'source = "client";'
}
A_MORE=more_services

# try PORT OPERATION tcp|rdma CLIENTS: tests every way to disconnect and reconnect, with the program's own server
try() { rpc_peer "$1" "$BACK_PORT" 0 0 replay "${@:2}"; }
# try_real PORT OPERATION tcp|rdma CLIENTS: the same with NFS-Ganesha
try_real() { rpc_peer "$1" "$BACK_PORT" "$FRONT_MNT" "$NFS_PORT" replay "${@:2}" "$T/export"; }

# each TRY WHAT OPERATION CLIENTS: through one proxy, through two, and over RDMA
each() {
	check "$2, through one proxy" "$1" $ONE_PORT "$3" tcp "$4"
	check "$2, through two proxies" "$1" "$FRONT_PORT" "$3" tcp "$4"
	check "$2, over RDMA" "$1" "$FABRIC_PORT" "$3" rdma "$4"
	check "$2, from its own address" "$1" "$OWN_PORT" "$3" tcp-own "$4"
	check "$2, over RDMA, from its own address" "$1" "$OWN_FABRIC" "$3" rdma-own "$4"
}

if can_open_by_handle; then
	start_ganesha
	start_chain
	for n in 1 2 5 20; do each try_real "REMOVE of each of $n, NFS-Ganesha" remove $n; done
	for operation in rename exclusive guarded; do each try_real "$operation of each of 5, NFS-Ganesha" $operation 5; done
else
	start_chain
fi
for n in 1 2 5 20; do each try "REMOVE of each of $n" remove $n; done
finish

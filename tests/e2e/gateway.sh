#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A third proxy in the middle, from RDMA to RDMA; and MOUNT over TCP all the way.
GATE_PORT=20050
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha

{
	echo "control = \"$T/g.sock\"; workers = 2; services = ("
	service gate "iwarp://127.0.0.1:$GATE_PORT" "iwarp://127.0.0.1:$FABRIC_PORT"
	echo ","
	service mount "tcp://127.0.0.1:12050" "tcp://127.0.0.1:$MNT_PORT"
	echo ");"
} >g.conf
start g "$PROXY" -c g.conf
serves g $GATE_PORT 12050 || bail "the gateway does not start"
start_chain
V3="nfs://127.0.0.1/export?version=3&nfsport=$FRONT_PORT&mountport=12050"

check "NFSv3 writes 30 MB" nfs_client "$V3" write three 30m 3
check "NFSv3 reads them back bit for bit" nfs_client "$V3" verify three 30m 3
check "NFSv4.0: a bit of everything" nfs_client "$V4" mixed four 8m 4
check "NFSv3: every size around the inline threshold" nfs_client "$V3" sizes f 3900 4100 1
check "the gateway carried it from RDMA to RDMA" counter_is g rdma calls_received -gt 100
check "MOUNT went over TCP" counter_is g tcp calls_sent -gt 0
stop_proxy g
finish

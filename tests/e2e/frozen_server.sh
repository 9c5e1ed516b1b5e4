#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server hangs, during Calls and while clients connect. They wait for it and for nothing else, and continue when it
# continues.
OTHER_PORT=13051
OTHER_BACK=3051
# The server hangs for less time than a peer may, even on a slow machine.
A_SERVICE='stall_timeout_s = 3600;' B_SERVICE=$A_SERVICE
A_MORE=other_service
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

other_service() { service other "tcp://127.0.0.1:$OTHER_PORT" "tcp://127.0.0.1:$OTHER_BACK"; }
waits_long() { ctl "$1" -j connections | jq -e '[.connections[].oldest_call_age_s // 0] | max >= 2' >/dev/null; }
# An RDMA setup has 10 s. On a machine where this passes meanwhile, the client connects again.
late_write() {
	until nfs_client "$V3" write late-rdma 1m 3; do
		wait_for 10 logged a 'set-up timed out' || return
		: >a.log
	done
}

start_ganesha
start other "$BIN/held_call" serve 127.0.0.1 $OTHER_BACK
start_chain

for version in 3 4; do
	url=V$version
	start writer nfs_client "${!url}" write file-$version 300m $version 128k
	wait_for_growth 30 export/file-$version 20000000
	kill -STOP "${pid_of[ganesha]}"
	check "NFSv$version: the server stands still while a client writes" alive writer
	for side in a b; do check "Calls wait at proxy $side" wait_for 30 waits_long $side; done
	check "a neighbour's service is served" asks "beside-$version" $OTHER_PORT
	before=$(came b)
	start late nfs_client "${!url}" write late-$version 1m $version
	check "a client comes meanwhile" wait_for 20 has_come b $((before + 1))
	check "and waits" alive late
	check "no connection is closed" [ "$(for side in a b; do
		ctl $side -j stats | jq '[.services[].closes.server, .services[].closes.proxy | add] | add'
	done | sort -u)" = 0 ]
	kill -CONT "${pid_of[ganesha]}"
	ends_well late "a client that connected meanwhile finishes when the server continues"
	ends_well writer "and so does a client that was writing"
	check "what it wrote is there" nfs_client "${!url}" verify file-$version 300m $version
done

# An RDMA server that does not answer the connection request.
kill -STOP "${pid_of[b]}"
start late late_write
reaching() { [ "$(ctl a -j connections | jq '[.connections[] | select(.state == "connecting")] | length')" -ge 1 ]; }
check "a client is connected to while its RDMA server stands still" wait_for 20 reaching
check "a neighbour's service is served then, too" asks beside-rdma $OTHER_PORT
check "and the client waits" alive late
kill -CONT "${pid_of[b]}"
ends_well late "until the server continues"
check "what it wrote is there" nfs_client "$V3" verify late-rdma 1m 3
finish

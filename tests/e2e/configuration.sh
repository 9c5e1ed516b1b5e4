#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two proxies that configure their connections by the draft's protocol (config_protocol) forward NFS as without it. So
# does a proxy whose server rejects the protocol.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
start_ganesha

# The same keys for both proxies, but the clients' side receives shorter Sends than the other side could send.
A_SERVICE='config_protocol = true; inline_threshold_bytes = 2048;'
B_SERVICE='config_protocol = true; inline_threshold_bytes = 8192;'
start_chain
for version in 3 4; do
	url=V$version
	check "NFSv$version: around the one end's size" nfs_client "${!url}" sizes f 1800 2100 4
	check "NFSv$version: around the other's" nfs_client "${!url}" sizes f 7900 8300 4
	check "NFSv$version: around 256 KiB" nfs_client "${!url}" sizes f 262104 262184 8
	check "NFSv$version: the largest WRITE and READ, 1 MiB" nfs_client "${!url}" sizes f 1048572 1048576 1
done
asked=$(counter a rdma conf_asked)
check "each connection was asked for" [ "$asked" -ge 4 ]
check "and answered" counter_is a rdma conf_answered = "$asked"
check "by the other proxy" counter_is b rdma conf_served = "$asked"
check "no Call could not be sent" counter_is a rdma calls_not_sendable = 0
check "no Reply found no room" counter_is b rdma replies_too_big = 0
stop_proxy a
stop_proxy b

# A server without the protocol rejects it, which costs one round trip.
B_SERVICE=''
start_chain
for version in 3 4; do
	url=V$version
	check "NFSv$version, the server refuses: around the size" nfs_client "${!url}" sizes f 1800 2100 4
	check "NFSv$version, the server refuses: 1 MiB" nfs_client "${!url}" sizes f 1048572 1048576 1
done
asked=$(counter a rdma conf_asked)
check "each connection asked once and was rejected" [ "$asked" -ge 4 ]
check "and was refused" counter_is a rdma conf_refused = "$asked"
check "by the other proxy, not by the server behind" counter_is b rdma prog_unavail = "$asked"
stop_proxy a
stop_proxy b
finish

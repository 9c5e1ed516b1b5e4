#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The fabric over IPv6, and rdma:// on a host without an RDMA device.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha

for FABRIC in 'iwarp://[::1]' rdma://127.0.0.1 rdma://localhost; do
	start_chain
	check "$FABRIC: NFSv3" nfs_client "$V3" mixed three 4m 3
	check "$FABRIC: NFSv4.0" nfs_client "$V4" mixed four 4m 4
	check "$FABRIC: both went over iWARP" counter_is a iwarp fpdus_sent -gt 100
	stop_proxy a
	stop_proxy b
done
finish

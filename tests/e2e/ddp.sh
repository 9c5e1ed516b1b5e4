#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With ddp = "nfs" the data of READ and WRITE moves in separate chunks and arrives unchanged, at every size.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
A_SERVICE='ddp = "nfs";'
start_chain

for version in 3 4; do
	url=V$version
	check "NFSv$version: every size from 7,900 to 8,300 bytes" nfs_client "${!url}" sizes f 7900 8300 1
	check "NFSv$version: every size around 64 KiB" nfs_client "${!url}" sizes f 65400 65700 1
	check "NFSv$version: the largest WRITE and READ, 1 MiB" nfs_client "${!url}" sizes f 1048572 1048576 1
done
check "READ data came in write chunks" counter_is a rdma write_chunk_bytes_taken -gt 1000000
check "the other end wrote as much" counter_is b rdma write_chunk_bytes_pushed -eq \
	"$(counter a rdma write_chunk_bytes_taken)"
check "WRITE data went in read chunks" counter_is b rdma read_chunk_bytes_pulled -gt 1000000
check "each payload was found" counter_is b rdma payloads_not_found -eq 0
check "no Reply was bad" counter_is a rdma bad_replies -eq 0
finish

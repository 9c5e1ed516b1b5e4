#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Payloads of 0 and 1 bytes, and of every size around the inline threshold and around 64 KiB, arrive unchanged.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain

for version in 3 4; do
	url=V$version
	check "NFSv$version: 0 to 64 bytes" nfs_client "${!url}" sizes f 0 64 1
	check "NFSv$version: every size from 7,900 to 8,300 bytes" nfs_client "${!url}" sizes f 7900 8300 1
	check "NFSv$version: around half the threshold" nfs_client "${!url}" sizes f 3996 4116 1
	check "NFSv$version: around twice the threshold" nfs_client "${!url}" sizes f 16256 16456 1
	check "NFSv$version: every size around 64 KiB" nfs_client "${!url}" sizes f 65400 65700 1
	check "NFSv$version: around 256 KiB" nfs_client "${!url}" sizes f 262104 262184 1
	check "NFSv$version: the largest WRITE and READ, 1 MiB" nfs_client "${!url}" sizes f 1048572 1048576 1
done
finish

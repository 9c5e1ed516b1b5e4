#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NFS works between the proxies and data arrive unchanged, for each value of `peer` of the first proxy.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
start_chain

told() { grep -q "open to .*, peer profile $1" "$T/a.log"; }

check "NFSv3 without a profile named" nfs_client "$V3" sizes f 0 64 8
check "the other proxy shows no quirk, of which the log says nothing" not told ""
stop_proxy b
for peer in linux ganesha chimera solaris strict; do
	stop_proxy a
	A_SERVICE="peer = \"$peer\";"
	start_proxy b
	start_proxy a
	for version in 3 4; do
		url=V$version
		check "$peer, NFSv$version: 0 to 64 bytes" nfs_client "${!url}" sizes f 0 64 1
		if [ $version = 3 ]; then
			case $peer in
			ganesha | chimera) check "$peer: all of that went apart" counter_is b rdma read_chunk_bytes_pulled -eq 2080 ;;
			*) check "$peer: all of that went inline" counter_is b rdma read_chunk_bytes_pulled -eq 0 ;;
			esac
		fi
		check "$peer, NFSv$version: sizes around 1 KiB" nfs_client "${!url}" sizes f 700 1100 7
		check "$peer, NFSv$version: sizes around 8 KiB" nfs_client "${!url}" sizes f 7900 8300 7
		check "$peer, NFSv$version: the largest WRITE and READ, 1 MiB" nfs_client "${!url}" sizes f 1048572 1048576 1
	done
	check "$peer: the log says so" wait_for 10 told "$peer: as configured"
	check "$peer: no Reply was bad" counter_is a rdma bad_replies -eq 0
	check "$peer: no Call was refused" counter_is b rdma err_chunk_sent -eq 0
	case $peer in
	ganesha | chimera)
		check "$peer: long Calls have their data in read chunks" counter_is a rdma sends_nomsg -eq 0
		check "$peer: READs have theirs in write chunks" counter_is a rdma write_chunk_bytes_taken -gt 2000000
		check "$peer: every Call could be sent" counter_is a rdma calls_not_sendable -eq 0
		;;
	solaris)
		check "$peer: the other proxy got no private data" counter_is b rdma private_data_defaults -gt 0
		;;
	*)
		check "$peer: long Calls go as a whole" counter_is a rdma write_chunk_bytes_taken -eq 0
		;;
	esac
	stop_proxy b
done
finish

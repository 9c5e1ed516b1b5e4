#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# 20 concurrent clients, with both versions, each using every kind of operation.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain

for i in {1..10}; do
	start "three-$i" nfs_client "$V3" mixed "dir-three-$i" 8m "$i"
	start "four-$i" nfs_client "$V4" mixed "dir-four-$i" 8m "$i"
done
for i in {1..10}; do
	for version in three four; do
		wait "${pid_of[$version-$i]}"
		status=$?
		unset "pid_of[$version-$i]"
		check "client $version-$i has done its work" [ $status = 0 ]
		[ $status = 0 ] || note "$(tail -n 3 "$version-$i.log")"
	done
done
if [ "$E2E_CHAIN" = proxies ]; then
	check "no connection is left at proxy a" wait_for 10 no_connections a
	check "no connection is left at proxy b" wait_for 10 no_connections b
fi
finish

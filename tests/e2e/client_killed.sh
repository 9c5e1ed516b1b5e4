#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clients are killed in mid-transfer, repeatedly. Other clients continue, and the proxy keeps nothing of the killed
# ones.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain


start other "$BIN/nfs_client" "$V3" hold other 64m 99
check "another client is at work" wait_for 30 grep -q running other.log
killed=0
for i in {1..10}; do
	url=V$((3 + i % 2))
	start victim "$BIN/nfs_client" "${!url}" write "file-$i" 500m "$i"
	wait_for_growth 30 "export/file-$i" $((i * 3000000)) && alive victim && killed=$((killed + 1))
	stop victim KILL
	rm -f "export/file-$i"
done
check "10 clients are killed while they write" [ $killed = 10 ]
nfs_client "$V3" write big 300m 5 >/dev/null
killed=0
for i in {1..10}; do
	url=V$((3 + i % 2))
	start victim "$BIN/nfs_client" "${!url}" verify big 300m 5
	wait_for 30 has_cpu victim && alive victim && killed=$((killed + 1))
	stop victim KILL
done
check "10 clients are killed while they read" [ $killed = 10 ]
check "the other client is still at work" alive other
stop other KILL
check "a new client is served" nfs_client "$V3" mixed new 8m 7
if [ "$E2E_CHAIN" = proxies ]; then
	check "no connection is left at proxy a" wait_for 10 no_connections a
	check "no connection is left at proxy b" wait_for 10 no_connections b
fi
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The payload of 1 MiB READs and WRITEs is not copied in user space, except what shares a read with a header.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
not_sanitized

ops=100 # WRITEs, and as many READs, of 1 MiB each

# with_count SIDE COMMAND...
with_count() {
	local side=$1

	shift
	exec env LD_PRELOAD="$BIN/copycount.so" COPYCOUNT_FILE="$T/$side.copies" "$@"
}

copied() { read -r _ bytes <"$T/$1.copies"; echo "$bytes"; }

start_ganesha
for version in 3 4; do
	for side in b a; do
		PROXY_WRAP="with_count $side" start_proxy $side
	done
	V3="nfs://127.0.0.1/export?version=3&nfsport=$FRONT_PORT&mountport=$FRONT_MNT"
	V4="nfs://127.0.0.1/export?version=4&nfsport=$FRONT_PORT"
	url=V$version
	check "NFSv$version: $ops WRITEs of 1 MiB" nfs_client "${!url}" write file ${ops}m 1 1m 1
	check "NFSv$version: $ops READs of 1 MiB" nfs_client "${!url}" verify file ${ops}m 1 1m 1
	stop_proxy a
	stop_proxy b
	for side in a b; do
		# A receive of 256 KiB can hold a header and as much payload.
		check "NFSv$version: proxy $side copies less than a quarter of the payload" \
			[ "$(copied $side)" -lt $((ops * 2 * 1048576 / 4)) ]
		note "proxy $side copied $(copied $side) bytes of $((ops * 2 * 1048576)) in pieces over 16 KiB"
	done
done
finish

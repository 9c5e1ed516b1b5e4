#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The payload of 1 MiB READs and WRITEs is not copied in user space, except the part that is in one read with a header.
# The payload of 200,000 bytes in one Send is copied once.
# shellcheck disable=SC2034
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

# Inline data are copied once, out of their Receive.
inline_copies() {
	local side

	A_SERVICE="inline_threshold_bytes = 262144;" B_SERVICE=$A_SERVICE
	for side in b a; do PROXY_WRAP="with_count $side" start_proxy $side; done
	check "$ops WRITEs of 200,000 bytes" nfs_client "$V3" write file $((ops * 200000)) 1 200000 1
	check "$ops READs of 200,000 bytes" nfs_client "$V3" verify file $((ops * 200000)) 1 200000 1
	check "all of that as Sends" eval "counter_is a rdma sends_nomsg = 0 && counter_is b rdma sends_nomsg = 0 &&
		counter_is b rdma read_chunk_bytes_pulled = 0 && counter_is b rdma reply_chunk_bytes_pushed = 0"
	stop_proxy a
	stop_proxy b
	for side in a b; do
		# A READ's data are received by one of them, a WRITE's by the other; a part comes by TCP with a header.
		check "proxy $side copies it once where it is received" [ "$(copied $side)" -lt $((ops * 200000 * 3 / 2)) ]
		note "proxy $side copied $(copied $side) bytes in pieces over 16 KiB, where $((ops * 200000)) were received inline"
	done
}
[ -n "${E2E_VERSION:-}${E2E_COMPAT:-}" ] || inline_copies
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# READ and WRITE of the largest default size of NFS-Ganesha, and one that exceeds the proxies' limit.
WORKERS=1
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain
: >$T/export/large
chmod 666 $T/export/large

large() { rpc_peer "$FRONT_PORT" 0 0 0 large "$@"; }

mapped_within() { [ "$(ctl "$1" -j status | jq -r '.memory.mapped_bytes')" -le "$2" ]; }

# idle SIDE: prints claimed memory and memory in buffers
idle() { ctl "$1" -j status | jq -r '.memory | "\(.claimed_bytes) \(.in_use_bytes)"'; }
is_idle() { [ "$(idle "$1")" = "${idle_of[$1]}" ]; }

declare -A idle_of
[ "$E2E_CHAIN" = direct ] || idle_of=([a]=$(idle a) [b]=$(idle b))

check "1 MiB, as a client that takes what it knows" large carry 1
for size in 2 4 16 60; do
	check "WRITE and READ of $size MiB, and small Calls around them" large carry $size
done
if [ "$E2E_CHAIN" = proxies ]; then
	check "80 MiB get an error, and the connection's other Calls do not notice" large over 80
	check "then 60 MiB as before" large carry 60
	for side in a b; do
		check "proxy $side holds no more memory than before" wait_for 10 is_idle $side
		check "proxy $side has given most of it back" mapped_within $side $((80 << 20))
	done
fi
finish

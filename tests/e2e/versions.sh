#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two proxies, the first of which tries version two: with a second one that supports it, and with one that does not. The
# latter costs one message, and is remembered. Clients are not affected.
# shellcheck disable=SC2034
A_SERVICE='connect_version = 2;'
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
cp "$PROXY" file

# both_see VERSION: both proxies show this version for the connection between them
both_see() {
	ctl a -j connections | jq -e --argjson v "$1" '[.connections[].upstream.rpcrdma_version] | index($v)' &&
		ctl b -j connections | jq -e --argjson v "$1" '[.connections[].client.rpcrdma_version] | index($v)'
}

# copied VERSION NAME: copies a file to the server and back unchanged
copied() {
	local url=${V3/\?//$2?}

	[ "$1" = 3 ] || url=${V4/\?//$2?}
	if [ "$1" = 3 ]; then nfs-cp file "$url"; else nfs_client "$V4" put file "$2"; fi &&
		cmp file "export/$2" && nfs-cp "$url" "back-$2" && cmp file "back-$2"
}

# carried WHAT: copies files with both versions of NFS, and prints errors
carried() {
	local version replies calls

	# A client that was killed has left some without.
	replies=$(counter a rdma replies_received) calls=$(counter b rdma calls_received)
	replies=$(($(counter a rdma calls_sent) - replies)) calls=$(($(counter a rdma calls_sent) - calls))
	for version in 3 4; do
		check "$1: NFSv$version copies a file there and back" copied $version "$version-${1// /-}"
	done
	check "$1: NFSv3, every size around the least receive size" nfs_client "$V3" sizes f 3800 4200 20
	check "$1: no Reply was bad" counter_is a rdma bad_replies = 0
	check "$1: every Call has its Reply" counter_is a rdma replies_received = $(($(counter a rdma calls_sent) - replies))
	check "$1: each came once" counter_is b rdma calls_received = $(($(counter a rdma calls_sent) - calls))
}

holds() { rm -f holder.log; start holder "$BIN/nfs_client" "$V3" hold held 1m 1 && wait_for 30 grep -q running holder.log; }

start_chain
check "a client is served" holds
check "both proxies show version two" both_see 2
check "the first one's log has it" wait_for 10 grep -q "open to .*, version 2" a.log
stop holder KILL
wait_for 10 no_connections b
carried "both speak two"
for side in a b; do
	check "proxy $side sent messages of version two" counter_is $side rdma sends_version_two -gt 100
	check "proxy $side sent none of version one" counter_is $side rdma sends_version_one = 0
done
stop_proxy a
stop_proxy b

# A release that supports only version one answers like this one with that key.
# shellcheck disable=SC2034
B_SERVICE='listen_version = 1;'
start_chain
check "a client is served by a server of version one" holds
check "both proxies show version one" both_see 1
check "the first one's log has the reason" wait_for 10 grep -q "server rejected version two: using version one" a.log
check "the second one's, which version was asked for" wait_for 10 grep -q "version 2 is not supported" b.log
stop holder KILL
wait_for 10 no_connections b
carried "the server speaks one only"
# A service remembers the version, separately for NFS and MOUNT.
check "version two was tried once for each service" counter_is a rdma sends_version_two = 2
check "each was refused by a message" counter_is b rdma err_vers_sent = 2
check "all else went in version one" counter_is a rdma sends_version_one -ge "$(counter a rdma calls_sent)"
check "no connection was lost over it" counter_is a rdma connect_failures = 0
stop_proxy a
stop_proxy b

# shellcheck disable=SC2034
A_SERVICE='' B_SERVICE=''
start_chain
check "a proxy tries only version one by default" nfs_client "$V3" mixed dir 1m 1
check "so nothing of version two was sent" counter_is a rdma sends_version_two = 0
finish

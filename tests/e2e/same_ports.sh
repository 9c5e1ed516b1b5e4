#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# All clients are reset together, and reconnect. The second proxy, and through it the server, sees each client from the
# same port as before, so both can distinguish them.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_chain

# ports SIDE: prints the address of each client of the proxy, and the local address of its upstream connection
ports() {
	ctl "$1" -j connections |
		jq -r '.connections[] | select(.service == "nfs") | "\(.client_address) \(.upstream.local)"' | sort
}
is_number() { [ "$(ports "$1" | wc -l)" = "$2" ]; }
same_as_before() {
	ports "$1" >"$1.now"
	diff "$1.before" "$1.now"
}

# ups N: all clients have been served N times
ups() { [ "$(grep -cx up said)" = "$1" ]; }

mkfifo tell
for n in 1 2 5 20; do
	rpc_peer "$FRONT_PORT" "$BACK_PORT" "$FRONT_MNT" "$NFS_PORT" returning $n <tell >said 2>&1 &
	peer=$!
	exec {in}>tell
	check "$n clients are served" wait_for 60 ups 1
	for side in a b; do
		wait_for 10 is_number $side $n
		ports $side >$side.before
		check "proxy $side distinguishes them" \
			[ "$(awk '{ print $1 }' $side.before | sort -u | wc -l)" = $n ]
	done
	times=1
	for order in same reversed same; do
		echo $order >&"$in"
		times=$((times + 1))
		check "they come back, order $order" wait_for 60 ups $times
		for side in a b; do
			wait_for 10 is_number $side $n
			check "each has its ports at proxy $side" wait_for 10 same_as_before $side
		done
	done
	exec {in}>&-
	check "nothing went wrong" wait $peer
	for side in a b; do wait_for 10 no_connections $side; done
done
finish

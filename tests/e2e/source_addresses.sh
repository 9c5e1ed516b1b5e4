#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server that requires reserved ports has 500 clients, which themselves use such ports. One address of the proxy has
# 359 such ports: further connections are counted, and logged once. Two addresses have enough for all, each client has
# its address and port again when it reconnects, and an address that has been removed is skipped. With source = "client"
# each client has its own ports, even after the daemon was killed.
BACK_PORT=3049 CLIENTS=500 RESERVED=359
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
[ "$(id -u)" = 0 ] && can_open_by_handle || skip_all "needs root"

# from KEYS: starts a proxy whose service also has these keys
from() {
	echo "control = \"$T/a.sock\"; workers = 2; services = ("
	service nfs "tcp://127.0.0.1:$FRONT_PORT" "tcp://127.0.0.1:$BACK_PORT" "$1"
	echo ");"
}
begin() {
	from "$1" >a.conf
	start a "$PROXY" -c $T/a.conf
	serves a "$FRONT_PORT" || bail "the proxy does not start"
}

# prints the address of each client, and the source address of its upstream connection
places() {
	ctl a -j connections | jq -r '.connections[] | "\(.client_address) \(.upstream.local)"' | sort
}
# seen ADDRESS: prints how many connections come from its reserved ports
seen() { places | awk -v from="$1" '{ split($2, at, ":") } at[1] == from && at[2] < 1024' | sort -u -k 2 | wc -l; }
are_open() { [ "$(places | wc -l)" = "$CLIENTS" ]; }
same_places() { places >now && diff before now >/dev/null; }
shortfalls() { counter a tcp source_port_shortfalls; }
warned() { grep -c 'come from unprivileged ports: all reserved ports are in use' a.log; }

# come NAME, again N ORDER, go: start the clients, reconnect them, end them
come() {
	rm -f tell said
	mkfifo tell
	rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 returning $CLIENTS 512 <tell >said 2>&1 &
	peer=$!
	exec {in}>tell
	check "$1: $CLIENTS clients are served" wait_for 60 ups 1
	wait_for 10 are_open
}
ups() { [ "$(grep -cx up said)" = "$1" ]; }
again() {
	echo "$2" >&"$in"
	check "they come back, order $2" wait_for 60 ups "$1"
	wait_for 10 are_open
}
go() {
	exec {in}>&-
	check "nothing went wrong" wait $peer
	wait_for 10 no_connections a
}

begin ''
come "one address"
check "all reserved ports are taken" [ "$(seen 127.0.0.1)" = $RESERVED ]
check "what comes after them is counted" [ "$(shortfalls)" = $((CLIENTS - RESERVED)) ]
go
stop_proxy a
check "and logged once" [ "$(warned)" = 1 ]

two='source_address = [ "127.0.0.2", "127.0.0.3" ];'
check "-t counts the ports of both" "$PROXY" -t -c <(from "$two max_connections = 718;")
check "and warns past them" eval "'$PROXY' -t -c <(from '$two max_connections = 719;') 2>&1 | grep -q 'only the first 718 connections can use a source port below 1024'"
check "-t refuses an address that this host does not have" \
	eval "! '$PROXY' -t -c <(from 'source_address = [ \"192.0.2.30\" ];') 2>said && grep -q 'address 192.0.2.30 is not configured' said"

: >a.log
begin "$two"
come "two addresses"
check "from both in turn" [ "$(seen 127.0.0.2) $(seen 127.0.0.3)" = "$((CLIENTS / 2)) $((CLIENTS / 2))" ]
check "nothing is counted" [ "$(shortfalls)" = 0 ]
places >before
times=1
for order in same reversed; do
	times=$((times + 1))
	again $times $order
	check "each has its address and port" wait_for 10 same_places
done
go
stop_proxy a
check "nothing is logged" [ "$(warned)" = 0 ]

# An address of another family is skipped.
begin 'source_address = [ "127.0.0.2", "::1", "127.0.0.3" ];'
come "one of another family between them"
check "from both in turn" [ "$(seen 127.0.0.2) $(seen 127.0.0.3)" = "$((CLIENTS / 2)) $((CLIENTS / 2))" ]
go
stop_proxy a

# Removes an address that existed at the start, as a cluster does when it moves one.
ip address add 192.0.2.31/32 dev lo
begin 'source_address = [ "192.0.2.31", "127.0.0.3" ];'
ip address del 192.0.2.31/32 dev lo
come "an address that is gone"
check "the other one serves all" [ "$(seen 127.0.0.3)" = $RESERVED ]
go
stop_proxy a

# With the clients' own addresses the daemon remembers no ports, and loses nothing when it is killed.
own_places() { [ "$(places | awk '$1 == $2' | wc -l)" = "$CLIENTS" ]; }
begin 'source = "client";'
come "the clients' own addresses"
check "each is seen as it is" wait_for 10 own_places
for times in 2 3; do
	# Otherwise the daemon would inherit the pipe to the clients, and they would not see its end.
	[ $times = 2 ] || { stop a KILL; eval "begin 'source = \"client\";' $in>&-"; }
	again $times reversed
	check "each is seen so again" wait_for 10 own_places
done
check "every client got a port" [ "$(counter a closes no_source_port)" = 0 ]
go
finish

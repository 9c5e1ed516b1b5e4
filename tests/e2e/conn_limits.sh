#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clients that take a connection slot and send nothing, and rejected clients that reconnect, keep no other client out.
BACK_PORT=3049
SHARE_PORT=13049
CLOSED_PORT=13050
A_SERVICE="max_connections = 8;"
B_SERVICE="max_connections = 8;"
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_chain

# A third proxy: two connections per address, and a service that rejects all clients.
cat >$T/g.conf <<END
control = "$T/g.sock";
workers = 2;
services = (
$(service share "tcp://127.0.0.1:$SHARE_PORT" "tcp://127.0.0.1:$BACK_PORT" 'max_connections_per_client = 2; source_port = "any";'),
$(service closed "tcp://127.0.0.1:$CLOSED_PORT" "tcp://127.0.0.1:$BACK_PORT" 'allow = [ "10.0.0.0/8" ]; source_port = "any";')
);
END
start g "$PROXY" -c $T/g.conf
serves g $SHARE_PORT $CLOSED_PORT || bail "proxy g does not start"

# service_shows SIDE SERVICE NAME: prints a number of one service
service_shows() { ctl "$1" -j services | jq -r --arg name "$2" ".services[] | select(.name == \$name) | $3"; }
has_descriptors() { [ "$(descriptors "$1")" = "$2" ]; }
# idle SIDE: all connection slots are free
idle() { [ "$(ctl "$1" -j services | jq '[.services[] | .connections + .half_open + .held] | add')" = 0 ]; }
doors() { rpc_peer "$1" $BACK_PORT 0 0 doors "${@:2}"; }
beside_the_crowd() { doors $FRONT_PORT "$@"; }

declare -A before
for side in a b g; do before[$side]=$(descriptors $side); done

check "8 silent connections after their MPA setup keep no other client out at max_connections = 8" \
	beside_the_crowd finished $FABRIC_PORT 8
check "for one of them made room" counter_is b closes made_room = 1
check "nor do 8 silent TCP clients" beside_the_crowd silent $FRONT_PORT 8
check "nor do 8 silent sockets at an RDMA service" beside_the_crowd silent $FABRIC_PORT 8
check "nor 60, which come and go on both workers" beside_the_crowd silent $FABRIC_PORT 60
check "nor 8 finished set-ups of an address that is known" beside_the_crowd unknown $FABRIC_PORT 8
check "an address has no more connections than its share" doors $SHARE_PORT share $SHARE_PORT 3
check "which is counted" [ "$(service_shows g share .refused.per_client)" = 1 ]
check "20 clients that are turned away do not come back at once" doors $SHARE_PORT refused $CLOSED_PORT 20
note "$(tail -n 1 $T/check.out)"
check "nor are they taken" [ "$(service_shows g closed .connections_total)" = 0 ]
for side in a b g; do
	check "no place is left taken at proxy $side" wait_for 20 idle $side
	check "and no descriptor" wait_for 20 has_descriptors $side "${before[$side]}"
done
stop_proxy g
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Clients send a Call, shut down their sending side and disconnect while the server hangs. They keep no other client
# out. A client that only half-closes gets its Replies. Through one proxy and through two.
BACK_PORT=3049
ONE_PORT=13049
SHARE_PORT=13050
SHORT_PORT=13051
A_SERVICE="max_connections = 8; half_closed_timeout_s = 3600;"
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_chain

# A third proxy, from TCP to TCP.
tcp_service() { service "$1" "tcp://127.0.0.1:$2" "tcp://127.0.0.1:$BACK_PORT" "source_port = \"any\"; $3"; }
cat >$T/g.conf <<END
control = "$T/g.sock";
workers = 2;
services = (
$(tcp_service one $ONE_PORT 'max_connections = 8; half_closed_timeout_s = 3600;'),
$(tcp_service share $SHARE_PORT 'max_connections_per_client = 3; half_closed_timeout_s = 3600;'),
$(tcp_service short $SHORT_PORT 'half_closed_timeout_s = 2;')
);
END
start g "$PROXY" -c $T/g.conf
serves g $ONE_PORT $SHARE_PORT $SHORT_PORT || bail "proxy g does not start"

half_closed() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 half-closed "$@"; }
# ended SERVICE REASON COUNT: COUNT connections of a service of proxy g have closed for that reason
ended() { ctl g -j stats | jq -e ".services.$1.closes | [.[] | .$2? // 0] | add == $3"; }
idle() { [ "$(ctl "$1" -j services | jq '[.services[] | .connections + .half_open + .held] | add')" = 0 ]; }

check "one proxy: 8 clients that are gone do not keep another one out of max_connections = 8" half_closed gone $ONE_PORT 8
note "$(tail -n 1 $T/check.out)"
check "one of them made room" wait_for 10 ended one half_closed 1
check "two proxies: so it is" half_closed gone "$FRONT_PORT" 8
note "$(tail -n 1 $T/check.out)"
check "one of them made room" wait_for 10 counter_is a closes half_closed = 1
check "nor do 3 of one address, which may have 3" half_closed gone $SHARE_PORT 3
check "one of them made room" wait_for 10 ended share half_closed 1
check "the log says so" grep -q 'closed: half-closed by its client, evicted for a new client' $T/g.log
for port in $ONE_PORT "$FRONT_PORT"; do
	check "port $port: 16 READs and a half-close give 16 Replies of a server that answers late" half_closed reads "$port"
done
check "half_closed_timeout_s ends one; the client that comes back is known" half_closed back $SHORT_PORT
check "which is counted" wait_for 10 ended short half_closed_timeout 1
check "and said" grep -q 'closed: half-closed by its client, and not answered in time' $T/g.log
for side in a b g; do
	check "no place is left taken at proxy $side" wait_for 20 idle $side
done
stop_proxy g
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server closes its connections because of a message of its only client. This is this client's failure: the server
# stays up, for /readyz and for the next client, through one proxy and two. A server that closes for all clients is
# detected. The same holds for MOUNT servers, for each form of `mount`.
BACK_PORT=3049
BAD_PORT=3050
HTTP_PORT=9180
ONE_PORT=13049
TWO_PORT=13050
CLOSED_PORT=13051
PAIR_PORT=13052
MOUNT_PORT=13053
RPCBIND_PORT=13054
CONNECT_PORT=13055
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
command -v curl >/dev/null || skip_all "curl is not installed"
start_chain

back=tcp://127.0.0.1:$BACK_PORT bad=tcp://127.0.0.1:$BAD_PORT good=tcp://127.0.0.1:3051
# to NAME PORT CONNECT [KEYS]: prints a service
to() { echo "{ name = \"$1\"; listen = \"tcp://127.0.0.1:$2\"; connect = $3; require_privileged_port = false; source_port = \"any\"; ${4:-} }"; }
# start_g SERVICE...: starts a proxy g with these services
start_g() {
	printf 'control = "%s"; workers = 2; http_listen = "127.0.0.1:%s"; services = (\n%s\n);\n' \
		$T/g.sock $HTTP_PORT "$(IFS=,; echo "$*")" >$T/g.conf
	start g "$PROXY" -c $T/g.conf
	wait_for 20 ctl g status || bail "proxy g does not start"
}
one_client() { rpc_peer 0 $BACK_PORT 0 0 one-client "$@"; }
# server_is SIDE SERVICE N FILTER: FILTER holds for its server number N, or with "mount" for its first MOUNT server
server_is() {
	local which=".targets[$3]"

	[ "$3" != mount ] || which=".mount_targets[0]"
	ctl "$1" -j services | jq -e ".services[] | select(.name == \"$2\")$which | $4"
}
is_ready() { [ "$(with_limit 20 curl -s -o $T/page -w '%{http_code}' http://127.0.0.1:$HTTP_PORT/readyz)" = "$1" ]; }
says_down() { grep -q 'does not answer\|cannot be used' "$T/$1.log"; }

start_g "$(to one $ONE_PORT "\"$back\"")"
check "one proxy: a server that closes for one client's record of 2 MiB is asked by the proxy itself" one_client $ONE_PORT
note "$(tail -n 1 $T/check.out)"
check "and is up" server_is g one 0 '.state == "ok" and .failures == 0 and .tried_last_s == null'
check "ready" is_ready 200
check "by two addresses of its host it is one client" one_client $ONE_PORT two
check "the server is up" server_is g one 0 '.state == "ok" and .failures == 0'
check "ready" is_ready 200
check "the log does not say otherwise" not says_down g
stop_proxy g

start lasting "$BIN/rpc_peer" 0 $BACK_PORT 0 0 one-client "$FRONT_PORT" stay
is_asked() { wait_for 60 eval '! alive lasting || grep -q "^closed" $T/lasting.log' && alive lasting; }
check "two proxies: so it is" is_asked
for side in a b; do
	check "at proxy $side it is up" server_is $side nfs 0 '.state != "down" and .failures == 0 and .tried_last_s == null'
	check "and its log does not say otherwise" not says_down $side
done
stop lasting KILL

start standby "$BIN/held_call" serve 127.0.0.1 3051
serves standby 3051 || bail "no standby"
start_g "$(to two $TWO_PORT "[ \"$back\", \"$good\" ]")"
check "the next client does not go to the standby" one_client $TWO_PORT good
check "which no client has tried" server_is g two 1 '.attempts == 0'
stop_proxy g

# The server closes at every client's first Call, and at a NULL of the proxy; or at all Calls except NULL.
start closing "$BIN/non_rpc_server" $BAD_PORT closes
serves closing $BAD_PORT || bail "no server that closes"
start_g "$(to closed $CLOSED_PORT "\"$bad\"")" "$(to pair $PAIR_PORT "[ \"$bad\", \"$good\" ]")" "$(to one $ONE_PORT "\"$back\"")"
outage() { start "$1" "$BIN/rpc_peer" "$2" 0 0 0 outage 1; }
outage lonely $CLOSED_PORT
check "a server that closes on every first Call is down, by one client" wait_for 20 server_is g closed 0 '.state == "down" and .failures > 0'
check "which is said" wait_for 10 grep -q "closed: server $bad does not answer: it closes connections" $T/g.log
check "not ready" is_ready 503
stop lonely KILL
outage patient $PAIR_PORT
is_served() { [ "$(tail -n 1 $T/patient.log)" = all ]; }
check "of two servers its client goes to the other one" wait_for 20 is_served
check "for the first is down" server_is g pair 0 '.state == "down"'
stop patient KILL
stop closing KILL

check "a server that answers only NULL is up as far as one client can tell" one_client $ONE_PORT all
check "so it is shown" server_is g one 0 '.state == "ok" and .failures == 0'
stop_proxy g

# A MOUNT server at an address, by rpcbind, and at the port of NFS: mount = "tcp://…", "rpcbind", "connect".
ok='.state == "ok" and .failures == 0 and .tried_last_s == null'
for row in "mount mount $MOUNT_PORT" "rpcbind mount $RPCBIND_PORT" "connect 0 $CONNECT_PORT"; do
	read -r way which port <<<"$row"
	start_g "$(to mount $MOUNT_PORT "\"$good\"" "mount = \"$back\";")" \
		"$(to rpcbind $RPCBIND_PORT "\"$good\"" 'mount = "rpcbind";')" \
		"$(to connect $CONNECT_PORT "\"$back\"" 'mount = "connect";')"
	check "mount, $way: one that closes for one client's Call is asked by the proxy, and serves another client" \
		one_client "$port" "$way" good
	check "$way: it is up" wait_for 10 server_is g "$way" "$which" "$ok"
	check "$way: ready" is_ready 200
	check "$way: the log does not say otherwise" not grep -E "$way: server .* (does not answer|cannot be used)" $T/g.log
	stop_proxy g
done

# A server with another version of MOUNT answers; one that closes at NULL does not.
for way in mount rpcbind; do
	[ $way = mount ] && port=$MOUNT_PORT uri=$back || port=$RPCBIND_PORT uri=tcp://127.0.0.1:111
	keys="mount = \"$back\";"
	[ $way = mount ] || keys='mount = "rpcbind";'
	start_g "$(to $way $port "\"$good\"" "$keys")"
	check "$way: one that answers NULL by PROG_MISMATCH is asked" one_client $port $way mismatch
	check "$way: and is up" wait_for 10 server_is g $way mount "$ok"
	stop_proxy g
	start_g "$(to $way $port "\"$good\"" "$keys")"
	check "$way: one that closes for NULL, too, is asked once one client has met it" one_client $port $way dead
	check "$way: and is down" wait_for 10 server_is g $way mount '.state == "down" and .failures > 0'
	check "$way: which is said" wait_for 10 grep -q "$way: server $uri.* does not answer: it closes connections" $T/g.log
	check "$way: the service is ready all the same: there is a server of NFS" is_ready 200
	stop_proxy g
done
finish

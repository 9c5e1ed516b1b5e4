#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A daemon that would connect to itself reports that: when it starts, or to the first client if a name hides it.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
ip address add 192.0.2.1/32 dev lo || bail "there is no second address"
printf "192.0.2.1 own\n" >hosts
mount --bind hosts /etc/hosts || bail "/etc/hosts cannot be replaced"

# config LISTEN CONNECT: writes the file
config() {
	printf 'control = "%s";\nservices = (\n%s\n);\n' "$T/a.sock" "$(service files "$1" "$2" 'source_port = "any";')" >a.conf
}
# refuses LISTEN CONNECT: -t and the start reject it
refuses() {
	config "$1" "$2"
	not "$PROXY" -t -c a.conf 2>refused || return
	grep -q '^a.conf:3: connect: the service at line 3 listens there' refused || return
	not "$PROXY" -c a.conf 2>refused || return
	grep -q 'the daemon would connect to itself' refused
}
takes() {
	config "$1" "$2"
	"$PROXY" -t -c a.conf
}

check "every address: an address of this host is refused" refuses "tcp://:$FRONT_PORT" "tcp://192.0.2.1:$FRONT_PORT"
check "… of IPv4 too" refuses "tcp://0.0.0.0:$FRONT_PORT" "tcp://192.0.2.1:$FRONT_PORT"
check "… but not one of another host" takes "tcp://:$FRONT_PORT" "tcp://192.0.2.9:$FRONT_PORT"
check "one address is not another" takes "tcp://127.0.0.1:$FRONT_PORT" "tcp://192.0.2.1:$FRONT_PORT"
check "a name is taken as it is" takes "tcp://:$FRONT_PORT" "tcp://own:$FRONT_PORT"

calls() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 flow 2 1 100 0 resume; }

config "tcp://:$FRONT_PORT" "tcp://own:$FRONT_PORT"
start a "$PROXY" -c a.conf
serves a $FRONT_PORT || bail "proxy a does not start"
check "a client of a name that comes back here is closed" not calls
check "… for that reason" wait_for 10 counter_is a closes own_upstream -ge 1
check "… which is logged" wait_for 10 logged a 'the server would be this daemon: it listens on every address of the name'
check "nothing has come back" counter_is a tcp connections_opened = 0
stop_proxy a

finish

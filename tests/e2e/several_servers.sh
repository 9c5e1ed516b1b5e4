#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two servers of one service: the active one is killed under load, and clients continue at the other one. They stay
# there when the first one returns. All connections of one client use one server. An administrator disables one.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
A_PORT=3049 B_PORT=3050
A=tcp://127.0.0.1:$A_PORT B=tcp://127.0.0.1:$B_PORT

one_service() {
	cat <<-END
	control = "$T/a.sock";
	workers = 2;
	services = ( { name = "files"; listen = "tcp://127.0.0.1:$FRONT_PORT"; connect = [ "$A", "$B" ];
		require_privileged_port = false; source_port = "any"; balance = "$1"; ${2:-} } );
	END
}

# start_one BALANCE [KEYS]: starts the proxy
start_one() {
	one_service "$@" >a.conf
	start a "$PROXY" -c "$T/a.conf"
	serves a "$FRONT_PORT" || bail "the proxy does not start"
}

start_server() { start "server_$1" "$BIN/held_call" serve 127.0.0.1 "$1"; serves "server_$1" "$1" || bail "server $1 does not start"; }

# target_is URI FILTER: FILTER holds for that server in `services`
target_is() { ctl a -j services | jq -e ".services[0].targets[] | select(.connect == \"$1\") | $2" >/dev/null; }
last() { [ "$(tail -n 1 $T/clients.log)" = "$1" ]; }
all_at() { target_is "$1" '.connections == 4' && last all; }
all_still_at_b() { all_at $B && target_is $A '.connections == 0'; }
# Log lines of earlier servers do not count.
start_clients() { : >$T/clients.log; start clients "$BIN/rpc_peer" "$FRONT_PORT" 0 0 0 outage 4; }
stop_clients() { stop clients KILL; wait_for 10 no_connections a; }
closed_by() { ctl a -j stats | jq -e ".services.files.closes.proxy.$1 == $2" >/dev/null; }

start_server $A_PORT
start_server $B_PORT
start_one standby
start_clients
check "all four connections of a client lead to the first server" wait_for 20 all_at $A
check "the other one has none" target_is $B '.connections == 0 and .attempts == 0 and .state == "unknown"'
stop server_$A_PORT KILL
check "when it is killed all of them go on at the other" wait_for 20 all_at $B
check "the state of the first is shown" target_is $A \
	'.state == "down" and .failures > 0 and .last_error == "Connection refused" and .tried_last_s <= 10'
start_server $A_PORT
start stranger "$BIN/rpc_peer" "$FRONT_PORT" 0 0 0 outage 1
check "another connection of that client follows" wait_for 20 target_is $B '.connections == 5'
stop stranger KILL
check "the server that is back has moved no client" wait_for 20 all_still_at_b

check "an administrator has one drained" ctl a target files $B drain
check "a drained server keeps its connections" all_at $B
check "and is shown as drained" target_is $B '.order == "drain"'
ctl a target files $B down >/dev/null
check "one that is taken down loses them, to the other" wait_for 20 all_at $A
check "they are counted so" wait_for 10 closed_by taken_down 4
ctl a target files 127.0.0.1:$A_PORT down >/dev/null
check "without any server no client is served" wait_for 20 last none
check "the clients are closed for that" wait_for 10 eval "ctl a -j stats | jq -e '.services.files.closes.server.no_server > 0'"
ctl a target files $B up >/dev/null
check "until one is up again" wait_for 20 all_at $B
check "the text shows both" eval "ctl a services | grep -q 'files: server $A: .*administratively down' && ctl a services | grep -q 'files: server $B: ok .*connections: 4'"
check "a server that there is not is refused" eval "ctl a target files tcp://127.0.0.9 up; [ \$? = 1 ]"
check "so is a service" eval "ctl a target fails $B up; [ \$? = 1 ]"
check "and a word" eval "ctl a target files $B away; [ \$? = 1 ]"
check "an order ends with a reload" eval "kill -HUP ${pid_of[a]}; wait_for 10 target_is $A '.order == \"up\"'"
stop_clients
stop_proxy a

start_one source
start_clients
wait_for 20 last all || bail "the clients are not served"
home=$A
target_is $A '.connections == 0' && home=$B
check "by source all four connections lead to one server as well" wait_for 10 all_at $home
stop_clients
stop_proxy a

# Unused servers are checked. The proxy detects and logs one that is down, and no client tries it.
stop server_$A_PORT KILL
start_one standby 'probe_interval_s = 1;'
check "a server that is down is known before any client comes" wait_for 10 target_is $A '.state == "down" and .attempts == 0'
check "why, too" target_is $A '.last_error | test("Connection refused")'
check "the log says so" wait_for 10 logged a "warning: files: server $A does not answer"
check "the other one is known to be up" target_is $B '.state == "ok" and .attempts == 0'
start_clients
check "clients go to that" wait_for 20 all_at $B
check "and do not try the first" target_is $A '.attempts == 0'
start_server $A_PORT
check "it is known when it is back" wait_for 10 target_is $A '.state == "ok" and .tried_last_s == null'
stop_clients
check "no client was counted for that" eval "ctl a -j services | jq -e '.services[0].connections_total == 4'"

# A check of a silent server is running when the service changes, and when the daemon ends.
start silent "$BIN/non_rpc_server" 3051 silent
serves silent 3051 || bail "no silent server"
one_service standby 'probe_interval_s = 1;' | sed "s|$B|tcp://127.0.0.1:3051|" >a.conf
check "another server is taken by a reload" ctl a reload
is_asked() { ss -Htn state established "( dport = :3051 )" | grep -q 3051; }
check "it is asked" wait_for 10 is_asked
one_service standby 'probe_interval_s = 2;' | sed "s|$B|tcp://127.0.0.1:3051|" >a.conf
check "a reload waits for no answer" with_limit 3 "$CTL" -s $T/a.sock reload
is_gone() { ctl a -j status | jq -e '.services_leaving == 0' >/dev/null; }
check "and the old service goes" wait_for 10 is_gone
check "the new one asks" wait_for 10 is_asked
finish

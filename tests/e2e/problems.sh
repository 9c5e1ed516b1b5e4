#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One broken situation after another, as an administrator meets them: `status` names the cause and the remedy, the log
# warns once, and `status --exit-code` and `check` notify a monitoring system.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
SERVER_PORT=3049
SERVER=tcp://127.0.0.1:$SERVER_PORT

# conf [KEYS]: writes a file with a service with these keys, or, with -, without a service
conf() {
	local services

	services="{ name = \"files\"; listen = \"tcp://127.0.0.1:$FRONT_PORT\"; connect = \"$SERVER\";
		require_privileged_port = false; source_port = \"any\"; ${1:-} }"
	[ "${1:-}" != - ] || services=
	cat >$T/a.conf <<-END
	control = "$T/a.sock";
	workers = 2;
	drain_timeout_s = 1;
	services = ( $services );
	END
}
# plugin STATUS LINE: `status --exit-code` has this status, and its first line begins with LINE
plugin() {
	local status

	"$CTL" -s $T/a.sock status --exit-code >$T/plugin.txt 2>$T/plugin.err
	status=$?
	cat $T/plugin.txt $T/plugin.err
	[ $status = "$1" ] && [[ $(head -n 1 $T/plugin.txt) == "$2"* ]]
}
problem() { ctl a -j status | jq -e --arg id "$1" ".problems[] | select(.id == \$id) | ${2:-.}" >/dev/null; }
no_problem() { ! problem "$1"; }
# says TEXT: `status` has it; wrapped lines are joined
says() { ctl a -a status >$T/status.txt; cat $T/status.txt; grep -qF -- "$1" $T/status.txt; }
warned_once() { wait_for 20 logged a "$1" && logged_lines a 1 "$1"; }

# ---------------------------------------------------------------- no daemon, no services

conf -
check "no daemon: critical, and the line says so" plugin 2 "CRITICAL - cannot reach the daemon"
check "a wrong command line: unknown" eval '"$CTL" -s $T/a.sock --wibble status --exit-code >$T/out; [ $? = 3 ] && grep -q "^UNKNOWN - unknown option" $T/out'
check "a check without a daemon is unknown, on standard output too" eval \
	'ctl a check files >$T/out 2>$T/err; [ $? = 3 ] && grep -q "^UNKNOWN - cannot reach the daemon" $T/out'
check "without --exit-code the status is as it was" eval 'ctl a status >$T/out 2>$T/err; [ $? = 3 ] && [ ! -s $T/out ]'
check "a file without services passes -t without a warning" eval '"$PROXY" -t -c $T/a.conf >$T/out 2>&1; cat $T/out; not grep -q warning $T/out'
start a "$PROXY" -c $T/a.conf
wait_for 20 ctl a status || bail "the daemon does not start"
check "no services: a warning" plugin 1 "WARNING - no services in $T/a.conf"
check "… and what to do" says "write a service there, then 'rpcrdma-proxyctl reload'"
check "… which the log says once" warned_once "no services in $T/a.conf"

# ---------------------------------------------------------------- a good daemon, and then a rejected file

start server "$BIN/held_call" serve 127.0.0.1 $SERVER_PORT
serves server $SERVER_PORT || bail "no server"
conf 'max_connections = 2;'
ctl a reload >$T/out || bail "no reload"
check "with a service all is well" plugin 0 "OK - no problems | connections=0;;;0 "
check "… below which the summary follows" grep -q '^files ' $T/plugin.txt
check "the plain status is 0, too" ctl a status
conf 'lisen = 1;'
ctl a reload >$T/out 2>&1
check "a rejected reload: a warning with the line of the file" plugin 1 "WARNING - reload rejected "
check "… which names the key" says 'unknown key "lisen"'
check "… and says what a restart would do" says "a restart would load that file: correct what the error names ('rpcrdma-proxy -t -c $T/a.conf' checks the file)"
check "… which the log says once" warned_once 'not reloaded, nothing has changed'
check "in JSON the line is left out" eval 'ctl a -j status --exit-code >$T/out; [ $? = 1 ] && jq -e .problems $T/out'
conf 'max_connections = 2;'
ctl a reload >$T/out || bail "no reload"
check "a good file ends that" no_problem reload_rejected

# ---------------------------------------------------------------- an address that comes later

conf "listen = [ \"tcp://127.0.0.1:$FRONT_PORT\", \"tcp://192.0.2.9:$FRONT_PORT\" ];"
sed -i "s|listen = \"tcp://127.0.0.1:$FRONT_PORT\"; connect|connect|" $T/a.conf
ctl a reload >$T/out || bail "no reload"
check "the host lacks an address to listen on: a notice that names it" problem address_absent \
	'.severity == "notice" and (.text | startswith("the address of 192.0.2.9:"))'
check "… which is no reason to alert" plugin 0 OK
ip address add 192.0.2.9/32 dev lo
check "until the host has it" no_problem address_absent
ip address del 192.0.2.9/32 dev lo
conf 'max_connections = 2;'
ctl a reload >$T/out || bail "no reload"

# ---------------------------------------------------------------- its server

start clients "$BIN/rpc_peer" "$FRONT_PORT" 0 0 0 outage 1
check "a client is served" wait_for 20 eval '[ "$(tail -n 1 $T/clients.log)" = all ]'
ctl a target files $SERVER down >$T/out
check "its only server is disabled: critical" plugin 2 "CRITICAL - files: its only server $SERVER is disabled by 'target down'"
check "… SERVER says so" eval 'ctl a services >$T/out; cat $T/out; grep -qE "^files +$SERVER +disabled " $T/out'
check "… the cure is the command" says "'rpcrdma-proxyctl target files $SERVER up'"
check "… which the log says once" warned_once "its only server $SERVER is disabled"
checked_as() { ctl a check files >$T/out; [ $? = "$1" ] && head -n 1 $T/out | grep -qF -- "$2"; }
check "check says the same" checked_as 2 "CRITICAL - files is failed; $SERVER: disabled by 'target down'"
check "… with the cure" grep -qxF "  what to do: 'rpcrdma-proxyctl target files $SERVER up'" $T/out
ctl a target files $SERVER up >$T/out
check "and then it is well" no_problem server_disabled
ctl a drain files >$T/out
check "a drained service: critical" plugin 2 "CRITICAL - files: drained: new clients are refused until 'resume'"
check "check says the same" checked_as 2 "CRITICAL - files is failed; drained: new clients are refused until 'resume'"
check "… with the cure" grep -qxF "  what to do: 'rpcrdma-proxyctl resume files'" $T/out
ctl a resume files >$T/out
stop clients KILL
stop server KILL
start clients "$BIN/rpc_peer" "$FRONT_PORT" 0 0 0 outage 1
check "its server is down: critical" wait_for 20 plugin 2 "CRITICAL - files: server 127.0.0.1:$SERVER_PORT is down"
check "check says the same" eval \
	'ctl a check files >$T/out; [ $? = 2 ] && head -n 1 $T/out | grep -q "^CRITICAL - files is failed; $SERVER: connect failed: .*Connection refused"'
stop clients KILL

# ---------------------------------------------------------------- a silent server

start server "$BIN/held_call" serve 127.0.0.1 $SERVER_PORT
serves server $SERVER_PORT || bail "no server"
check "a client has a Call that its server never answers" asks first "$FRONT_PORT" held
check "the server is silent: critical, with the time" wait_for 60 plugin 2 "CRITICAL - files: server $SERVER has not answered for "
check "… SERVER says so, with the time" eval 'ctl a services >$T/out; cat $T/out; grep -qE "^files +$SERVER +silent [0-9]+ s " $T/out'
check "… in the summary, too" eval 'ctl a status >$T/out; cat $T/out; grep -qE "^files +silent " $T/out'
check "… which the log says" wait_for 60 logged a 'for the server 127.0.0.1'

# ---------------------------------------------------------------- clients

# call XID PROCEDURE: prints a Call of 40 bytes, with AUTH_NONE and no arguments
call() {
	printf '\x80\0\0\x28\0\0\0%b\0\0\0\0\0\0\0\x02\x20\0\x01\x23\0\0\0\x01\0\0\0%b\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' \
		"\\x0$1" "\\x0$2"
}
reuse_xid() {
	exec 3<>"/dev/tcp/127.0.0.1/$FRONT_PORT" && call 7 1 >&3 && call 7 2 >&3 && with_limit 20 cat <&3 >/dev/null
	exec 3>&-
}
check "a client uses an XID twice and is closed" reuse_xid
check "that is a warning that names the client" problem xid_reused \
	'.severity == "warning" and (.cure | contains("--client 127.0.0.1 capture FILE"))'
check "… which the log says once" warned_once 'XID in flight used for another Call;'

check "a second client is served" asks second "$FRONT_PORT" held
refused() { ! with_limit 20 "$BIN/held_call" ask 127.0.0.1 "$FRONT_PORT" idle; }
check "a third one finds max_connections reached" refused
check "… and a fourth" refused
check "that is a warning with the number and the last client" problem max_connections_reached \
	'.severity == "warning" and .count == 2 and (.text | test("^2 clients refused: max_connections reached; the last was 127\\.0\\.0\\.1:[0-9]+, "))'
check "… REFUSED has them, and OPEN/MAX is within the limit" eval 'ctl a services >$T/out; cat $T/out; grep -qE "^files .* 2/2 +2$" $T/out'
check "… which the log says once" warned_once 'refused: max_connections reached'
stop second KILL
stop first KILL
stop_proxy a
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tls_connect = "required": the proxy's own probe and handshake with servers of each kind, good and bad. It never falls back
# to clear text, and says why a server is down. The servers are Python's.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
. "$E2E_SRC/tls_peers.sh"

authority ca && authority foreign || bail "openssl makes no authority"
certificate server ca DNS:server.example,IP:127.0.0.1
certificate wild ca DNS:*.servers.example
certificate client ca DNS:client.example
certificate expired ca DNS:server.example -30 -1
certificate stranger foreign DNS:server.example
[ -s stranger.pem ] && [ -s expired.pem ] || bail "openssl makes no certificates: $(tail -n 5 openssl.log)"

declare -i port=4000
services=()
# server NAME KEYS ARGUMENT...: a server, and a service that connects to it
server() {
	local name=$1 keys=$2

	shift 2
	port+=1
	start_tls_server "$name" $((port + 1000)) --cert server.pem --key server.key "$@"
	services+=("$(service "$name" "tcp://127.0.0.1:$port" "tcp://127.0.0.1:$((port + 1000))" \
		"source_port = \"any\"; connect_timeout_s = 2; tls_connect = \"required\"; tls_ca_file = \"$T/ca.pem\"; $keys")")
	port_of[$name]=$port
}
declare -A port_of=()
named='tls_server_name = "server.example";'
own="tls_cert_file = \"$T/client.pem\"; tls_key_file = \"$T/client.key\";"

server good "$named"
server address ''
server wild 'tls_server_name = "one.servers.example";' --cert wild.pem --key wild.key
server mismatch "$named" --kind mismatch
server asks "$named $own" --ca ca.pem
server anonymous "$named" --ca ca.pem
server plain "$named" --kind plain
server ignores "$named" --kind ignores
server silent "$named" --kind silent
server closes "$named" --kind closes
server mute "$named" --kind mute
server clear "$named" --kind clear
server truncates "$named" --kind truncates
server leaves "$named" --kind leaves
server no-alpn "$named" --alpn ''
server old "$named" --version 1.2
server expired "$named" --cert expired.pem --key expired.key
server stranger "$named" --cert stranger.pem --key stranger.key
server misnamed 'tls_server_name = "other.example";'
server told "$named send_proxy = true;" --proxy
server mounts "$named mount = \"tcp://127.0.0.1:6001\";"
start_tls_server mount-server 6001 --cert server.pem --key server.key
printf 'control = "%s"; workers = 2; services = (\n' "$T/a.sock" >a.conf
(IFS=,; echo "${services[*]}") >>a.conf
echo ');' >>a.conf
check "the file is without mistake" "$PROXY" -t -c a.conf
start a "$PROXY" -c a.conf
serves a 4001 $port || bail "the proxy does not start"

has_line() {
	local lines

	lines=$(<a.log)
	for text; do lines=$(grep -F -- "$text" <<<"$lines") || return 1; done
}
says() { wait_for 20 has_line "$@"; }

# served NAME [ALPN]: a case: its clients are
served() {
	gets "$1: a client is served" "null: SUCCESS; echo: SUCCESS; echoes: SUCCESS" "${port_of[$1]}" null echo=100 echoes=20:200000
	check "… by TLS" grep -q "^tls .* ${2:-sunrpc}" "$1.log"
	check "… and no Call has come in clear" not grep -q 'clear Call' "$1.log"
}
# unserved NAME TEXT: its clients are closed, and a line of the log says why
unserved() {
	gets "$1: a client is closed" "null: ended: *" "${port_of[$1]}" null
	check "… for a reason that the log has" says "$1" "$2"
	check "… and no Call has come in clear" not grep -qE 'clear Call|call ' "$1.log"
}

served good
check "the probe is NULL of NFSv4" grep -qx 'probe 100003 4' good.log
served address
served wild
served mismatch
served asks
check "… with its own certificate" grep -qx 'tls client.example sunrpc' asks.log
served no-alpn None
served told
check "… and the PROXY header came before the probe" [ "$(head -n 1 told.log | cut -d ' ' -f 1)" = proxy ]
gets "mounts: NFS and MOUNT are served" "null: SUCCESS" "${port_of[mounts]}" null
gets "…" "null: SUCCESS" "${port_of[mounts]}" null=100005:3
check "the probe of a server of MOUNT is NULL of MOUNT version 3" grep -qx 'probe 100005 3' mount-server.log

unserved plain "does not offer TLS"
unserved ignores "does not offer TLS"
unserved silent "TLS"
unserved closes "ended before the server answered the RPC-with-TLS probe"
unserved mute "TLS"
unserved clear "TLS"
unserved old "TLS"
unserved expired "expired"
unserved stranger "authority"
unserved misnamed "another name"
unserved anonymous "certificate"
gets "truncates: the first Reply arrives, and then the connection is closed" "null: SUCCESS; closed: *" "${port_of[truncates]}" null closed
check "… as one that was lost" says "truncates#" "close_notify"
gets "leaves: the same" "null: SUCCESS; closed: *" "${port_of[leaves]}" null closed
check "… as one that the server closed" not has_line "leaves#" "without close_notify"

# checked NAME STATE TEXT: `check` says so of its connection
checked() {
	ctl a -j check "$1" >check.json
	jq -e --arg state "$2" --arg text "$3" \
		'[.. | objects | select(.step? == "connect")][0] | .result == $state and (tostring | contains($text))' check.json || { cat check.json; false; }
}
check "check connects by TLS" checked good passed ""
check "… with a PROXY header" checked told passed ""
check "… and says why it cannot" checked plain failed "does not offer TLS"
check "… or does not trust the server" checked stranger failed "not signed by a known authority"
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The log during an incident: a connection can be followed from one proxy to the next, its last line has the reason, a
# waiting Call is logged once, port scans log nothing, and each change names the user who made it.
BACK_PORT=3049
CLOSED_PORT=13050
A_MORE=closed_service
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

closed_service() {
	service closed "tcp://127.0.0.1:$CLOSED_PORT" "tcp://127.0.0.1:$BACK_PORT" 'allow = [ "10.0.0.0/8" ];'
}

# matches SIDE REGEX: a line matches; prints the match
matches() { grep -oE -- "$2" "$T/$1.log"; }
# client NAME [held]: starts a client
client() { asks "$1" $FRONT_PORT "${2:-}" || bail "the client $1 is not served"; }
# gone SIDE N: N connections of all are left
gone() { [ "$(connections "$1")" = "$2" ]; }
# scan PORT N: opens and closes N connections without data
scan() { for ((i = 0; i < $2; i++)); do : <>/dev/tcp/127.0.0.1/"$1"; done; }

start_chain
start server "$BIN/held_call" serve 127.0.0.1 $BACK_PORT
serves server $BACK_PORT || bail "the server does not start"
uid=$(id -u)

client held held
wait_for 10 matches a '\[nfs#1 .*\] open to '
open=$(matches a '\[nfs#1 127\.0\.0\.1:[0-9]+\] open to 127\.0\.0\.1:20049 over iwarp from 127\.0\.0\.1:[0-9]+$')
check "the first proxy says from where it went on" [ -n "$open" ]
check "and there the second one's line is found" wait_for 10 logged b "[nfs#1 ${open##* }] open to 127.0.0.1:$BACK_PORT over tcp from 127.0.0.1:"
check "the server's peer is there too" \
	[ -n "$(ss -Htn "sport = :$BACK_PORT" | grep -F "$(matches b 'over tcp from .*' | sed 's/.* //')")" ]
check "an undetected profile is not logged" not logged a "peer profile"

before=$(came a)
scan $FRONT_PORT 20
scan $FABRIC_PORT 20
wait_for 20 has_come a $((before + 20))
wait_for 20 gone a 1 && wait_for 20 gone b 1
for side in a b; do
	check "proxy $side has no word of a port scan" not matches $side '\] closed'
done

client idle
stop idle
check "a client's close is logged as such, with its totals" wait_for 20 \
	matches a '\] closed by the client( \(reset\))?, after [0-9.]+ s: 1 Call, 44 bytes in, 28 bytes out, 0 unanswered$'
check "and by the proxy behind" wait_for 20 matches b '\] closed by the client( \(reset\))?, after [0-9.]+ s: 1 Call, '

scanning=$SECONDS
scan $CLOSED_PORT 130
left_out() { matches a 'warning: closed: [0-9]+ more refused in [0-9]+ s: address is not allowed$' | awk '{ n += $3 } END { print n + 0 }'; }
one_by_one() { grep -c 'warning: closed: refused 127.0.0.1:' $T/a.log; }
told() { [ $(($(left_out) + $(one_by_one))) = "$1" ]; }
check "suppressed lines are reported within five seconds" wait_for 8 told 130
# Ten lines, and one more in each five seconds of the scan.
first_ones() { [ "$(one_by_one)" -ge 10 ] && [ "$(one_by_one)" -le $((10 + (SECONDS - scanning) / 5)) ]; }
check "behind the ten that are not" first_ones

for side in a b; do
	ctl $side log debug >/dev/null
	check "proxy $side names the user who changes the level" \
		wait_for 10 logged $side "info: log level is now debug (was info), requested by uid $uid"
done
client debug
scan $FRONT_PORT 1
stop debug
check "level debug logs scans" wait_for 20 \
	matches a 'debug: .* closed by the client: before the first byte, after [0-9.]+ s while waiting: 0 Calls, 0 bytes in, 0 bytes out, 0 unanswered$'
check "where a connection came in" wait_for 10 matches a "debug: .* new connection at 127\.0\.0\.1:$FRONT_PORT over tcp, worker [01]$"
check "whether it was known" wait_for 10 logged a "new client: any source port to the server"
check "how long each state lasted" wait_for 10 matches a 'debug: .* open now, after [0-9.]+ s connecting$'
check "what was agreed with the server" wait_for 10 matches a \
	'debug: .*server: RPC-over-RDMA version 1 \(rfc8166\), inline up to 8192 bytes to it and 8192 from it, asks for [0-9]+ credits, remote invalidation on; its private data: Sends of 8192 bytes, receives of 8192, remote invalidation; MPA revision 2, CRC on, no markers, FPDUs of up to [0-9]+ bytes to it'
check "and with the client" wait_for 10 matches b 'debug: .*client: RPC-over-RDMA version 1 \(rfc8166\), .* grants up to [0-9]+ credits'
check "its last Call" wait_for 20 \
	matches a 'last Call: XID 0x[0-9a-f]{8}, .* \(program 536871203, version 1, procedure 0\), [0-9.]+ s ago$'
check "and that of the proxy behind" wait_for 20 matches b 'last Call: XID 0x[0-9a-f]{8}, '

waits() { matches "$1" 'warning: nfs: a Call has waited (1[5-9]|[2-9][0-9]|[0-9]{3,}) s for the server 127\.0\.0\.1:[0-9]+ \(1 Call of 1 client waits\)$'; }
for side in a b; do
	check "a Call that waits is a warning of proxy $side" wait_for 60 waits $side
	check "and shown with the service" eval "ctl $side services | grep -qE '^nfs: (server .* has not answered for [0-9]+ s: 1 Call of 1 client waits|1 Call of 1 client waits, up to .*, which answers others)$'"
	check "and shown" [ "$(ctl $side -j connections | jq '.connections[0].oldest_call_age_s >= 15')" = true ]
done
client other
check "a connection without waiting Calls shows that" \
	[ "$(ctl a -j connections | jq -c '[.connections[].oldest_call_age_s] | map(type) | sort')" = '["null","number"]' ]
stop server KILL
check "a server's close is logged as such" wait_for 20 matches b '\] closed by the server( \(reset\))?, after '
check "with what had no answer" wait_for 20 matches a '\] closed by the server, after [0-9.]+ s: 2 Calls, .*, 1 unanswered$'
for side in a b; do
	check "the Call that waited is over for proxy $side" wait_for 20 matches $side \
		'warning: nfs: no Call is waiting any more: their connections closed; the oldest Call had waited [0-9]+ s$'
	check "and was logged once" [ "$(grep -c 'has waited' $T/$side.log)" = 1 ]
	check "proxy $side has no word of ports that are not privileged" not matches $side 'service (nfs|mount) accepts clients from any|the server come from unprivileged'
done
ctl b stop >/dev/null
check "the user of a stop is named" wait_for 10 logged b "stop requested by uid $uid via control socket"
finish

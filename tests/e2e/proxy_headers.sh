#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The PROXY protocol: the proxy passes its clients' addresses to HAProxy behind it, HAProxy in front of it passes those
# of its clients, and two proxies pass them to each other. Missing, wrong or unwanted headers close their connections
# with that reason.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
command -v haproxy >/dev/null || skip_all "HAProxy is not installed"
BACK_PORT=3049

any='source_port = "any";'
# from_proxies LISTEN PORT NAME MORE: prints a service of b for the real server
from_proxies() { service "$3" "$1://127.0.0.1:$2" "tcp://127.0.0.1:$NFS_PORT" "$any accept_proxy_from = [ \"127.0.0.1\" ]; ${4:-}"; }
# between NAME FRONT MIDDLE WHERE: prints a service of a, and that of b behind it, for the server of a test
to_b() { service "$1" "$2://127.0.0.1:$3" "$4://127.0.0.1:$5" "send_proxy = true; $([ "$4" = iwarp ] || echo "$any")"; }
from_a() { service "$1" "$2://127.0.0.1:$3" "tcp://127.0.0.1:$BACK_PORT" 'accept_proxy_from = [ "127.0.0.1" ];'; }

cat >b.conf <<-END
	control = "$T/b.sock"; workers = 2;
	services = (
	$(from_proxies tcp 6001 allowed 'allow = [ "127.0.0.2" ];'),
	$(from_proxies tcp 6002 once 'max_connections_per_client = 1;'),
	$(from_proxies tcp 6003 plain),
	$(from_proxies iwarp 6004 rdma),
	$(from_proxies tcp 6005 named),
	$(from_proxies iwarp 6006 named-rdma 'allow = [ "127.0.0.2", "127.0.0.3" ];'),
	{ name = "low"; listen = "tcp://127.0.0.1:6007"; connect = "tcp://127.0.0.1:$NFS_PORT"; $any
	  require_privileged_port = true; accept_proxy_from = [ "127.0.0.1" ]; },
	$(from_a replay-iwarp iwarp 6011),
	$(from_a replay-tcp tcp 6012),
	$(from_a replay-rdma iwarp 6013)
	);
END
cat >a.conf <<-END
	control = "$T/a.sock"; workers = 2;
	services = (
	$(service to-haproxy "tcp://127.0.0.1:4001" "tcp://127.0.0.1:7001" "$any send_proxy = true;"),
	$(service to-haproxy-6 "tcp://:4002" "tcp://127.0.0.1:7001" "$any send_proxy = true;"),
	$(to_b named tcp 4005 tcp 6005),
	$(to_b named-rdma tcp 4006 iwarp 6006),
	$(to_b replay-iwarp tcp 4011 iwarp 6011),
	$(to_b replay-tcp tcp 4012 tcp 6012),
	$(to_b replay-rdma iwarp 4013 iwarp 6013)
	);
END
cat >haproxy.conf <<-END
	global
	  log stdout format raw local0
	defaults
	  mode tcp
	  log global
	  timeout connect 5s
	  timeout client 1m
	  timeout server 1m
	frontend behind
	  bind 127.0.0.1:7001 accept-proxy
	  log-format "client %ci:%cp at %fi:%fp"
	  default_backend nfs
	backend nfs
	  server nfs 127.0.0.1:$NFS_PORT
	listen before
	  bind 127.0.0.1:7002
	  server b 127.0.0.1:6001 send-proxy-v2 check inter 500ms
	listen before-line
	  bind 127.0.0.1:7003
	  server b 127.0.0.1:6001 send-proxy
	listen before-crc
	  bind 127.0.0.1:7004
	  server b 127.0.0.1:6001 send-proxy-v2 proxy-v2-options crc32c,unique-id
	  unique-id-format %pid
	listen before-once
	  bind 127.0.0.1:7005
	  server b 127.0.0.1:6002 send-proxy-v2
	listen before-low
	  bind 127.0.0.1:7006
	  server b 127.0.0.1:6007 send-proxy-v2
END

start_ganesha
for side in b a; do start $side "$PROXY" -c $side.conf; done
serves b 6001 6007 6013 || bail "proxy b does not start"
serves a 4001 4013 || bail "proxy a does not start"
start haproxy haproxy -db -f haproxy.conf
serves haproxy 7001 7006 || bail "HAProxy does not start"

# steps PORT STEP...: starts a client that does these steps
steps() { rpc_peer "$1" 0 0 0 steps "${@:2}"; }
# says SIDE TEXT...: a line of the log soon has all of them
has_line() {
	local lines

	lines=$(cat "$1.log")
	for text in "${@:2}"; do lines=$(grep -F -- "$text" <<<"$lines") || return 1; done
}
says() { wait_for 20 has_line "$@"; }

# ---------------------------------------------------------------- HAProxy behind

check "a client is served through HAProxy with a header" steps 4001 from=127.0.0.2:713 call
check "HAProxy logs its address and port" says haproxy "client 127.0.0.2:713 at 127.0.0.1:4001"
check "an IPv4 client of a listener for both is served" steps 4002 from=127.0.0.3:714 call
check "HAProxy logs it as IPv4" says haproxy "client 127.0.0.3:714 at 127.0.0.1:4002"
# An IPv6 client with a port that the kernel chooses.
null_call='\x80\x00\x00\x28\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x86\xa3\x00\x00\x00\x03'
null_call+='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
six() {
	exec 3<>/dev/tcp/::1/4002 || return 1
	six_port=$(ss -Htn dst '[::1]:4002' | awk '{ sub(/.*:/, "", $4); print $4 }')
	# shellcheck disable=SC2059
	printf "$null_call" >&3 && [ "$(head -c 28 <&3 | wc -c)" = 28 ]
	exec 3>&-
}
six && served=true || served=false
check "an IPv6 client is served" $served
check "HAProxy logs its address and port" says haproxy "client ::1:$six_port at ::1:4002"

# ---------------------------------------------------------------- HAProxy before

check "HAProxy finds the proxy up" not grep -F 'before/b is DOWN' haproxy.log
check "… whose checks are no clients that are refused" not grep -F 'allowed: refused 127.0.0.1:' b.log
for port in 7002 7003 7004; do
	check "allow lets in whom HAProxy names, at $port" steps $port from=127.0.0.2:$((port - 6280)) call
	check "… and not whom it does not name so" steps $port from=127.0.0.4:$((port - 6280)) text=x closed
	check "… and the log has the client and the proxy" says b \
		"allowed: refused 127.0.0.4:$((port - 6280)), through 127.0.0.1:" ": address is not allowed"
done
check "a client from a privileged port is served" steps 7006 from=127.0.0.2:731 call
check "… from another one is not" steps 7006 from=127.0.0.2:20731 text=x closed
check "… which is its own, not HAProxy's" says b "low: refused 127.0.0.2:20731" "source port is not privileged"
start first "$BIN/rpc_peer" 7005 0 0 0 steps from=127.0.0.2:741 call stay
check "an address has one connection" wait_for 20 grep -x call first.log
check "… and no second one" steps 7005 from=127.0.0.2:742 text=x closed
check "… though another address has" steps 7005 from=127.0.0.3:743 call
# shellcheck disable=SC2016
client_is() { ctl b -j connections | jq -e --arg it "$1" '[.connections[] | select(.client_address == $it)] | length == 1'; }
check "it is shown by its own address" wait_for 10 client_is 127.0.0.2:741
stop first KILL

# ---------------------------------------------------------------- bad headers

line='text=PROXY TCP4 127.0.0.2 127.0.0.1 751 6003'
signature=0d0a0d0a000d0a515549540a
v4=7f0000027f00000102f01773 # 127.0.0.2:752, at 127.0.0.1:6003
block=hex=${signature}2111000c$v4
local=hex=${signature}20000000

check "a line names a client" steps 6003 "$line" crlf call
check "a block does" steps 6003 "$block" call
check "a header without a client is accepted" steps 6003 "$local" call
bytes=() text='PROXY UNKNOWN'
for ((i = 0; i < ${#text}; i++)); do bytes+=("text=${text:i:1}" sent); done
check "a header may come byte by byte" steps 6003 "${bytes[@]}" crlf call

# bad WHAT SERVICE TEXT PORT STEP...: the connection is closed, and the log has the reason
bad() {
	local what=$1 service=$2 text=$3

	check "$what is closed" steps "${@:4}" closed
	check "… and the log says why" says b "$service" PROXY "$text"
}
refused='refused 127.0.0.1:'
bad "a connection without a header" "plain: $refused" 'no PROXY header: the first bytes are "hello there"' 6003 "text=hello there"
bad "… for RDMA" "rdma: $refused" 'no PROXY header: the first bytes are "MPA ID Req Frame"' 6004 "text=MPA ID Req Frame"
bad "a header that is cut" "plain: $refused" "truncated" 6003 "text=PROXY TCP4" shut
bad "a header that is late" "plain: $refused" "it did not arrive in time" 6003 "text=PROXY TCP4"
bad "… for RDMA" "rdma: $refused" "it did not arrive in time" 6004 hex=0d0a0d0a
bad "a line that cannot be read" "plain: $refused" "malformed line" 6003 "text=PROXY TCP4 127.0.0.2" crlf
bad "a block of an unknown command" "plain: $refused" "unknown version or command" 6003 hex=${signature}2f11000c$v4
bad "a datagram's block" "plain: $refused" "or a datagram protocol" 6003 hex=${signature}2112000c$v4
bad "a block whose parts are too long" "plain: $refused" "a length exceeds the header" 6003 hex=${signature}2111000f${v4}04ffff
bad "a block that is too long" "plain: $refused" "too long" 6003 hex=${signature}211107f1
bad "a block with a wrong sum" "plain: $refused" "wrong CRC32C" 6003 hex=${signature}21110013${v4}030004deadbeef
bad "a second header" "[plain#" "or a second header" 6003 "$block" "$block"
bad "… for RDMA" "[rdma#" "or a second header" 6004 "$local" "$local"
bad "a header in the middle of the stream" "[plain#" "in the middle of the stream" 6003 "$block" call "$block"
bad "… of RDMA" "[rdma#" "in the middle of the stream" 6004 "$local" mpa call "$local"
bad "a header from who is not listed" "127.0.0.5" "peer not in accept_proxy_from" 6003 from=127.0.0.5:0 "$block"
bad "… a line" "127.0.0.6" "peer not in accept_proxy_from" 6003 from=127.0.0.6:0 "$line" crlf
bad "… for RDMA" "127.0.0.7" "peer not in accept_proxy_from" 6004 from=127.0.0.7:0 "$block"
check "an unlisted peer is served without a header" steps 6003 from=127.0.0.5:0 call
check "… for RDMA" steps 6004 from=127.0.0.7:0 mpa call
check "a port check is no failure" steps 6003 shut closed
refused() { [ "$(ctl b -j services | jq ".services[] | select(.name == \"$1\") | .refused.PROXY_HEADER // .refused.proxy_header")" = "$2" ]; }
check "the refused are counted" wait_for 10 refused plain 9
check "… those for RDMA" wait_for 10 refused rdma 2
closes() { [ "$(ctl b -j stats | jq ".services.$1.closes.client.proxy_header")" = "$2" ]; }
check "the closed are counted" wait_for 10 closes plain 4
check "… those for RDMA" wait_for 10 closes rdma 3

# ---------------------------------------------------------------- two proxies

# same_names COUNT: both proxies show the same COUNT clients
names() { ctl "$1" -j connections | jq -r '.connections[] | .client_address' | sort; }
same_names() { [ "$(names a | wc -l)" = "$1" ] && [ "$(names a)" = "$(names b)" ]; }
for i in 2 3; do
	start tcp-$i "$BIN/rpc_peer" 4005 0 0 0 steps from=127.0.0.$i:76$i call stay
	start rdma-$i "$BIN/rpc_peer" 4006 0 0 0 steps from=127.0.0.$i:77$i call stay
done
check "the second proxy knows the clients of the first, over TCP and iWARP" wait_for 20 same_names 4
check "… and lets no other in" not steps 4006 from=127.0.0.4:774 call
for i in 2 3; do stop tcp-$i KILL; stop rdma-$i KILL; done
for side in a b; do wait_for 20 no_connections $side; done
check "the second proxy can be checked" ctl a check named
check "… and a user without permission cannot run it" not ctl a check named-rdma

for n in 1 5 20; do
	check "retransmissions of $n clients that were reset, over iWARP" rpc_peer 4011 $BACK_PORT 0 0 replay remove tcp $n
	check "… over TCP" rpc_peer 4012 $BACK_PORT 0 0 replay remove tcp $n
	check "… of RDMA clients" rpc_peer 4013 $BACK_PORT 0 0 replay remove rdma $n
done
finish

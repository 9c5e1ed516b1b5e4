#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Wrong ports, and proxies that reject: each log explains the cause.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
echo 'hosts: files' >nsswitch.conf
echo '127.0.0.1 localhost' >hosts
for file in nsswitch.conf hosts; do
	mount --bind $file /etc/$file || bail "/etc/$file cannot be replaced"
done

DOWN=7000 # where nobody listens
any='source_port = "any";'
tcp() { service "$1" "tcp://127.0.0.1:$2" "$3" "${4:-}"; }

cat >b.conf <<-END
	control = "$T/b.sock";
	services = (
	$(service for-tcp tcp://127.0.0.1:6001 tcp://127.0.0.1:$DOWN "$any"),
	$(service down iwarp://127.0.0.1:6002 tcp://127.0.0.1:$DOWN "$any"),
	$(service denies iwarp://127.0.0.1:6003 tcp://127.0.0.1:$DOWN "$any allow = [ \"10.0.0.0/8\" ];"),
	$(service nameless iwarp://127.0.0.1:6004 tcp://secret.example:$DOWN "$any")
	);
END
cat >a.conf <<-END
	control = "$T/a.sock";
	services = (
	$(tcp to-silent 4001 iwarp://127.0.0.1:5001),
	$(tcp to-closing 4002 iwarp://127.0.0.1:5002),
	$(tcp to-resetting 4003 iwarp://127.0.0.1:5003),
	$(tcp to-http 4004 iwarp://127.0.0.1:5004),
	$(tcp to-tcp 4005 iwarp://127.0.0.1:6001),
	$(tcp to-down 4006 iwarp://127.0.0.1:6002),
	$(tcp to-denying 4007 iwarp://127.0.0.1:6003),
	$(tcp to-nameless 4008 iwarp://127.0.0.1:6004),
	$(tcp rdma-port 4009 tcp://127.0.0.1:6002 "$any"),
	$(tcp http-port 4010 tcp://127.0.0.1:5004 "$any"),
	$(tcp closing-port 4011 tcp://127.0.0.1:5002 "$any"),
	$(tcp unnamed 4012 tcp://filer.example:2049 "$any")
	);
END
start silent "$BIN/non_rpc_server" 5001 silent
start closing "$BIN/non_rpc_server" 5002 closes
start resetting "$BIN/non_rpc_server" 5003 resets
start http "$BIN/non_rpc_server" 5004 says $'HTTP/1.1 400 Bad Request\r\n\r\n'
serves silent 5001 && serves closing 5002 && serves resetting 5003 && serves http 5004 || bail "a stranger does not start"
for side in b a; do
	start $side "$PROXY" -c $side.conf
done
serves b 6001 6002 6003 6004 || bail "proxy b does not start"
serves a 4001 4012 || bail "proxy a does not start"

declare -i clients=0
# client PORT BYTES: starts a client that sends them, in the form of printf, and stays
client() {
	clients+=1
	# shellcheck disable=SC2016
	start client$clients bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && printf "$1" >&3 && cat <&3' "$1" "$2"
}
null_call='\x80\x00\x00\x28\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x02\x00\x01\x86\xa3\x00\x00\x00\x03'
null_call+='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
calls() { client "$1" "$null_call"; }

# says SIDE SERVICE TEXT: a line of the log soon has TEXT and names the service
has_line() { grep -F -- "$2" "$1.log" | grep -qF -- "$3"; }
says() { wait_for 30 has_line "$1" "$2" "$3"; }

calls 4001 # takes as long as a server is waited for; looked at last

wrong='accepts TCP but does not answer as iWARP: is that its RDMA port?'
calls 4002
check "an RDMA server that closes: a port of TCP?" says a to-closing "$wrong (it closed)"
calls 4003
check "… that resets" says a to-resetting "$wrong (Connection reset by peer)"
calls 4004
check "… that speaks HTTP" says a to-http "$wrong The first bytes are \"HTTP/1.1 400 Bad\" (HTTP)"
calls 4005
check "… that is a proxy's service for TCP" says a to-tcp "$wrong (it closed)"
mounts='(mount with proto=tcp, or add an rdma:// service)'
check "… which says so of its client" says b for-tcp "looks like iWARP, not RPC over TCP: this service listens for TCP $mounts"
# warned SIDE SERVICE TEXT: it has warned of that once
warned() { [ "$(grep -F "warning: [$2#" "$1.log" | grep -cF "$3")" = 1 ]; }
over_rdma='the client connects over RDMA, but this service listens for TCP: mount with proto=tcp, or add a service that listens at rdma:// (logged once)'
check "… and warns of it" wait_for 30 warned b for-tcp "$over_rdma"

unheard='before answering the first Call: is that its RDMA port, or does it reject this host?'
calls 4009
check "a TCP server that is a proxy's service for RDMA" says a rdma-port "$unheard"
# Lines about connections have level debug then.
check "… which the warning about the server says, too" says a "warning: rdma-port: server" "$unheard"
mounts='(mount with proto=rdma, or add a tcp:// service)'
check "… which says so of its client" says b down "looks like RPC over TCP, not iWARP: this service listens for RDMA $mounts"
over_tcp='the client connects over TCP, but this service listens for RDMA: mount with proto=rdma and its port, or add a service that listens at tcp:// (logged once)'
check "… and warns of it" wait_for 30 warned b down "$over_tcp"
calls 4011
check "… that closes at the first Call" says a "warning: closing-port: server" "it closes connections $unheard"
calls 4010
check "… that speaks HTTP" says a http-port 'does not look like RPC: the first bytes are "HTTP/1.1 400 Bad" (HTTP): is that its RPC port?'
calls 4012
check "… whose name does not resolve" says a unnamed 'its name "filer.example" cannot be resolved: Name or service not known'

# Both kinds of listeners. Each uses a separate service, because the line names the service.
shown() { says "$1" "$2" "does not look like RPC: the first bytes are $3"; }
client 4002 'GET / HTTP/1.1\r\nHost: example\r\n\r\n'
check "HTTP from a client over TCP" shown a to-closing '"GET / HTTP/1.1.." (HTTP)'
client 6002 'GET / HTTP/1.1\r\nHost: example\r\n\r\n'
check "… at a port for RDMA" shown b down '"GET / HTTP/1.1.." (HTTP)'
client 4003 '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
check "TLS from a client over TCP" shown a to-resetting '16 03 01 02 00 01 00 01 fc 03 03 (TLS)'
client 6002 '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'
check "… at a port for RDMA" shown b down '16 03 01 02 00 01 00 01 fc 03 03 (TLS)'
client 4005 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'
check "SSH from a client over TCP" shown a to-tcp '"SSH-2.0-OpenSSH_" (SSH)'
client 6002 'SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n'
check "… at a port for RDMA" shown b down '"SSH-2.0-OpenSSH_" (SSH)'
client 4006 'PROXY TCP4 192.0.2.1 192.0.2.2 700 2049\r\n'
not_taken='the client sent a PROXY header that is not accepted: peer not in accept_proxy_from'
check "a load balancer's header over TCP" says a to-down "$not_taken"
client 6002 '\x0d\x0a\x0d\x0a\x00\x0d\x0aQUIT\x0a\x20\x00\x00\x00'
check "… at a port for RDMA" says b down "peer not in accept_proxy_from"
client 4009 '\x1b[31mred \x07and \x80 more'
check "bytes of no known use are shown in figures" shown a rdma-port '1b 5b 33 31 6d 72 65 64 20 07 61 6e 64 20 80 20'

# The first client has made the warning; here are the second ones.
calls 4005 && calls 6002
twice() { [ "$(grep -cF "closed: the client broke the RDMA protocol: looks like RPC over TCP" b.log)" -gt 1 ]; }
check "another client of a wrong transport has its line" wait_for 30 twice
check "… but no second warning" warned b down "$over_tcp"

calls 4006
check "a proxy whose server is down is heard by the one before it" says a to-down 'it rejects: "its server refuses the connection"'
calls 4007
check "… which rejects all clients from here" says a to-denying 'it rejects: "your address is not allowed"'
calls 4008
check "… whose server has no address" says a to-nameless 'it rejects: "the name of its server cannot be resolved"'
check "… and says in its own log which name" says b nameless 'its name "secret.example" cannot be resolved'
check "but does not show it to others" not grep -F secret.example a.log

check "a server that is silent over TCP" says a to-silent "$wrong"
finish

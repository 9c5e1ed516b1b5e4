#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a TCP client gets before, during and after the TLS handshake, case by case as rpcrdma-proxy(8) has it, and where the
# daemon shows it. The client and the server are Python's.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
. "$E2E_SRC/tls_peers.sh"
BACK_PORT=3049

authority ca && authority foreign || bail "openssl makes no authority"
certificate proxy ca DNS:proxy.example,IP:127.0.0.1
certificate client ca DNS:client.example,DNS:host.clients.example
certificate other ca DNS:other.example
certificate address ca IP:127.0.0.9
certificate third ca DNS:third.example
certificate expired ca DNS:client.example -30 -1
certificate early ca DNS:client.example 2 30
certificate stranger foreign DNS:client.example
[ -s stranger.pem ] && [ -s early.pem ] || bail "openssl makes no certificates: $(tail -n 5 openssl.log)"
fingerprint=$(openssl x509 -in other.pem -noout -fingerprint -sha256 | sed 's/.*=//; s/://g')

# one NAME PORT POLICY [KEYS]
one() { service "$1" "tcp://127.0.0.1:$2" "tcp://127.0.0.1:$BACK_PORT" "source_port = \"any\"; $(tls_keys proxy "$3") ${4:-}"; }
ca="tls_ca_file = \"$T/ca.pem\";"
cat >a.conf <<-END
	control = "$T/a.sock"; workers = 2; http_listen = "127.0.0.1:9180";
	services = (
	$(one required 5001 required),
	$(one allowed 5002 allowed),
	$(service clear tcp://127.0.0.1:5003 "tcp://127.0.0.1:$BACK_PORT" 'source_port = "any";'),
	$(one verified 5004 required "$ca tls_verify_client = \"required\";"),
	$(one optional 5005 required "$ca tls_verify_client = \"optional\";"),
	$(one named 5006 required "$ca tls_verify_client = \"required\";
		tls_client_names = [ \"*.clients.example\", \"127.0.0.9\", \"sha256:$fingerprint\" ];"),
	$(one behind 5007 required 'accept_proxy_from = [ "127.0.0.1" ];')
	);
END
check "the file is without mistake" "$PROXY" -t -c a.conf
start_tls_server server $BACK_PORT --kind plain
start a "$PROXY" -c a.conf
serves a 5001 5007 || bail "the proxy does not start"

# says TEXT...: a line of the log has all of them, soon
has_line() {
	local lines

	lines=$(<a.log)
	for text; do lines=$(grep -F -- "$text" <<<"$lines") || return 1; done
}
says() { wait_for 20 has_line "$@"; }

# ---------------------------------------------------------------- Calls in clear

gets "required: Calls in clear are refused, NULL too, and the connection stays" \
	"null: AUTH_TOOWEAK; null: AUTH_TOOWEAK; echo: AUTH_TOOWEAK; mount: $STARTS, $SECURE; echo: SUCCESS" \
	5001 null null echo=100 mount echo=100
check "… and none of them has come to the server" [ "$(grep -c 'call ' server.log)" = 1 ]
gets "allowed: they are forwarded" "null: SUCCESS; echo: SUCCESS" 5002 null echo=100
gets "allowed: the probe can come after them" "null: SUCCESS; mount: $STARTS, $SECURE; null: SUCCESS" 5002 null mount null
check "… and the log says so after the line that says open" says "[allowed#" "encrypted from now on, TLS from the client"
gets "allowed: a probe is refused while another Call is in flight" \
	"held: SUCCESS AUTH_REJECTEDCRED; mount: $STARTS, $SECURE; null: SUCCESS" 5002 held mount null
gets "off: the probe is refused, and Calls are forwarded" "probe: AUTH_REJECTEDCRED; echo: SUCCESS" 5003 probe echo=100

# ---------------------------------------------------------------- the probe

for port in 5001 5002; do
	gets "$port: AUTH_TLS in a Call that is not NULL" "ask: AUTH_BADCRED; mount: $STARTS, $SECURE" $port ask=proc:1,flavour:7 mount
	gets "$port: a probe with a credential's body" "ask: AUTH_BADCRED; mount: $STARTS, $SECURE" $port ask=flavour:7,body:4 mount
	gets "$port: a probe with another verifier" "ask: AUTH_BADVERF; mount: $STARTS, $SECURE" $port ask=flavour:7,vflavour:1 mount
	gets "$port: a probe whose verifier has a body" "ask: AUTH_BADVERF; mount: $STARTS, $SECURE" $port ask=flavour:7,verifier:4 mount
	gets "$port: a probe with arguments" "ask: GARBAGE_ARGS; mount: $STARTS, $SECURE" $port ask=flavour:7,args:4 mount
	for what in proc:1 body:4 vflavour:1 verifier:4 args:4; do
		gets "$port: AUTH_TLS and $what, inside TLS" "ask: AUTH_BADCRED; null: SUCCESS" $port quick ask=flavour:7,$what null
		gets "5003: $what with TLS off" "ask: AUTH_REJECTEDCRED; null: SUCCESS" 5003 ask=flavour:7,$what null
	done
	gets "$port: a second probe, inside TLS, and the connection stays" "mount: $STARTS, $SECURE; probe: AUTH_BADCRED; echo: SUCCESS" \
		$port mount probe echo=100
done
gets "TLS without a probe is closed" "closed: * after 0 s" 5001 hello closed
check "… and the log names TLS, and the probe" says "[required#" "(TLS): RPC-with-TLS begins with a probe"
gets "allowed: also there" "closed: * after 0 s" 5002 hello closed
gets "a Call that follows the probe in clear ends it" "probe+: $STARTS; closed: * after 0 s" 5001 probe+=8000002800000001000000000000000200018663000000040000000000000000000000000000000000000000 closed
check "… for that reason" says "required" "TLS"
gets "a PROXY header comes before the probe" "mount: $STARTS, $SECURE; echo: SUCCESS" \
	--proxy 127.0.0.77:777 5007 mount echo=100

# ---------------------------------------------------------------- the handshake

gets "the client checks the proxy's name" "mount: $STARTS, failed: certificate_verify_failed" --name wrong.example 5001 mount
check "… which the log says" says "required" "alert"
gets "… and its address" "mount: $STARTS, $SECURE" --name 127.0.0.1 5001 mount
gets "a client of TLS 1.2" "mount: $STARTS, failed: alert protocol_version" --version 1.2 5001 mount
gets "a client without ALPN, as Linux and FreeBSD have, is served" "mount: $STARTS, TLSv1.3 None; echo: SUCCESS" \
	--alpn "" 5001 mount echo=100
gets "a client with another ALPN" "mount: $STARTS, failed: alert no_application_protocol" --alpn h2 5001 mount

# ---------------------------------------------------------------- certificates of clients

# as NAME: the options of a client with that certificate
as() { echo "--cert $1.pem --key $1.key"; }
good="mount: $STARTS, $SECURE; echo: SUCCESS"
# bad WHAT ALERT LOGGED ARGUMENT...: the server ends the handshake, which a TLS 1.3 client sees when it reads. The alert is
# lost where the client's Call arrives before the connection closes, as the kernel resets that then; so it sends none.
bad() {
	local what=$1 alert=$2 logged=$3

	gets "$what" "mount: $STARTS, $SECURE; closed: alert $alert after 0 s" "${@:4}" mount closed
	gets "… and no Call of it is answered" "mount: $STARTS, $SECURE; echo: ended: @(reset|alert $alert)" "${@:4}" mount echo=100
	check "… and the log says why" says "$logged"
}
# shellcheck disable=SC2046
{
	gets "required: a client with a certificate" "$good" $(as client) 5004 mount echo=100
	check "… which the log names" says "verified" "TLS from client.example"
	bad "required: one without" certificate_required "no certificate" 5004
	bad "required: one of a foreign authority" unknown_ca "authority" $(as stranger) 5004
	bad "required: an expired one" certificate_expired "expired" $(as expired) 5004
	bad "required: one that is not valid yet" "*certificate*" "not valid yet" $(as early) 5004
	gets "optional: a client without a certificate" "$good" 5005 mount echo=100
	gets "optional: one with" "$good" $(as client) 5005 mount echo=100
	bad "optional: one of a foreign authority" unknown_ca "authority" $(as stranger) 5005
	gets "names: a wildcard" "$good" $(as client) 5006 mount echo=100
	check "… by the name that the rule has" says "named" "TLS from host.clients.example"
	gets "names: an address" "$good" $(as address) 5006 mount echo=100
	check "… by that address" says "named" "TLS from 127.0.0.9"
	gets "names: a fingerprint" "$good" $(as other) 5006 mount echo=100
	bad "names: none of them" "*" "tls_client_names" $(as third) 5006
}

# ---------------------------------------------------------------- data

for size in 4 16000 16384 70000 1000000; do
	gets "$size bytes there and back" "echo: SUCCESS" 5001 quick echo=$size
done
gets "many at a time" "echoes: SUCCESS" 5001 quick echoes=40:200000
gets "records of one byte" "bits: SUCCESS; echo: SUCCESS" 5001 quick bits=400 echo=70000
gets "segments of one byte" "dribble: SUCCESS; echo: SUCCESS" 5001 quick dribble=3000 echo=70000
gets "Calls one after the other in a segment" "nulls: SUCCESS SUCCESS SUCCESS SUCCESS" 5001 quick nulls=4
gets "close_notify is answered by close_notify" "null: SUCCESS; closed: close_notify after 0 s" 5001 quick null notify closed

# ---------------------------------------------------------------- where the daemon shows it

# shellcheck disable=SC2046
start_tls_client shown $(as client) --from 127.0.0.4:771 5004 quick null say=ready stay
wait_for 20 grep -q ready shown.log || bail "no client is served: $(cat shown.log)"
start_tls_client clear 5002 null say=ready stay
wait_for 20 grep -q ready clear.log || bail "no client is served: $(cat clear.log)"
# leg SERVICE MEMBER: of its connection, in JSON
leg() { ctl a -j connections | jq -r ".connections[] | select(.service == \"$1\") | .client.tls${2:-}"; }
check "connections -j: the version" is "$(leg verified .version)" 1.3
check "… the name in the certificate" is "$(leg verified .peer_name)" client.example
check "… that an authority has signed it" is "$(leg verified .verified)" true
check "… and the cipher" eval '[[ $(leg verified .cipher) == TLS_* ]]'
check "… and null without TLS" is "$(leg allowed)" null
# shows TEXT ARGUMENT...: the output of a command has it
shows() { ctl a "${@:2}" >shown.txt; cat shown.txt; grep -qE -- "$1" shown.txt; }
check "connections: TLS" shows '^.* verified  *127\.0\.0\.4:771 TLS ' connections
check "connections ID: version, cipher, name" shows 'TLS  *1\.3, TLS_[A-Z0-9_]*; client\.example, verified' connections 127.0.0.4
check "services: who was refused last, and why" shows 'verified: .* refused: TLS failed; the last was .* not valid yet' services
handshakes() { with_limit 20 curl -s http://127.0.0.1:9180/metrics | sed -n "s/^rpcrdma_proxy_tls_handshakes_total{service=\"$1\",side=\"client\",result=\"$2\"} //p"; }
if command -v curl >/dev/null; then
	check "metrics: good handshakes" [ "$(handshakes verified ok)" -ge 2 ]
	check "… those that failed for the client's certificate" is "$(handshakes verified certificate)" 8
	check "… for the client's alert" is "$(handshakes required rejected)" 1
	check "… for the version or ALPN" is "$(handshakes required protocol)" 3
fi
# shellcheck disable=SC2046
start_tls_client busy $(as client) 5004 quick steady=over
start trace "$CTL" -s a.sock -j trace verified
check "trace -j: the name in the certificate" wait_for 20 grep -q '"client_name": *"client.example"' trace.log
touch over
ends_well busy "… of a client whose Calls are answered"
stop trace KILL
for name in shown clear; do stop $name KILL; done
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Certificates are replaced by a reload while clients write: no connection closes, new ones get the new certificate, and files
# that are wrong are rejected, so that the old certificate stays. Expiry is a problem, a metric and a warning.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
. "$E2E_SRC/tls_peers.sh"
command -v curl >/dev/null || skip_all "curl is not installed"
start_ganesha

# In a chain over TCP: a connects by TLS, and b, whose certificate is replaced, accepts it.
FABRIC=tcp://127.0.0.1
authority ca && authority foreign || bail "openssl makes no authority"
for i in {1..6}; do certificate new$i ca "DNS:b.example,DNS:new$i.example"; done
certificate expired ca DNS:b.example -30 -1
certificate late ca DNS:b.example -30 13
certificate client foreign DNS:a.example
[ -s client.pem ] || bail "openssl makes no certificates: $(tail -n 5 openssl.log)"
# use NAME: the certificate of b from the next reload on
use() { cp "$1.pem" b.pem.new && cp "$1.key" b.key.new && mv b.pem.new b.pem && mv b.key.new b.key; }
use new1
keys_b="$(tls_keys b) tls_ca_file = \"$T/ca.pem\"; tls_verify_client = \"optional\"; source_port = \"any\";"
B_SERVICE=$keys_b B_GLOBAL='http_listen = "127.0.0.1:9180";'
A_SERVICE="tls_connect = \"required\"; tls_ca_file = \"$T/ca.pem\"; tls_server_name = \"b.example\"; source_port = \"any\";"
start_chain

# says STATUS TEXT COMMAND...: its output has the text
says() {
	local status=$1 text=$2

	shift 2
	"$@" >"$T/said" 2>&1
	[ $? = "$status" ] && grep -qF -- "$text" "$T/said" || { cat "$T/said"; return 1; }
}
ids() { ctl b -j connections | jq -r '[.connections[] | select(.service == "nfs") | .id] | sort | join(" ")'; }
# shows NAME: the certificate that a new client gets
shows() { gets "a new client gets $1" "mount: $STARTS, $SECURE; null: SUCCESS" --name "$1.example" $FABRIC_PORT mount null; }

# ---------------------------------------------------------------- under load

start_tls_client old --name new1.example $FABRIC_PORT quick null say=ready wait=go null notify closed
wait_for 20 grep -q ready old.log || bail "no client is served: $(cat old.log)"
# They write, read and compare until they are killed.
for version in three four; do
	url=$V3
	[ $version = three ] || url=$V4
	start $version "$BIN/nfs_client" "$url" hold $version 8m ${#version} 128k
	wait_while 30 'counter b tcp calls_received' grep -q running $version.log || bail "no client is served: $(cat $version.log)"
done
was=$(ids)
for i in {2..6}; do
	use new$i
	check "reload $i" says 0 "" ctl b reload
	shows new$i
	check "… and none else" prints "mount: $STARTS, failed: certificate_verify_failed" \
		tls_client --name new$((i - 1)).example $FABRIC_PORT mount
done
still=$(ids)
check "no connection has closed: $was" [ -n "$was" -a "$was" = "$still" ]
touch go
ends_well old "a client with the first certificate goes on"
check "… and has been answered" grep -qx 'closed: close_notify after 0 s' old.log
passed=$(counter b tcp calls_received)
check "the clients that write go on" wait_for 30 counter_is b tcp calls_received -gt $((passed + 200))
for version in three four; do
	check "… and $version has found each byte as it was" alive $version
	stop $version KILL
done

# ---------------------------------------------------------------- files that are wrong

# stays WHAT TEXT: the reload is rejected for that reason, and new clients get the last good certificate
stays() {
	check "$1: the reload is rejected, and says why" says 1 "$2" ctl b reload
	check "… and that nothing has changed" grep -qF "nothing has changed" said
	check "… and so does the log" wait_for 20 logged b "$2"
	shows new6
}
cp new1.pem b.pem
stays "a certificate that is not the key's" "b.pem"
use expired
stays "an expired certificate" "expired"
use new6
rm b.key
stays "no key" "b.key"
use new6
: >b.pem
stays "an empty file" "b.pem"
use new6
echo "-----BEGIN CERTIFICATE-----" >b.pem
stays "half a file" "b.pem"
use new6
mv ca.pem ca.pem.away
check "no authority: the reload is rejected" says 1 "ca.pem" ctl b reload
mv ca.pem.away ca.pem
check "the right files again" says 0 "" ctl b reload
shows new6

# ---------------------------------------------------------------- expiry

problem() { ctl b -j status | jq -e --arg id "$1" '.problems[] | select(.id == $id)' >/dev/null; }
metric() { with_limit 20 curl -s http://127.0.0.1:9180/metrics | grep -F "rpcrdma_proxy_tls_certificate_expiry_timestamp_seconds{service=\"nfs\"} " | cut -d ' ' -f 2; }
expiry() { date -d "$(openssl x509 -in "$1" -noout -enddate | cut -d = -f 2)" +%s; }
# expires_then NAME: the metric says when its certificate does
expires_then() { [ "$(printf %.0f "$(metric)")" = "$(expiry "$1.pem")" ]; }

check "no certificate expires soon" not problem certificate_expires
check "the metric says when one does" expires_then new6
use late
check "one that expires in 13 days is taken" says 0 "" ctl b reload
check "… and a problem" wait_for 20 problem certificate_expires
check "… which the log says" wait_for 20 logged b "expires"
check "… and the metric" expires_then late
check "-t warns of it" says 0 "expires" "$PROXY" -t -c b.conf
certificate soon ca DNS:b.example -1 +20s
use soon
check "one that expires in seconds is taken" says 0 "" ctl b reload
check "… and a problem once it has expired" wait_for 60 problem certificate_expired
gets "… then clients do not take it" "mount: $STARTS, failed: certificate_verify_failed" --name b.example $FABRIC_PORT mount
use new6
check "a new one ends that" says 0 "" ctl b reload
check "… and the problem" wait_for 20 not problem certificate_expired
check "-t does not take an expired one" eval 'use expired; not "$PROXY" -t -c b.conf >said 2>&1; grep -q expired said'
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Hostile peers of TLS: plain text after the probe, half a handshake, silence, floods, bad records, long certificates, and
# thousands of silent ones. Each is closed in time, and another connection of the service is served all the while.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
. "$E2E_SRC/tls_peers.sh"
BACK_PORT=3049 MANY=3000
[ -z "${E2E_SANITIZED:-}" ] || MANY=600
ulimit -n $((MANY * 3 + 500)) || skip_all "too few descriptors"

authority ca || bail "openssl makes no authority"
certificate proxy ca DNS:proxy.example
# names BYTES: names for a certificate that is about so long
names() { awk -v bytes="$1" 'BEGIN { for (n = 0; n < bytes; n += 110) printf "%sDNS:%0100d.example", n ? "," : "", n }'; }
certificate long ca "$(names 40000)"
certificate huge ca "$(names 130000)"
[ -s huge.pem ] || bail "openssl makes no certificates: $(tail -n 5 openssl.log)"
ca="tls_ca_file = \"$T/ca.pem\"; tls_verify_client = \"optional\";"
cat >a.conf <<-END
	control = "$T/a.sock"; workers = 2; http_listen = "127.0.0.1:9180";
	services = (
	$(service secure tcp://127.0.0.1:5001 tcp://127.0.0.1:$BACK_PORT "source_port = \"any\"; $(tls_keys proxy) $ca")
	);
END
start_tls_server server $BACK_PORT --kind plain
start a "$PROXY" -c a.conf
serves a 5001 || bail "the proxy does not start"
idle=$(descriptors a)

start_tls_client neighbour --from 127.0.0.2 5001 quick say=ready steady=over null
wait_for 20 grep -q ready neighbour.log || bail "no client is served: $(cat neighbour.log)"

probe="probe: $STARTS"
ten="closed: @(end|reset|truncated|alert *) after @(9|1[0-9]) s" # within the time that a handshake has
soon="closed: @(end|reset|truncated|close_notify|alert *) after [0-2] s"
shopt -s extglob

# ---------------------------------------------------------------- instead of a handshake

gets "plain text after the probe" "$probe; $soon" 5001 probe "text=GET / HTTP/1.1" closed
gets "a NULL Call after the probe's Reply" "$probe; $soon" 5001 probe \
	hex=8000002800000001000000000000000200018663000000040000000000000000000000000000000000000000 closed
gets "an alert instead of a ClientHello" "$probe; $soon" 5001 probe hex=15030300020100 closed
gets "application data instead of a ClientHello" "$probe; $soon" 5001 probe record=100 closed
gets "data behind a ClientHello, as if they were early data" "$probe; $soon" 5001 probe hello record=100 closed
gets "a ClientHello of random bytes" "$probe; $soon" 5001 probe "hex=1603010200010001fc0303$(openssl rand -hex 506)" closed
gets "a handshake message of 16 MiB" "$probe; $soon" 5001 probe "hex=160301400001fffffc$(printf %032760d 0)" \
	"flood=1603014000$(printf %032768d 0):640" closed
gets "empty records without end" "$probe; $soon" 5001 probe flood=1603030000:300000 closed
gets "changes of the cipher without end" "$probe; $soon" 5001 probe flood=140303000101:300000 closed
gets "the head of a record of 65,535 bytes" "$probe; $ten" 5001 probe hex=160303ffff closed

# ---------------------------------------------------------------- in the middle of one

start_tls_client silence 5001 probe closed
start_tls_client half 5001 probe part=-40 closed
start_tls_client head 5001 probe hex=160301 closed
start_tls_client slow 5001 probe slow=0.1 closed
start_tls_client stopped 5001 probe part=-40 shut closed
for name in silence half head; do
	ends_well $name "$name: a client that says no more is closed"
	check "… after the time that a handshake has" prints "$probe; $ten" cat $name.log
done
wait "${pid_of[slow]}"
unset 'pid_of[slow]'
check "slow: a handshake of a byte each tenth of a second is ended" grep -q 'slow: ended:' slow.log
ends_well stopped "stopped: one that has ended its stream is closed"
check "… at once" prints "$probe; $soon" cat stopped.log

# ---------------------------------------------------------------- certificates

good="mount: $STARTS, $SECURE; null: SUCCESS"
gets "a certificate of 40 KB" "$good" --cert long.pem --key long.key 5001 mount null
gets "a certificate of 130 KB" "mount: $STARTS, *; null: ended: *" --cert huge.pem --key huge.key 5001 mount null

# ---------------------------------------------------------------- after the handshake

gets "a record that no key has encrypted" "closed: alert bad_record_mac after 0 s" 5001 quick record=100 closed
gets "a record that is too long" "closed: alert *record* after 0 s" 5001 quick record=17000 closed
gets "a second ClientHello, in clear" "closed: alert * after 0 s" 5001 quick hex=1603010200$(printf %01024d 0) closed
gets "a Call in clear" "closed: alert * after 0 s" 5001 quick \
	hex=8000002800000001000000000000000200018663000000040000000000000000000000000000000000000000 closed
gets "the end of the stream without close_notify" "null: SUCCESS; $soon" 5001 quick null shut closed
check "… which the log calls a loss" wait_for 20 logged a "close_notify"

# ---------------------------------------------------------------- many

# From one address 16 handshakes at a time are begun, from 20 in all more than a worker begins. Others are closed, and so is
# a new client while those of 200 addresses wait: it comes back once they are over.
served() { prints "null: SUCCESS" tls_client --from 127.0.0.3 5001 quick null; }
for kind in silent half; do
	for addresses in $([ $kind = silent ] && echo 1 20 200 || echo 20); do
		start $kind-$addresses python3 -B "$E2E_SRC/tls_crowd.py" 5001 $MANY $addresses $kind
		wait_for 60 grep -q ready $kind-$addresses.log || bail "no crowd: $(cat $kind-$addresses.log)"
		if [ $addresses = 200 ]; then
			check "$MANY of them from 200 addresses ($kind): a new client is served soon" wait_for 20 served
		else
			check "$MANY of them from $addresses addresses ($kind): a new client is served at once" served
		fi
		ends_well $kind-$addresses "… and all of them are closed"
		check "… each one" grep -qx "closed $MANY" $kind-$addresses.log
	done
done

# ---------------------------------------------------------------- what is left

touch over
ends_well neighbour "the neighbour was served all the time"
note "$(cat neighbour.log)"
check "no connection is left" wait_for 20 no_connections a
has_released() { ctl a -j status | jq -e '.memory.claimed_bytes == 0' >/dev/null && [ "$(descriptors a)" -le "$idle" ]; }
check "nor memory, nor a descriptor" wait_for 20 has_released
gets "a client is served" "null: SUCCESS" 5001 quick null
finish

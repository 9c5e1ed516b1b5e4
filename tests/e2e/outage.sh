#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server is down for a while, with many clients that keep retrying: the log lines about it, and the control socket.
# OUTAGE_S is the length, CLIENTS the number of clients.
: "${OUTAGE_S:=8}" "${CLIENTS:=100}"
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
start_chain

last() { [ "$(tail -n 1 $T/clients.log)" = "$1" ]; }
# server_is SIDE FILTER: FILTER holds for the server of nfs in `services`
server_is() { ctl "$1" -j services | jq -e ".services[] | select(.name == \"nfs\").server | $2" >/dev/null; }
passed() { ((SECONDS >= $1)); }
# warned SIDE: prints the warnings
warned() { grep -E ' (warning|error): ' "$T/$1.log"; }
# opened SIDE: prints the connections that the log reports as open, one by one or as "N more"
opened() { awk '/ open to / { n++ } / more opened in / { n += $4 } END { print n + 0 }' "$T/$1.log"; }
# holds SIDE REGEX: a warning matches
holds() { warned "$1" | grep -qE "$2"; }

check "the state of an unused server is unknown" server_is a '.state == "unknown"'
start clients rpc_peer "$FRONT_PORT" 0 0 0 outage "$CLIENTS"
wait_for 60 last all || bail "the clients are not served"
check "the server is known to answer" server_is a '.state == "ok" and .error == null and .waiting_clients == 0'
before_a=$(warned a | wc -l) before_b=$(warned b | wc -l)

stop ganesha KILL
down=$SECONDS
wait_for 30 last none || bail "the clients do not see the server go"
wait_for 10 server_is b '.state == "down"'
check "the proxy before it says why it is down" server_is b '.error == "Connection refused" and .attempts_failed > 0'
check "so does the one before that" wait_for 10 server_is a '.state == "down" and .error != null'
check "it says for whom" wait_for 10 server_is a '.waiting_clients > 0'
wait_for $((OUTAGE_S + 60)) passed $((down + OUTAGE_S))
start_ganesha
wait_for 60 last all
check "all $CLIENTS clients are served again" last all
check "the server is known to answer again" server_is a '.state == "ok" and .error == null'

# A server that is down is logged again every minute.
most=$((10 + (SECONDS - down) / 60))
lines_a=$(($(warned a | wc -l) - before_a)) lines_b=$(($(warned b | wc -l) - before_b))
check "$CLIENTS clients and $OUTAGE_S s made $lines_a warnings" test "$lines_a" -le $most
check "and $lines_b where the server is" test "$lines_b" -le $most
opened_a=$(opened a)
check "no failed attempt is logged as open: $opened_a were" test "$opened_a" -le $((4 * CLIENTS))
check "one names service, server and cause" \
	wait_for 10 holds b "nfs: server tcp://127.0.0.1:$NFS_PORT does not answer: Connection refused"
check "one line has the end of the outage, and its duration" \
	wait_for 10 holds b "nfs: server tcp://127.0.0.1:$NFS_PORT answers again after [0-9.]+ s \([0-9]+ attempts? failed\)"
check "where the server is another proxy, too" wait_for 10 holds a "nfs: server iwarp://127.0.0.1:$FABRIC_PORT does not answer: "
check "and the end" wait_for 10 holds a "nfs: server iwarp://127.0.0.1:$FABRIC_PORT answers again after "
note "$(warned a; warned b)"
stop clients KILL
finish

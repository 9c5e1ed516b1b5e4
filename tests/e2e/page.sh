#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The status page in headless Chromium, with traffic through two proxies: it shows its host, the problems, the services,
# the oldest Call, throughput and latency, only from its own answers. E2E_KEEP=DIR keeps its screenshots as page-*.png.
RELAY_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
not_sanitized
command -v chromium >/dev/null || skip_all "Chromium is not installed"
command -v curl >/dev/null || skip_all "curl is not installed"

URL=http://127.0.0.1:9180
look() { with_limit 150 python3 -B "$E2E_SRC/browser.py" $URL/ $T/look "$1"; }
is_picture() { [ "$(head -c 4 "$T/look/page-$1.png" | tail -c 3)" = PNG ] && cp "$T/look/page-$1.png" $T; }
dom_has() { grep -oE -- "$1" $T/look/dom.html | head -n 5; grep -qE -- "$1" $T/look/dom.html; }
# first_is WHAT: the first item below the page's head
first_is() { tr -d '\n' <$T/look/dom.html | sed 's/.*<main>//' >$T/main.html && grep -qE -- "^$1" $T/main.html; }
is_json() { with_limit 10 curl -s $URL/api/"$1".json | jq -e "$2"; }
policy() { with_limit 10 curl -s -D - -o /dev/null $URL/ | grep -i '^content-security-policy:'; }

# traffic: makes reads, writes, and slow READs through a relay, until it is killed
traffic() {
	while nfs_client "$V3" write file 3m 3 && nfs_client "$V3" verify file 3m 3 && nfs_client "$V4" verify file 3m 3; do
		nfs_client "$V3" verify nothing 3m 3
		pause 0.1
	done
}

A_GLOBAL='http_listen = "127.0.0.1:9180";'
start_ganesha
start relay "$BIN/delay_relay" $RELAY_PORT $NFS_PORT 3000
wait_for 10 listens $RELAY_PORT || bail "no relay"
more_a() {
	service slow "tcp://127.0.0.1:12060" "tcp://127.0.0.1:$RELAY_PORT"
	echo ,
	# Nothing listens at its server, which the proxy detects without a client.
	service dead "tcp://127.0.0.1:12061" "tcp://127.0.0.1:9" "probe_interval_s = 1;"
}
A_MORE=more_a
start_chain
traffic >$T/traffic.log 2>&1 &
pid_of[traffic]=$!
slow() { while :; do timed_reads "nfs://127.0.0.1/export?version=3&nfsport=12060&mountport=$FRONT_MNT" file 50 4096 2; pause 0.1; done; }
slow >$T/slow.log 2>&1 &
pid_of[slow]=$!
has_slow() { ctl a -j connections | jq -e '[.connections[] | select(.service == "slow" and .oldest_call_age_s > 1)] | length > 0'; }
check "there is a Call that takes long" wait_for 30 has_slow

check "status is there as JSON" is_json status '.schema == 1 and .version != null and .host == "'"$(uname -n)"'" and .memory.limit_bytes > 0'
check "so are services" is_json services '.services | length == 4'
check "and latency" is_json latency '.services.nfs.operations.READ.calls > 0'
check "and connections, the oldest Call first" is_json connections \
	'.schema == 1 and (.connections | length) > 0 and ([.connections[].oldest_call_age_s // -1] | . == (sort | reverse))'
check "the page takes scripts, styles and answers from itself alone" eval \
	"policy | grep -q \"default-src 'none'.*connect-src 'self'\""
check "nothing in it names another host" not grep -E 'https?://' <(grep -v createElementNS "$E2E_SRC/../../daemon/http/page.html")
check "nothing is put into it as HTML" not grep -E 'innerHTML|outerHTML|insertAdjacent|document\.write|eval\(' "$E2E_SRC/../../daemon/http/page.html"

# A problem of the daemon that lasts while the page is open.
echo 'lisen = 1;' >>$T/a.conf
check "a reload is rejected" not ctl a reload
is_down() { ctl a -j status | jq -e '.problems[] | select(.id == "server_down" and .service == "dead")'; }
check "a server that refuses connections is a problem" wait_for 30 is_down

mkdir $T/look
check "Chromium shows it in widths from 1280 to 320 pixels, nothing scrolls sideways, and the focus stays" look 12
check "nothing went wrong in it" test ! -s $T/look/console.txt
check "its title has the number of problems and the host" dom_has "<title>\([1-9][0-9]*\) $(uname -n) – rpcrdma-proxy</title>"
check "its head has the host" dom_has "<h1 id=\"host\">rpcrdma-proxy on $(uname -n)</h1>"
check "the problem is above all else, in words, with its cause" first_is \
	'<section [^>]*id="problems-section">.{0,80}<ul id="problems"><li data-id="server_down"><span class="state bad">dead: server tcp://127.0.0.1:9 is down[^<]*refused'
check "… and with what to do" dom_has '<span class="cure">What to do: [^<]*rpcrdma-proxyctl check dead'
check "the problem of the daemon is there" dom_has '<li data-id="reload_rejected"><span class="state warn">reload rejected [^<]*lisen'
check "… with what to do" dom_has '<span class="cure">What to do: a restart would load that file'
check "throughput is plotted to servers" dom_has '<path d="M[0-9. ]+[^"]*L[0-9. ]+[^"]*" class="plot to-servers"'
check "… and to clients" dom_has '<path d="M[0-9. ]+[^"]*L[0-9. ]+[^"]*" class="plot to-clients"'
check "… and shown in numbers" dom_has 'to servers [0-9.]+ [KM]?i?B/s.*to clients [0-9.]+ [KM]?i?B/s'
check "errors are a share of the Calls" dom_has '>[0-9.]+ % NOENT<'
check "the services are there" dom_has '<td class="" data-label="Name">nfs</td>'
check "… and what is known of their server" dom_has 'class="state good"[^>]*>answers'
check "the slow service's Call is there, with its stage" dom_has '<td class="" data-label="Service">slow</td>'
check "… and its stage" dom_has '<td class="" data-label="Stage">server</td>'
check "a line is plotted" dom_has '<path d="M[0-9. ]+[^"]*L[0-9. ]+[^"]*" class="plot c[0-5]"'
check "READ is among the operations" dom_has 'data-key="READ"'
check "the stages are drawn" dom_has '<title>server: [0-9,]+ took less than'
check "no poll has failed" dom_has 'id="lost" role="status" hidden'
for name in light dark narrow phone; do
	check "it was seen: $name" is_picture $name
done
# From an alert to the client: the three commands of the manual.
reads_slowly() { ctl a connections >$T/connections.out && grep -E '^ *[0-9]+ +slow .*[1-9] s +READ server$' $T/connections.out; }
ctl a status >$T/status.out
check "status: the server has the slow one's Calls for long" grep -qE '^slow .* s +server ' $T/status.out
ctl a latency slow >$T/latency.out
check "latency: READ takes seconds, and so does the server" grep -E '^  READ .* ([2-9]|[1-9][0-9]+)(\.[0-9])? s .*([2-9]|[1-9][0-9]+)(\.[0-9])? s' $T/latency.out
check "connections: whose it is, which operation, and where" wait_for 20 reads_slowly
note "$(cat $T/status.out $T/latency.out $T/connections.out)"
for name in slow traffic relay; do stop $name KILL; done
finish

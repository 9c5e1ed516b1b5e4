#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The HTTP listener: access control, health and readiness, reloads of its keys. Peers that send invalid or incomplete
# HTTP, or open forty connections, do not stop the main loop.
HTTP_PORT=9180 OTHER_PORT=9181
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
command -v curl >/dev/null || skip_all "curl is not installed"

raw() { with_limit 60 python3 -B "$E2E_SRC/http_raw.py" "${PORT:-$HTTP_PORT}" "$1"; }
# page PATH [CURL-OPTIONS]: gets it into $T/page and $T/head
page() { local path=$1; shift; with_limit 20 curl -s -D $T/head -o $T/page "$@" "http://127.0.0.1:${PORT:-$HTTP_PORT}$path"; }
# gives STATUS PATH [CURL-OPTIONS]: compares the status
gives() {
	local status=$1

	shift
	page "$@" && head -n 1 $T/head | grep -q "^HTTP/1.1 $status "
}
says() { cat $T/page; grep -qE -- "$1" $T/page; }
has_header() { cat $T/head; grep -qi -- "^$1" $T/head; }
# sockets: prints the number of the proxy's sockets
sockets() { ls -l "/proc/${pid_of[a]}/fd" | grep -c socket:; }
# reload_with A_GLOBAL: reloads with these keys
reload_with() { A_GLOBAL=$1; proxy_config a >$T/a.conf; ctl a reload; }
not_valid() { A_GLOBAL=$1; proxy_config a >$T/bad.conf; not "$PROXY" -t -c $T/bad.conf && "$PROXY" -t -c $T/bad.conf 2>&1 | grep -E -- "$2"; }

check "a host's name has no port" not_valid 'http_hosts = [ "proxy.example.net:9180" ];' 'http_hosts: write the name alone, without http:// and port'
check "beyond loopback -t requires http_allow" not_valid 'http_listen = "0.0.0.0:9180";' 'bad.conf:3: http_listen is not a loopback address: list the allowed clients'
check "a name is no address" not_valid 'http_listen = "localhost:9180";' 'http_listen is "localhost:9180", but must be ADDRESS:PORT'
check "nor is one without a port" not_valid 'http_listen = "[::1]";' 'must be ADDRESS:PORT'

start nobody "$BIN/delay_relay" $NFS_PORT 9 0
start mount "$BIN/delay_relay" $MNT_PORT 9 0
serves nobody $NFS_PORT || bail "no server"
A_GLOBAL='http_listen = "127.0.0.1:9180"; http_allow = [ "127.0.0.1" ]; http_hosts = [ "metrics.example.net" ];'
start_chain
check "the log says where it is" wait_for 10 logged a 'metrics and status are at http://127.0.0.1:9180/'
idle=$(sockets)
check "health" gives 200 /healthz
check "is ok" says '^ok$'
check "the answer allows no scripts" has_header "Content-Security-Policy: default-src 'none'"
check "HEAD gets no body" eval 'gives 200 /healthz -I && [ ! -s $T/page -o "$(cat $T/page)" = "$(cat $T/head)" ] && has_header "Content-Length: 3"'
check "a page that is not there" gives 404 /nothing
check "another method" gives 405 /healthz -X DELETE
check "gets the allowed methods" has_header 'Allow: GET, HEAD'
check "a client that is not allowed" gives 403 /healthz --interface 127.0.0.2
check "gets the reason" says 'http_allow'
check "and the log" wait_for 10 grep -q 'http: refused 127.0.0.2:[0-9]*' $T/a.log

check "ready" gives 200 /readyz
check "a service is ready" gives 200 /readyz/nfs
check "and so is any" gives 200 '/readyz?any'
check "a service that is not there" gives 404 /readyz/nothing
check "which it says" says '^there is no such service$'
ctl a drain nfs >/dev/null
check "not while a service is drained" gives 503 /readyz
check "which it says" says '^service nfs is drained$'
check "nor is that service" gives 503 /readyz/nfs
check "the other one is" gives 200 /readyz/mount
check "and so is any" gives 200 '/readyz?any'
check "which names the one that is not" eval "says '^ok$' && says '^service nfs is drained$'"
ctl a target mount "$FABRIC:$FABRIC_MNT" down >/dev/null
check "none is while the other has no server" gives 503 '/readyz?any'
check "which it says of both" eval "says '^service nfs is drained$' && says '^service mount has no usable server'"
ctl a resume nfs >/dev/null
check "any is ready again" gives 200 '/readyz?any'
check "not while a service has no server" gives 503 /readyz
check "which it says" says '^service mount has no usable server'
check "nor is that service" gives 503 /readyz/mount
ctl a target mount "$FABRIC:$FABRIC_MNT" up >/dev/null
check "ready again" gives 200 /readyz

check "a question for another host is refused" raw hosts
check "the log has the refused host" wait_for 10 grep -q 'http: refused 127.0.0.1:[0-9]*: requested host "evil.example" is not this host; if it is, add it to http_hosts' $T/a.log
page /metrics
check "and counted" says '^rpcrdma_proxy_http_.*"421".* 6$'
check "a quotation mark in the Host is not the end of it" gives 421 /healthz -H 'Host: a"b'
check "… in the log either" wait_for 10 grep -q 'requested host "a%22b" is not this host' $T/a.log
page /healthz -H 'Host: evil.example'
check "by its name" has_header 'HTTP/1.1 421 Misdirected Request'
check "a client that ends its sending side behind the request is answered" raw ended
for case in garbage lines body huge half drops pipelined gone together; do
	check "hostile: $case" raw $case
done
ticks() { awk '{ print $14 + $15 }' "/proc/${pid_of[a]}/stat"; }
is_idle() { [ "$(sockets)" = "$idle" ]; }
check "nothing is left of them" wait_for 10 is_idle
before=$(ticks)
check "hostile: endless" raw endless
check "which takes less than a second of processor time" test $(($(ticks) - before)) -lt 100
note "$(($(ticks) - before)) ticks"
# crowded CASE MOST: of sixty silent connections MOST are accepted, the main loop continues, and a request is answered
crowded() {
	local pid

	coproc crowd { raw "$1" 2>$T/crowd.err; }
	pid=$crowd_PID
	read -r -u "${crowd[0]}" _
	check "$1: of sixty that say nothing $2 are in" wait_for 5 eval "[ \$((\$(sockets) - idle)) -le $2 ]"
	check "the main loop continues" with_limit 2 "$CTL" -s $T/a.sock status
	echo go >&"${crowd[1]}"
	wait "$pid"
	check "and another one has its turn" [ $? = 0 ]
	note "$(cat $T/crowd.err)"
	check "nothing is left of them either" wait_for 10 is_idle
}
crowded crowd 32
crowded strangers 4

# A worker hangs, so nothing can be collected from it.
worker=$(grep -l worker-0 /proc/"${pid_of[a]}"/task/*/comm | cut -d / -f 5)
start stopped python3 "$E2E_SRC/stop_thread.py" "$worker"
check "health is not, while a worker does not turn" wait_for 30 gives 503 /healthz
check "which it says" says '^worker 0 is not responding$'
for case in waiting leaving; do
	check "hostile: $case" raw $case
	note "$(cat $T/check.out)"
done
check "and still gets an answer" gives 503 /healthz
stop stopped KILL
check "it turns again" wait_for 10 gives 200 /healthz
check "and metrics are there" gives 200 /metrics
check "nothing is left of them" wait_for 10 is_idle

# Without a free descriptor the connection waits, and so does the main thread.
fds=0
while [ -e "/proc/${pid_of[a]}/fd/$fds" ]; do fds=$((fds + 1)); done
limit=$(prlimit --pid "${pid_of[a]}" --nofile --noheadings --output HARD | xargs)
prlimit --pid "${pid_of[a]}" --nofile="$fds:$limit"
waiting=$SECONDS
exec {silent}<>/dev/tcp/127.0.0.1/$HTTP_PORT
check "without a descriptor it is said" wait_for 5 grep -q 'http: cannot accept connections: Too many open files' $T/a.log
before=$(ticks)
pause 3
check "the main thread does not spin" test $(($(ticks) - before)) -lt 30
prlimit --pid "${pid_of[a]}" --nofile="$limit:$limit"
check "with descriptors it continues" gives 200 /healthz
check "it was said once a second at most" test "$(grep -c 'http: cannot accept' $T/a.log)" -le $((SECONDS - waiting + 2))
exec {silent}>&-
check "nothing is left of it" wait_for 10 is_idle

# An answer for many services, longer than the kernel's socket buffer.
servers=$(printf ', "tcp://127.0.0.1:%d"' $(seq 3777 3791))
services=$(printf ', { name = "s%d"; listen = "tcp://127.0.0.1:%d"; connect = [ '"${servers#, }"' ]; }' $(for i in $(seq 50); do echo $i $((21000 + i)); done))
printf 'control = "%s"; workers = 1; http_listen = "127.0.0.1:%s"; services = ( %s );\n' $T/many.sock $OTHER_PORT "${services#, }" >$T/many.conf
start many "$PROXY" -c $T/many.conf
wait_for 20 ctl many status || bail "proxy many does not start"
high_kib() { awk '/^VmHWM/ { print $2 }' "/proc/${pid_of[many]}/status"; }
PORT=$OTHER_PORT
check "a long answer" gives 200 /metrics
before=$(high_kib)
check "hostile: flooding" raw flooding
check "which takes little memory" test $(($(high_kib) - before)) -lt 65536
note "$(($(high_kib) - before)) KiB, answers of $(stat -c %s $T/page) bytes"
PORT=
stop_proxy many

start other "$BIN/delay_relay" $OTHER_PORT 9 0
serves other $OTHER_PORT
check "a reload to a port that is in use is refused" not reload_with "http_listen = \"127.0.0.1:$OTHER_PORT\";"
check "the user of the reload gets the reason" eval "ctl a reload 2>&1 | grep -q 'http_listen: cannot listen on 127.0.0.1:$OTHER_PORT: Address already in use'"
check "the old one goes on" gives 200 /healthz
stop other KILL
check "a reload to one that is free" reload_with "http_listen = \"127.0.0.1:$OTHER_PORT\";"
PORT=$OTHER_PORT
check "is asked there" gives 200 /healthz
check "and no more where it was" not listens $HTTP_PORT
check "http_allow is what the file says now" gives 200 /healthz --interface 127.0.0.2
check "a reload of http_allow alone" reload_with "http_listen = \"127.0.0.1:$OTHER_PORT\"; http_allow = [ \"127.0.0.1\" ];"
check "keeps the listener" gives 200 /healthz
check "and refuses others" gives 403 /healthz --interface 127.0.0.2
check "http_hosts is what the file says now" gives 421 /healthz -H 'Host: metrics.example.net'
check "a reload of http_hosts alone" reload_with "http_listen = \"127.0.0.1:$OTHER_PORT\"; http_allow = [ \"127.0.0.1\" ]; http_hosts = [ \"other.example\" ];"
check "has another name asked for" gives 200 /healthz -H 'Host: other.example'
listen_at() { reload_with "http_listen = \"$1:$OTHER_PORT\"; http_allow = [ \"127.0.0.1\" ];"; }
check "a reload to all addresses, of the same port" listen_at 0.0.0.0
check "is asked there" gives 200 /healthz
# early: a request that began before such a reload is answered. The daemon gives it 5 s; $took_ms passed.
early() {
	local early began

	listen_at 127.0.0.1 || return
	began=$(date +%s%3N)
	exec {early}<>/dev/tcp/127.0.0.1/$OTHER_PORT
	printf 'GET /healthz HTTP/1.1\r\n' >&"$early"
	listen_at 0.0.0.0 && (trap '' PIPE && printf '\r\n' >&"$early") && with_limit 10 head -n 1 <&"$early" | grep 200
	set -- $?
	took_ms=$(($(date +%s%3N) - began))
	exec {early}>&-
	return "$1"
}
# is_early: if the machine is so slow that a try took longer than 5 s, tries again, up to three times
is_early() {
	local took_ms

	for _ in 1 2 3; do
		took_ms=0
		early && return
		((took_ms > 5000)) || return
	done
	return 1
}
check "an earlier request is still answered" is_early
start other "$BIN/delay_relay" $HTTP_PORT 9 0
serves other $HTTP_PORT
check "a reload to where others listen is refused" not reload_with "http_listen = \"127.0.0.1:$HTTP_PORT\";"
check "and back to one of the addresses, with a second fault" not reload_with "http_listen = \"127.0.0.1:$OTHER_PORT\"; workers = 99999;"
check "the old one goes on" gives 200 /healthz
check "a reload without http_listen" reload_with ""
check "ends it" not listens $OTHER_PORT
finish

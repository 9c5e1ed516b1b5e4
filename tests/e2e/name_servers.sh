#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server with a configured name, and name servers that do not answer, fail and recover.
BACK_PORT=3049
CLIENTS=100
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
printf 'nameserver 127.0.0.2\nnameserver 127.0.0.3\n' >resolv.conf
echo 'hosts: files dns' >nsswitch.conf
: >hosts
for file in resolv.conf nsswitch.conf hosts; do
	mount --bind $file /etc/$file || bail "/etc/$file cannot be replaced"
done
# A cache of this machine would answer instead of the name servers.
[ ! -d /run/nscd ] || mount -t tmpfs tmpfs /run/nscd

# name_servers FIRST SECOND: restarts 127.0.0.2 and 127.0.0.3 in these modes
name_servers() {
	local i=1 mode

	for mode in "$@"; do
		stop "ns$i"
		: >"ns$i.log"
		start "ns$i" "$BIN/name_server" 127.0.0.$((i + 1)) "$mode"
		wait_for 10 grep -q ready "ns$i.log" || bail "name server $i does not start"
		i=$((i + 1))
	done
}
queries() { grep -c query "ns$1.log"; }
# asked_seldom SECONDS: both name servers were asked at least once, and at most every 5 s, the time for which answers
# are kept
asked_seldom() {
	local most=$((4 * (1 + $1 / 5)))

	test "$(queries 1)" -ge 2 -a "$(queries 1)" -le $most -a "$(queries 2)" -ge 1 -a "$(queries 2)" -le $most
}

# calls COUNT: COUNT concurrent clients each make a Call, and get a Reply
calls() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 flow "$1" 1 100 0 resume; }
nobody_closed() { counter_is a closes no_address = 0; }

cat >a.conf <<-END
	control = "$T/a.sock";
	workers = 2;
	services = (
$(service files "tcp://127.0.0.1:$FRONT_PORT" "tcp://files.example:$BACK_PORT" 'source_port = "any";')
	);
END
start_a() {
	start a "$PROXY" -c $T/a.conf
	serves a $FRONT_PORT || bail "proxy a does not start"
}

name_servers silent 127.0.0.1
start_a
began=$SECONDS
check "$CLIENTS clients at once are all served, the first of two name servers silent" calls $CLIENTS
check "none was closed for want of an address" nobody_closed
check "both name servers were asked once for all of them: $(queries 1) and $(queries 2) queries" asked_seldom $((SECONDS - began))

# kept_no_more: the next client makes the proxy look up the name again
kept_no_more() {
	local before=$(queries 1)

	calls 1 && [ "$(queries 1)" -gt "$before" ]
}
name_servers silent silent
check "after a while the name is looked up again" wait_for 20 kept_no_more
check "$CLIENTS clients are served while all name servers are silent" calls $CLIENTS
check "none was closed for want of an address" nobody_closed
check "the log says that the old answer is used" \
	wait_for 10 grep -q 'files: DNS lookup of files.example failed (the name server does not respond): using addresses resolved [0-9]* s ago' a.log

stop_proxy a
: >a.log
name_servers fail 127.0.0.1
start_a
check "a name server that fails is passed over" calls 5
name_servers fail fail
check "after a while the name is looked up again" wait_for 20 kept_no_more
check "$CLIENTS clients are served while all name servers fail" calls $CLIENTS
check "none was closed for want of an address" nobody_closed

# A name to listen at, and a reload: only the client that requested the reload waits for name servers.
stop_proxy a
: >hosts
name_servers fail 127.0.0.1
sed "s/tcp:\/\/127.0.0.1:$FRONT_PORT/tcp:\/\/front.example:$FRONT_PORT/" a.conf >named.conf
cp a.conf plain.conf && cp named.conf a.conf
start_a
check "a proxy listens at the addresses of a name" calls 5
echo "127.0.0.1 files.example" >hosts
name_servers silent silent
cp named.conf a.conf && sed -i 's/workers = 2/workers = 2; drain_timeout_s = 29/; s/source_port/stall_timeout_s = 50; source_port/' a.conf
check "while name servers are silent a reload continues with the old addresses" ctl a reload
check "which is logged" wait_for 10 grep -q 'DNS lookup of front.example failed (.*): listening on its last known addresses' a.log
check "and clients are served" calls 5
sed -i 's/front.example/new.example/' a.conf
began=$SECONDS
start waits "$CTL" -s $T/a.sock reload
# served_meanwhile: the reload waits while new clients are served
served_meanwhile() { alive waits && with_limit 4 "$CTL" -s $T/a.sock status >/dev/null && with_limit 10 "$BIN/rpc_peer" "$FRONT_PORT" "$BACK_PORT" 0 0 flow 1 1 100 0 resume && alive waits; }
check "a reload with a still unknown name delays no client" served_meanwhile
check "SIGTERM's handler turns too: the log level can be changed" ctl a log info
waits_over() { ! alive waits; }
check "it ends" wait_for 30 waits_over
wait "${pid_of[waits]}"
check "with an error" test $? = 1
unset "pid_of[waits]"
check "which says why" grep -q 'the name new.example does not resolve: the name servers do not respond' waits.log
check "the service continues" calls 5
cp named.conf a.conf
check "a drained service resumes while they are silent" eval 'ctl a reload && ctl a drain && ctl a resume'
check "and is served" calls 5
cp plain.conf a.conf
: >hosts
name_servers fail fail

# As at boot, before the network is up.
stop_proxy a
start_a
check "a proxy starts whose server's name does not resolve yet" alive a
check "its clients are not served" not calls 1
echo '127.0.0.1 files.example' >hosts
check "once the name resolves they are, without a restart" wait_for 30 calls 1
finish

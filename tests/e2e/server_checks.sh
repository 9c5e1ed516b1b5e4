#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma-proxyctl check: good servers over each available fabric, and bad servers, each with a different message.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
# Its clients use MOUNT by rpcbind; those of the service plain do not; the service wrong connects to rpcbind itself.
B_SERVICE='mount = "rpcbind";'
B_MORE=more_b
more_b() {
	service plain "tcp://127.0.0.1:4301" "tcp://127.0.0.1:$NFS_PORT" 'source_port = "any";'
	echo ","
	service wrong "tcp://127.0.0.1:4302" "tcp://127.0.0.1:111" 'source_port = "any";'
}
start_chain

# checked SIDE SERVICE STATUS: compares the exit status; the output is in check.txt, as JSON in check.json
checked() {
	local status

	ctl "$1" check "$2" >$T/check.txt 2>$T/check.err
	status=$?
	cat $T/check.txt $T/check.err
	ctl "$1" -j check "$2" >$T/check.json 2>/dev/null
	[ $status = "$3" ]
}
# result STEP: prints the result of a step for the first server
result() { jq -r --arg step "$1" '.servers[0].steps[] | select(.step == $step).result' $T/check.json; }
prints() { cat $T/check.txt $T/check.err; grep -qE -- "$1" $T/check.txt $T/check.err; }

for side in b a; do
	name=$(ctl $side -j services | jq -r '.services[0].name')
	mount=$(ctl $side -j services | jq -r '.services[1].name // empty')
	check "$side: $name, which leads to NFS-Ganesha, is good" checked $side "$name" 0
	for step in connect null inline_call long_call long_reply; do
		check "$side: $step" is passed "$(result $step)"
	done
	if [ -n "$mount" ]; then
		check "$side: $mount, which passes MOUNT, is good" checked $side "$mount" 0
		check "$side: and says that it does not serve NFS" prints 'null +passed .* MOUNT; it does not serve NFS'
		check "$side: so nothing of NFS is tried" is "not tried" "$(result inline_call)"
	fi
done
check "a port that answers RPC and has no NFS has failed: status 2" checked b wrong 2
check "… which it says" prints 'null +failed .* it answers RPC, but serves neither NFS nor MOUNT'
check "… and what to do" prints 'what to do: another program listens there: correct the port in connect'
keys() { jq -r 'path(..|select(type != "object" and type != "array")) | map(if type == "number" then "[]" else "." + . end) | add | ltrimstr(".")' | sort -u; }
check "the members of the answer are those of the golden file" \
	diff "$E2E_SRC/../unit/golden/check.keys" <(ctl a -j check nfs | keys)
check "no client was counted" is 0 "$(ctl a -j services | jq '[.services[].connections_total] | add')"
check "nor a Call" counter_is a tcp calls_received = 0
check "a service that is not there: status 3" checked a nothing 3
check "… which is said" prints 'there is no service nothing'
not_checked() { "$@" >$T/check.txt 2>&1; [ $? = 3 ]; }
check "no service: status 3" not_checked ctl a check
check "a socket that is not there: status 3" not_checked "$CTL" -s $T/none.sock check files
check "with --mount there is one step more" eval 'ctl b check nfs --mount >$T/check.txt'
check "by rpcbind and MOUNT" prints "mount +passed .* MOUNT at port $MNT_PORT, [0-9]+ exports?, a handle of /"
check "in JSON, too" eval 'ctl b -j check nfs --mount | jq -e ".servers[0].steps | map(.step) == [\"connect\", \"null\", \"mount\", \"inline_call\", \"long_call\", \"long_reply\"]"'
mounted() { ctl b check "$1" --mount >$T/check.txt 2>&1; [ $? = "$2" ]; }
check "where MOUNT is not at the server, clients of NFSv3 fail: degraded" mounted plain 1
check "… which it says" prints "mount +failed .* MOUNT at the server's port $NFS_PORT: it does not serve MOUNT"
check "… and what to do" prints 'what to do: NFSv3 clients that ask this service for MOUNT fail: set mount = "rpcbind"'
check "through another proxy it is asked at that one" eval 'ctl a check nfs --mount >$T/check.txt'
check "… over its transport" prints "mount +passed .* MOUNT at the server's port $FABRIC_PORT, [0-9]+ exports?, a handle of /"
check "another word: status 3" not_checked ctl b check nfs mount
check "--mount is for check" eval '! ctl b --mount status'

# A server with NFSv3 only.
stop ganesha
sed -i 's/Protocols = 3, 4;/Protocols = 3;/' $T/ganesha.conf
for n in $(seq 200); do : >"$T/export/a-name-to-make-the-directory-long-$n"; done
start ganesha ganesha.nfsd -F -f $T/ganesha.conf -L $T/ganesha.log -p $T/ganesha.pid -N NIV_EVENT
serves ganesha $NFS_PORT $MNT_PORT || bail "NFS-Ganesha does not start"
check "NFSv3 alone: good as far as it goes" checked b nfs 0
check "which is not to a file handle" prints 'inline_call +not tried +.*need a file handle: use --mount'
check "with NFSv3 alone no client mounts where MOUNT is not at the server: failed" mounted plain 2
v3_checked() { ctl "$1" check nfs --mount >$T/check.txt 2>&1; }
for side in b a; do
	check "$side: with --mount it is good" v3_checked $side
	for step in mount inline_call long_call long_reply; do
		check "$side: $step has passed" prints "$step +passed"
	done
done
# Causes that keep a client of NFSv3 from mounting.
stop rpcbind
check "without rpcbind no client would find MOUNT" not v3_checked b
check "which it says" prints 'mount +failed .* rpcbind at port 111: refused by the peer: Connection refused'
start rpcbind rpcbind -f
serves rpcbind 111 || bail "rpcbind does not start again"
check "nor one that is not registered" not v3_checked b
check "which it says, too" prints 'mount +failed .* rpcbind at port 111: MOUNT is not registered'
stop_proxy a
stop_proxy b

# ---------------------------------------------------------------- bad ones

# bad NAME CONNECT PATTERN: a service with a bad server; the output matches PATTERN
bad=() services=()
bad() {
	bad+=("$1|$3")
	local connect="\"$2\""
	[ "${2:0:1}" != "[" ] || connect=$2
	services+=("{ name = \"$1\"; listen = \"tcp://127.0.0.1:$((4000 + ${#bad[@]}))\"; connect = $connect;
		require_privileged_port = false; }")
}
badly() { start "$1" "$BIN/rpc_peer" 0 "$2" 0 0 serve-badly "$3"; }

start silent "$BIN/non_rpc_server" 5001 silent
for port in $(seq 5101 5116); do start "silent-$port" "$BIN/non_rpc_server" "$port" silent; done
start closing "$BIN/non_rpc_server" 5002 closes
start resetting "$BIN/non_rpc_server" 5003 resets
start http "$BIN/non_rpc_server" 5004 says $'HTTP/1.1 400 Bad Request\r\n\r\n'
badly xid 5005 "a Reply with another XID"
badly huge 5006 "a Reply of 2 GiB"
badly random 5007 "random bytes"
badly short 5008 "a Reply without an end"
badly half 5009 "half a Reply and the end of the connection"
serves silent 5001 && serves closing 5002 && serves resetting 5003 && serves http 5004 || bail "a server does not start"
serves xid 5005 && serves huge 5006 && serves random 5007 && serves short 5008 && serves half 5009 ||
	bail "a bad server does not start"

bad tcp-silent tcp://127.0.0.1:5001 'null +failed .* no answer in time$'
bad tcp-closing tcp://127.0.0.1:5002 'null +failed .* peer closed: before answering the first Call'
bad tcp-resetting tcp://127.0.0.1:5003 'null +failed .* connection reset or lost: .*before answering the first Call'
bad tcp-http tcp://127.0.0.1:5004 'null +failed .* does not look like RPC: .*\(HTTP\)'
bad tcp-xid tcp://127.0.0.1:5005 'null +failed .* no answer, but: a Reply without a Call was discarded'
bad tcp-huge tcp://127.0.0.1:5006 'null +failed .* does not look like RPC: the first bytes are ff ff ff f0'
bad tcp-random tcp://127.0.0.1:5007 'null +failed .* does not look like RPC: the first bytes are [0-7]'
bad tcp-short tcp://127.0.0.1:5008 'null +failed .* the Reply breaks the protocol'
bad tcp-half tcp://127.0.0.1:5009 'null +failed .* does not look like RPC: the first bytes are 80 00 0f a0'
bad iwarp-silent iwarp://127.0.0.1:5001 'connect +failed .* set-up timed out: accepts TCP but does not answer as iWARP'
bad iwarp-closing iwarp://127.0.0.1:5002 'connect +failed .* refused by the peer: .* as iWARP: .*\(it closed\)'
bad iwarp-resetting iwarp://127.0.0.1:5003 'connect +failed .* as iWARP: .*\(Connection reset by peer\)'
bad iwarp-http iwarp://127.0.0.1:5004 'connect +failed .* as iWARP: .* The first bytes are .*\(HTTP\)'
bad nobody tcp://127.0.0.1:7000 'connect +failed .* Connection refused'
bad nowhere tcp://192.0.2.1:7000 'connect +failed .* Network is unreachable'
bad nameless tcp://filer.example 'connect +failed .* its name "filer.example" cannot be resolved'
bad one-of-two "[ \"tcp://127.0.0.1:$NFS_PORT\", \"tcp://127.0.0.1:7000\" ]" '^one-of-two: degraded'
# A check of each of these takes 80 s.
silents=$(printf ', "tcp://127.0.0.1:%d"' $(seq 5101 5116))
for n in $(seq 12); do
	services+=("{ name = \"long-$n\"; listen = \"tcp://127.0.0.1:$((4200 + n))\"; connect = [ ${silents:2} ]; }")
done
printf 'control = "%s";\nservices = (\n%s\n);\n' $T/c.sock "$(IFS=,; echo "${services[*]}")" >$T/c.conf
start c "$PROXY" -c $T/c.conf
serves c 4001 || bail "proxy c does not start"
for row in "${bad[@]}"; do
	name=${row%%|*}
	start "check-$name" "$CTL" -s $T/c.sock check "$name"
done
for row in "${bad[@]}"; do
	name=${row%%|*}
	check "$name: the check ends" wait_for 60 has_ended "check-$name"
	check "$name: ${row#*|}" grep -E -- "${row#*|}" "$T/check-$name.log"
	check "$name: and what to do" grep -q '^  what to do: ' "$T/check-$name.log"
	[ "${name%%-*}" != tcp ] ||
		check "$name: by no key of RDMA servers" not grep -E '^  what to do: .*(set peer|peer or ddp|ddp =)' "$T/check-$name.log"
done
is_failed() { "$CTL" -s $T/c.sock check nobody >/dev/null; [ $? = 2 ]; }
is_degraded() { "$CTL" -s $T/c.sock check one-of-two >/dev/null; [ $? = 1 ]; }
check "a server that has failed: status 2" is_failed
check "one of two that has: status 1" is_degraded

# A server with wrong answers is known to be down before a client connects.
asked="name = \"asked\"; listen = \"tcp://127.0.0.1:4100\"; connect = \"tcp://127.0.0.1:5008\"; probe_interval_s = 1;"
printf 'control = "%s";\nservices = ( { %s } );\n' $T/d.sock "$asked" >$T/d.conf
start d "$PROXY" -c $T/d.conf
is_known() { "$CTL" -s $T/d.sock -j services | jq -e '.services[0].server | .state == "down" and .error == "the Reply breaks the protocol"'; }
check "a bad server is known to be down by its probes" wait_for 20 is_known
check "which is said" wait_for 20 grep -q 'does not answer' $T/d.log
stop_proxy d
check "once" [ "$(grep -c 'does not answer' $T/d.log)" = 1 ]

# A second check of the same service during a check; then the daemon ends.
# A check takes 5 s. If the machine is so slow that the second one starts after the end of the first, tries again.
start patient "$CTL" -s $T/c.sock check tcp-silent
start second "$CTL" -s $T/c.sock check tcp-silent
under_way() {
	grep -q 'a check of tcp-silent is under way' $T/patient.log $T/second.log && return
	for name in patient second; do
		alive $name || start $name "$CTL" -s $T/c.sock check tcp-silent
	done
	false
}
check "one at a time" wait_for 20 under_way

# The end of the daemon aborts all checks. Waiting for one takes 80 s, aborting 12 takes 3 s each.
for n in $(seq 12); do
	start long-$n "$CTL" -s $T/c.sock check long-$n
done
all_under_way() { [ "$(ss -Htn state established 'dport >= :5101 and dport <= :5116' | wc -l)" -ge 12 ]; }
all_over() { for name in patient second long-{1..12}; do has_ended $name || return; done; }
check "checks of several services go on at once" wait_for 20 all_under_way
began=$SECONDS
stop_proxy c
check "which the end of the daemon aborts: $((SECONDS - began)) s" test $((SECONDS - began)) -lt 25
check "and their clients get that" wait_for 10 all_over
finish

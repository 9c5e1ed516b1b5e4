#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Three commands of the manual lead from an alert to the client, the operation and the stage. One of two services has a
# slow server, and one client waits for it. The test finds both without other knowledge.
# shellcheck disable=SC2034
RELAY_PORT=3049 BACK_PORT=3049 OTHER_PORT=14049 OTHER_FABRIC=20149 QUICK_PORT=3149
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

A_MORE=other_a B_MORE=other_b
other_a() { service other "tcp://127.0.0.1:$OTHER_PORT" "$FABRIC:$OTHER_FABRIC"; }
other_b() { service other "$FABRIC:$OTHER_FABRIC" "tcp://127.0.0.1:$QUICK_PORT"; }

commands=$(sed -n '/^\.Sh FROM AN ALERT TO ITS CAUSE/,/^\.Sh [^F]/s/^\.Dl rpcrdma-proxyctl //p' "$E2E_SRC/../../man/rpcrdma-proxyctl.8.in")
# said NTH: runs that command of the manual, and measures its time; the output is in $T/out
said() {
	local words

	read -ra words <<<"$(sed -n "$1p" <<<"$commands")"
	ctl a "${words[@]}" >$T/out
	note "\$ rpcrdma-proxyctl ${words[*]}
$(cat $T/out)"
}
# row NAME: prints that row of $T/out with single blanks; has NAME PATTERN: the row matches
row() { grep -E "(^|  )$1 " $T/out | head -n 1 | tr -s ' '; }
has() { row "$1"; row "$1" | grep -qE -- "$2"; }
# reads NAME PORT READS: starts a client that reads repeatedly, until the script stops it
reads() { start "$1" "$BIN/timed_reads" "nfs://127.0.0.1/export?version=3&nfsport=$2&mountport=$FRONT_MNT" file "$3" 4096 2; }
has_a_slow_read() {
	ctl a -j connections |
		jq -e '.connections[] | select(.service == "nfs" and .oldest_call_operation == "READ" and .oldest_call_age_s >= 1)'
}
counts_reads() { ctl a -j latency nfs | jq -e '.services.nfs.operations.READ.calls > 3'; }
# The host's view of the client that waits.
culprit() { ss -Htnp dst "127.0.0.1:$FRONT_PORT" | grep "pid=${pid_of[$1]}," | awk '{ print $4 }'; }

start_ganesha
# The delay is extended on a slow machine, like everything else.
start relay "$BIN/delay_relay" $RELAY_PORT $NFS_PORT "$(limit_s 1500)"
# The other server answers after 10 ms. Otherwise its clients would keep the processors busy.
start quick-relay "$BIN/delay_relay" $QUICK_PORT $NFS_PORT 10
wait_for 10 listens $RELAY_PORT
wait_for 10 listens $QUICK_PORT
start_chain
nfs_client "nfs://127.0.0.1/export?version=3&nfsport=$OTHER_PORT&mountport=$FRONT_MNT" write file 1m 3
check "the manual has three commands" [ "$(wc -l <<<"$commands")" = 3 ]
for i in 1 2 3; do reads "quick-$i" $OTHER_PORT 1000000; done
reads slow $FRONT_PORT 1000000
check "Calls wait" wait_for 60 counts_reads
check "… now" wait_for 20 has_a_slow_read

said 1
check "status: the service, since its Calls take long" has nfs ' [0-9.]+ s [0-9.]+ s '
check "… and the stage in which they do" has nfs ' server (9[0-9]|100)%'
check "… and not the other service" has other ' [0-9.]+ (us|ms) [0-9.]+ (us|ms|s) '
said 2
check "latency: the operation, and the stage" has READ ' [1-9][0-9.]* s ([0-9.]+ .?s|0)$'
check "… of that service alone" eval '! grep -q other $T/out'
third() { said 3 && has nfs " $(culprit slow) open .* [1-9][0-9]* s READ server$"; }
# is_alone: no Call of the other service has waited that long
is_alone() {
	third && awk '$2 == "nfs" { ours = $(NF - 3) + 0 } $2 == "other" && $(NF - 3) + 0 > most { most = $(NF - 3) + 0 } END { exit ours <= most }' $T/out
}
check "connections: the client, its Call and where it is" wait_for 20 third
note "$(cat $T/out)"
check "… which has a name" test -n "$(culprit slow)"
check "… and no other Call waits as long" wait_for 20 is_alone

# Another client has 32 MiB in flight, and reads nothing for 20 s, on an idle machine.
start deaf "$BIN/timed_reads" "nfs://127.0.0.1/export?version=3&nfsport=$OTHER_PORT&mountport=$FRONT_MNT" file 32 1000000 32 "$(limit_s 20000)"
FRONT_PORT=$OTHER_PORT
takes_nothing() {
	ctl a -j connections |
		jq -e '.connections[] | select(.service == "other" and .oldest_untaken_operation == "READ" and .oldest_untaken_age_s >= 1)'
}
check "a client that takes no Replies" wait_for 30 takes_nothing
ctl a connections >$T/out
note "$(cat $T/out)"
check "is found in the same way" eval 'grep " other .* READ client\$" $T/out | grep -F " $(culprit deaf) "'
check "top has it first among the service's" eval 'ctl a -n 1 -d 0.2 --connections top other >$T/out && sed -n 6p $T/out | grep -F " $(culprit deaf) "'
for name in deaf slow quick-1 quick-2 quick-3; do stop $name KILL; done
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma-proxyctl trace: finished RPCs, selected by service, client, operation and time; and clients that do not read.
RELAY_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

says() { grep -qE -- "$1" $T/out; }
refused() { "$@" >$T/out 2>&1; [ $? = 1 ]; }
misused() { "$@" >$T/out 2>&1; [ $? = 2 ]; }
# watch NAME SIDE ARGS...: starts a trace in the background, and waits until the daemon has it
watch() {
	local name=$1 side=$2

	shift 2
	start "$name" "$CTL" -s "$T/$side.sock" trace "$@"
	wait_for 10 test -s "$T/$name.log"
}
# of NAME FILTER: applies FILTER to the lines of a trace as JSON
of() { jq -sr "map(select(.operation)) | $2" "$T/$1.log"; }
# has NAME COUNT: the trace has COUNT lines
has() { [ "$(of "$1" length)" = "$2" ]; }

start_ganesha
start_chain
watch all a -j
watch reads b -j nfs --operation read
watch others a -j --client 10.0.0.0/8
watch text a nfs
watch wide a -a nfs
check "a file is written" nfs_client "$V3" write file 5m 3
check "… and read" nfs_client "$V4" verify file 5m 3
check "… and one that is not there" not nfs_client "$V3" verify nothing 5m 3
calls() { ctl a -j latency | jq '[.services[].operations[].calls] | add'; }
check "each RPC has a line" wait_for 10 eval 'has all "$(calls)"'
check "of the two services" is "$(of all 'map(.service) | unique | join(" ")')" "mount nfs"
check "the sizes of READs are those of the statistics" is "$(of all 'map(select(.operation == "READ") | .reply_bytes) | add')" \
	"$(ctl a -j latency nfs READ | jq '.services.nfs.operations.READ.reply_bytes')"
check "the client is known" is "$(of all 'map(.client_address | sub(":[0-9]+$"; "")) | unique | join(" ")')" 127.0.0.1
check "what was not there is an error" is "$(of all 'map(select(.operation == "LOOKUP" and .error == "NOENT")) | length > 0')" true
check "its stages come to the whole" is "$(of all 'map(select((([.stages_s[]] | add) - .took_s | fabs) > 0.00001)) | length')" 0
check "TCP carries records" is "$(of all 'map(.carried.client.call, .carried.client.reply) | unique | join(" ")')" record
check "short Calls go inline" is "$(of all 'map(select(.operation == "GETATTR") | .carried.upstream.call) | unique | join(" ")')" short
check "the other proxy has the READs alone" is "$(of reads 'map(.operation) | unique | join(" ")')" READ
check "as many" wait_for 10 has reads "$(of all 'map(select(.operation == "READ")) | length')"
check "no RPC of another client is shown" has others 0
check "… and its name has the prefix of its version" is "$(of all 'map(select(.operation == "LOOKUP") | .error_name | strings) | unique | join(" ")')" NFS3ERR_NOENT
check "what was no error has no name" is "$(of all 'map(select(.error == null and .error_name != null)) | length')" 0
check "as text each has a line" wait_for 10 grep -qE '^[0-9:.]{12} +[0-9]+ 127.0.0.1 +READ +[0-9.]+ [mu]?s [a-z]+ [0-9.]+ [mu]?s$' $T/text.log
check "… also an error, by its name" wait_for 10 grep -qE '^[0-9:.]{12} +[0-9]+ 127.0.0.1 +LOOKUP +[0-9.]+ [mu]?s NFS3ERR_NOENT$' $T/text.log
check "… of 80 columns" eval '! awk "length > 80" $T/text.log | grep .'
check "and with -a a longer one" wait_for 10 grep -qE '^[0-9:.]{12} nfs#[0-9]+ +127.0.0.1:[0-9]+ +READ +[0-9]+ bytes +[0-9.]+ [KM]iB  record>' $T/wide.log
note "$(head -n 4 $T/text.log $T/wide.log)"
for name in all reads others text wide; do
	stop $name
done

ctl a trace --seconds 1 >$T/out
check "it ends by itself after some time" says '^TIME \(UTC\) +ID +CLIENT +OPERATION'
check "… and well, which the daemon says at the end" is "$(ctl a trace -j --seconds 1 | tail -n 1)" '{"end":"seconds"}'
# shellcheck disable=SC2016
enough='use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new($ARGV[0]) or die; print $s "trace\n"; $s->flush; shutdown($s, 1); print <$s>'
check "… as it does when it is asked to" is "$(perl -e "$enough" $T/a.sock | tail -n 1)" '{"end":"asked"}'
watch two a -j --count 2
check "more RPCs" nfs_client "$V3" verify file 5m 3
check "… or after some lines" wait_for 10 has_ended two
check "… and not one more" has two 2
check "… and says which it was" is "$(jq -r '.end // empty' $T/two.log)" count

start relay "$BIN/delay_relay" $RELAY_PORT $NFS_PORT 150
wait_for 10 listens $RELAY_PORT
BACK_PORT=$RELAY_PORT
stop_proxy b
stop_proxy a
start_chain
watch slow a -j --slower 100ms
check "a server that takes 150 ms" nfs_client "$V3" verify file 5m 3
check "slow RPCs are shown" wait_for 10 eval '[ "$(of slow length)" -gt 0 ]'
check "… and in which stage" is "$(of slow 'map(select(.operation == "READ" and .stages_s.server < 0.1)) | length')" 0
stop slow

# A client that does not read, next to one that does.
stop_proxy b
stop_proxy a
BACK_PORT=$NFS_PORT
start_chain
watch reader a -j
# shellcheck disable=SC2016
start deaf perl -e 'use IO::Socket::UNIX; my $s = IO::Socket::UNIX->new($ARGV[0]) or die; print $s "trace\n"; $s->flush; sleep' $T/a.sock
check "thousands of RPCs" timed_reads "$V3" file 6000 1000 16
check "a reader that never reads is dropped" wait_for 30 grep -q 'dropped the client of trace on the control socket: it does not read' $T/a.log
# has_had READER COUNT: the reader has COUNT lines, or some of them and a report of missed ones
missed() { jq -s 'map(.missed // 0) | add // 0' "$T/$1.log"; }
has_had() { [ $(($(of "$1" length) + $(missed "$1"))) -ge "$2" ]; }
check "… and the other one gets all" wait_for 10 has_had reader 6000
check "… most of them as lines" test "$(of reader length)" -ge 3000
check "… and is not dropped" alive reader
stop reader
stop deaf KILL

# A reader may be inactive for 5 s. If thousands of RPCs took longer, it may have been dropped, and the test tries again
# with fewer.
has_missed() { [ "$(missed paused)" -gt 0 ] || has_ended paused; }
for count in 6000 5000 4000; do
	rm -f $T/paused.log
	watch paused a -j --operation READ
	began=$(date +%s%3N)
	kill -STOP "${pid_of[paused]}"
	timed_reads "$V3" file $count 1000 16 >$T/reads.out 2>&1
	status=$?
	kill -CONT "${pid_of[paused]}"
	took_ms=$(($(date +%s%3N) - began))
	wait_for 10 has_missed
	has_ended paused || break
	stop paused
	((took_ms > 5000)) || break
	note "$count RPCs took longer than a reader may do nothing: $took_ms ms"
done
check "thousands of RPCs while a reader does nothing" is $status 0
if [ -n "${pid_of[paused]:-}" ]; then
	# A smaller number may fit the buffer completely.
	if [ $count -lt 6000 ] && [ "$(of paused length)" = $count ]; then
		ok "it is told how many it has missed # SKIP none of $count"
	else
		check "it gets the number of missed RPCs" test "$(missed paused)" -gt 0
	fi
	check "which are those that it has no line of" wait_for 10 has_had paused $count
	check "and no more" is $(($(missed paused) + $(of paused length))) $count
	stop paused
elif ((took_ms <= 5000)); then
	not_ok "it is not dropped before 5 s: $took_ms ms"
else
	ok "it is told how many it has missed # SKIP RPCs take too long here"
fi

check "a service that is not there: status 1" refused ctl a trace nothing
check "… which is said" says 'there is no service nothing'
check "an operation that is none: status 2" misused ctl a trace --operation reed
check "… which is said, and what is meant" says 'there is no operation reed: did you mean READ\?'
check "a time without a unit: status 2" misused ctl a trace --slower 100
check "… which is said" says 'a whole number with us, ms or s'
check "no line at all: status 2" misused ctl a trace --count 0
check "a client by its name: status 2" misused ctl a trace --client localhost
check "an option of another command: status 2" misused ctl a status --slower 1s
check "… which is said" says '^rpcrdma-proxyctl: --slower is for trace'
check "a value with a space is none: status 2" misused ctl a trace --client "10.0.0.1 --count 1"
for n in 1 2 3 4; do
	watch "trace$n" a
done
check "a fifth at once: status 1" refused ctl a trace
check "… which is said" says 'too many clients of trace: try again later'
stop trace1
check "one that has gone makes room" wait_for 10 ctl a trace --seconds 1
stop_proxy a
check "they end with the daemon" wait_for 10 has_ended trace2
stop trace2
check "… which is a failure: status 3" is "$exit_status" 3
check "… which is said" grep -q 'the daemon closed the trace before its end' $T/trace2.log
finish

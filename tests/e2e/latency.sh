#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma-proxyctl latency: the operations, their status, and the stages of their time. Each cause of delay changes only
# its own stage, at its own proxy.
RELAY_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

# of SIDE OPERATION FILTER: applies FILTER to an operation of the service nfs
of() { ctl "$1" -j latency nfs "$2" | jq -r --arg operation "$2" ".services.nfs.operations[\$operation] | $3"; }
calls() { of "$1" "$2" '.calls // 0'; }
# all SIDE: prints the operations with their numbers
all() { ctl "$1" -j latency nfs | jq -c '.services.nfs.operations | map_values([.calls, .errors, .request_bytes, .reply_bytes])'; }
prints() { cat $T/out; grep -qE -- "$1" $T/out; }
fails() { "$@" >$T/out 2>&1; [ $? = 1 ]; }
# taken SIDE OPERATION: no Reply to it waits for its acknowledgement
taken() { of "$1" "$2" '.calls == .whole.count' | grep -q true; }

# chain_again: restarts both proxies with the current values of A_* and B_*
chain_again() {
	stop_proxy a
	stop_proxy b
	start_chain
}
# relay MS: starts a relay between the second proxy and the server
relay() {
	[ -z "${pid_of[relay]:-}" ] || stop relay KILL
	start relay "$BIN/delay_relay" $RELAY_PORT $NFS_PORT "$1"
	wait_for 10 listens $RELAY_PORT
	BACK_PORT=$RELAY_PORT
}
reads() { timed_reads "$V3" file "$@"; }
# mean SIDE STAGE: prints the mean of its READs, in milliseconds
mean() { of "$1" READ ".stages.$2 | .sum_s * 1000 / .count | floor"; }
moved() { test "$(mean "$1" "$2")" -ge "$3"; }
# moved_less SIDE STAGE THAN: the mean of STAGE is less than half of that of THAN
moved_less() { test "$(($(mean "$1" "$2") * 2))" -lt "$(mean "$1" "$3")"; }
# only SIDE STAGE MS [BESIDE]: the mean of STAGE is at least MS, the others are less than half of it; BESIDE is ignored
only() {
	local stage

	check "$1: the $2 stage has moved" moved "$1" "$2" "$3"
	for stage in receive memory credit server client; do
		[ $stage = "$2" ] || [ $stage = "${4:-}" ] || check "… and not the $stage stage" moved_less "$1" $stage "$2"
	done
	note "$1: $(ctl "$1" latency nfs READ | tr '\n' '|')"
}

start_ganesha
start_chain
for version in 3 4; do
	url=V$version
	check "NFSv$version: a file is written" nfs_client "${!url}" write file 5m $version
	check "… and read" nfs_client "${!url}" verify file 5m $version
	check "… and one that is not there" not nfs_client "${!url}" verify nothing 5m $version
done
for side in a b; do
	for operation in WRITE READ LOOKUP OPEN GETATTR; do
		check "$side has counted $operation" test "$(calls $side $operation)" -gt 0
	done
	check "$side: what was not there is an error" test "$(of $side LOOKUP '.errors_by_status.NOENT')" -ge 1
	check "$side: what was read came back" test "$(of $side READ .reply_bytes)" -ge 10485760
	check "$side: what was written went there" test "$(of $side WRITE .request_bytes)" -ge 10485760
	check "$side: the clients have all that they were sent" wait_for 10 taken $side READ
done
check "both have counted the same" is "$(all a)" "$(all b)"
ctl a latency >$T/out
note "$(cat $T/out)"
check "the table has a line for each" prints '^  READ +[0-9]+ +0 '
check "in 80 columns" test "$(wc -L <$T/out)" -le 80
check "it has a service without Calls too, or with" prints '^mount'
ctl a latency nfs read >$T/out
check "an operation alone shows how its times spread" prints '^ +BELOW +RECV .* TOTAL'
check "… with its bytes" prints '^  READ: [0-9]+ Calls, .* in, 10 MiB back'
check "an operation that there was not" eval 'ctl a latency nfs CLONE | grep -q "no CLONE yet"'
check "a service that is not there: status 1" fails ctl a latency nothing
check "… which is said" prints 'there is no service nothing'
check "an operation that is none: status 1" fails ctl a latency nfs READS
check "… which is said" prints 'there is no operation READS'

# The delays are extended on a slow machine, like the other stages.
slow=$(limit_s 200)
relay $slow
A_SERVICE="slow_log_ms = 150;"
chain_again
check "a server that takes $slow ms" reads 4 1000 1
only b server $slow
only a server $slow
# The output omits a stage of less than a hundredth.
check "each of them is in the log of the proxy with that setting" wait_for 10 \
	grep -qE '\[nfs#[0-9]+ .*\] READ took [0-9.]+ m?s: (.*, )?server [0-9.]+ m?s[^;]*; 11[0-9] bytes in, 1\.1 KiB back$' $T/a.log
check "… and of no other" eval '! grep -q " took " $T/b.log'

A_SERVICE="credits = 1;" B_SERVICE=$A_SERVICE
chain_again
check "one credit, and a server that takes $slow ms" reads 6 1000 6
only a credit $((slow * 3 / 2)) server
check "the server's is as it was" moved_less a server credit
A_SERVICE='' B_SERVICE=''

A_GLOBAL="memory_limit_mib = 5;"
chain_again
check "memory for two, and a server that takes $slow ms" reads 8 1000000 8
check "a: the memory stage has moved" moved a memory 50
check "… and not the credit stage" moved_less a credit memory
check "… nor the client's" moved_less a client memory
A_GLOBAL=''

relay 0
chain_again
check "a client that takes nothing for two seconds, on an idle machine" reads 32 1000000 32 "$(limit_s 2000)"
only a client 500

# A client that has read its Reply and sends nothing acknowledges it late.
relay 0
chain_again
thinks=$(cat <<-'END'
use IO::Socket::INET; use Time::HiRes qw(sleep);
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]", LocalPort => 0) or die;
for my $xid (1 .. 60) {
	syswrite $s, pack("N11", 0x80000028, $xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0) or die;
	my ($mark, $reply);
	sysread($s, $mark, 4) == 4 && sysread($s, $reply, unpack("N", $mark) & 0x7fffffff) or die;
	sleep 0.015;
}
END
)
check "60 NULLs of a client that thinks for 15 ms" with_limit 60 perl -e "$thinks" $FRONT_PORT
check "are all taken" wait_for 10 taken a NULL
check "… when they were sent" test "$(of a NULL '.stages.client | .sum_s * 1000 / .count | floor')" -le "$(limit_s 1)"

relay "$(limit_s 20)"
chain_again
check "1,000 READs" eval 'reads 1000 4096 8 >$T/median'
check "are all counted" wait_for 10 taken a READ
# libnfs's median is in the same bucket of the histogram or in the next one: it includes the time of libnfs itself.
own=$(cat $T/median) shown=$(of a READ .whole.p50_s)
note "median: libnfs $own us, the proxy below $shown s"
check "the histogram's median is libnfs's own, within a bucket" \
	jq -en --argjson own "$own" --argjson shown "$shown" '$own / 1e6 | . >= $shown / 2 and . <= $shown * 2'
finish

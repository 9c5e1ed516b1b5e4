#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma-proxyctl capture: tshark reads the traffic of a proxy (NFSv3, v4.0 and v4.1) without a malformed frame, and
# counts the same Calls and Replies as the proxy. However a capture ends, its file is complete.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

# ends STATUS COMMAND...: compares the exit status; the output is in $T/out and $T/err
ends() {
	local want=$1

	shift
	"$@" >$T/out 2>$T/err
	[ $? = "$want" ] || { cat $T/out $T/err; false; }
}
says() { cat $T/err; grep -qE -- "$1" $T/err; }

# Longer than any test: only cases that end by it check the duration of a capture.
LASTING='--seconds 3600'

# capture NAME SIDE WORD...: starts a capture to NAME.pcapng in the background, and waits until it has begun
capture() {
	local name=$1 side=$2

	shift 2
	rm -f "$name.log"
	start "$name" "$CTL" -s "$T/$side.sock" capture "$@" "$name.pcapng"
	wait_for 10 test -s "$name.pcapng" || bail "the capture $name does not begin"
}
# complete NAME: the program has ended successfully, and reports a complete file
complete() { cat "$1.log"; [ "$exit_status" = 0 ] && grep -qE "^rpcrdma-proxyctl: $1.pcapng: [0-9]+ packets, .*; [0-9]+ messages dropped; ended $2$" "$1.log"; }
# over NAME OPTION: the capture ends by itself, because of OPTION
over() {
	wait_for 20 has_ended "$1" || bail "the capture $1 does not end"
	stop "$1"
	check "$1: it ends by itself, complete, and says why" complete "$1" "by $2"
}
# finished NAME: the capture ends on a signal
finished() {
	stop "$1" INT
	check "$1: it is complete when it is interrupted" complete "$1" "when it was interrupted"
}
# missed NAME: prints how many messages it reports as lost
missed() { sed -n 's/.*; \([0-9]*\) messages dropped; .*$/\1/p' "$1.log"; }

# tshark takes ports below 1024 for those of other protocols.
shark() { tshark -n -2 -o tcp.try_heuristic_first:TRUE -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -r "$@" 2>$T/shark.err; }
none() { shark "$1.pcapng" -Y "$2" >$T/found; cat $T/found; [ ! -s $T/found ]; }
sound() {
	check "$1: no frame is malformed" none "$1" _ws.malformed
	check "$1: its TCP is as it should be" none "$1" 'tcp.analysis.flags || tcp.checksum.status == 0 || ip.checksum.status == 0'
}

# The name of each Call: of a COMPOUND, its main operation, otherwise the last one.
operation_names='
BEGIN {
	split("NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK MKNOD REMOVE RMDIR RENAME LINK " \
		"READDIR READDIRPLUS FSSTAT FSINFO PATHCONF COMMIT", three, " ")
	split("38 WRITE 25 READ 5 COMMIT 6 CREATE 18 OPEN 28 REMOVE 29 RENAME 26 READDIR 11 LINK 34 SETATTR 4 CLOSE " \
		"20 OPEN_CONFIRM 27 READLINK 15 LOOKUP 3 ACCESS 9 GETATTR", ranked, " ")
	split("35 SETCLIENTID 36 SETCLIENTID_CONFIRM 42 EXCHANGE_ID 43 CREATE_SESSION 44 DESTROY_SESSION 57 DESTROY_CLIENTID " \
		"58 RECLAIM_COMPLETE 24 PUTROOTFH 30 RENEW", others, " ")
	for (i = 1; i in others; i += 2) last[others[i]] = others[i + 1]
}
function compound(list,    n, ops, has, i) {
	n = split(list, ops, ",")
	for (i = 1; i <= n; i++) has[ops[i]] = 1
	for (i = 1; i in ranked; i += 2) if (ranked[i] in has) return ranked[i + 1]
	return last[ops[n]]
}
{ print $4, $1 + 0 == 3 ? three[$2 + 1] : $2 + 0 == 0 ? "NULL" : compound($3) }'
# calls NAME: prints frame and operation of the Calls that tshark sees
calls() {
	shark "$1.pcapng" -Y "rpc.msgtyp == 0 && rpc.program == 100003" -T fields -e rpc.programversion -e rpc.procedure -e nfs.opcode -e frame.number |
		awk -F '\t' "$operation_names"
}
# frames_answered NAME: prints the frames of Calls with a Reply
frames_answered() { shark "$1.pcapng" -Y "rpc.msgtyp == 1 && rpc.program == 100003" -T fields -e rpc.repframe; }
sums() { sort | uniq -c | awk '{ print $2, $1 }'; }
# seen NAME: prints the Calls, "OPERATION COUNT" a line; answered NAME: prints those with a Reply
seen() { calls "$1" | cut -d ' ' -f 2 | sums; }
answered() { awk 'NR == FNR { has[$1]; next } $1 in has { print $2 }' <(frames_answered "$1") <(calls "$1") | sums; }
# counted SIDE: prints the Calls that the proxy has counted
counted() { ctl "$1" -j latency nfs | jq -r '.services.nfs.operations | to_entries[] | "\(.key) \(.value.calls)"' | sort; }
total() { counted "$1" | awk '{ calls += $2 } END { print calls }'; }
# alike NAME SIDE: tshark has seen the Calls that the proxy has counted
alike() {
	check "$1: Calls of each procedure are as many as the proxy has counted" is "$(seen "$1")" "$(counted "$2")"
	check "$1: and each has its Reply" is "$(answered "$1")" "$(counted "$2")"
	note "$(counted "$2" | tr '\n' ',')"
}
# kept NAME: prints the number of messages in the file
kept() { shark "$1.pcapng" -Y 'frame.comment matches " (Call: from|Reply: from)"' -T fields -e frame.number | wc -l; }
commented() { shark "$1.pcapng" -Y "frame.comment == \"$2\"" -T fields -e frame.number | grep -q .; }

quiet() { no_connections a && no_connections b; }
again() {
	stop_proxy a
	stop_proxy b
	start_chain
}
work() {
	check "NFSv3: a bit of everything" nfs_client "$V3" mixed three 3m 3
	check "NFSv4.0, too" nfs_client "$V4" mixed four 3m 4
	check "NFSv4.1: a file is written and read" with_limit 120 "$BIN/nfs41_client" 127.0.0.1 $FRONT_PORT forty-one 1000000 100000
	wait_for 10 quiet || bail "connections stay"
}

start_ganesha
start_chain
capture mixed a nfs $LASTING
capture cut b nfs --snaplen 200 $LASTING
work
finished mixed
finished cut
for name in mixed cut; do sound $name; done
alike mixed a
alike cut b
check "which is what it has received" is "$(ctl a -j stats nfs | jq '[.services.nfs.tcp | .. | objects | .calls_received // empty] | add')" "$(total a)"
check "none was missed" is "$(missed mixed) $(missed cut)" "0 0"
check "only root may read it" is "$(stat -c %a mixed.pcapng)" 600
check "data are read to their end" is "$(shark mixed.pcapng -Y 'rpc.msgtyp == 1 && nfs.opcode == 25' -T fields -E occurrence=l -e nfs.read.data_length | sort -n | tail -n 1)" 262144
check "a cut message has no more than is wanted" none cut 'frame.cap_len > 40 + 4 + 200'
check "the file says which connection it is" commented mixed \
	"$(shark mixed.pcapng -Y 'tcp.flags.syn == 1' -T fields -e frame.comment | head -n 1 | grep -E '^connection [0-9]+ of service nfs: client 127.0.0.1:[0-9]+ over tcp$')"
check "and how a message was carried" commented mixed \
	"LOOKUP Reply: from the server as short over iwarp, to the client as record over tcp; the Call had gone to the server as short"
check "by the other proxy, too" commented cut \
	"LOOKUP Reply: from the server as record over tcp, to the client as short over iwarp; the Call had gone to the server as record"
check "connections end" is "$(shark mixed.pcapng -Y 'tcp.flags.syn == 1 && tcp.flags.ack == 0' | wc -l)" \
	"$(shark mixed.pcapng -Y "tcp.flags.fin == 1 && tcp.dstport == $FRONT_PORT" | wc -l)"

# ---------------------------------------------------------------- what is wanted

again
capture reads a --operation read $LASTING
capture stranger a --client 10.0.0.0/8 $LASTING
work
finished reads
finished stranger
sound reads
check "READs alone" is "$(seen reads)" "$(counted a | grep '^READ ')"
check "nothing of others' connections" is "$(kept stranger)" 0

capture long a nfs --max-bytes 100K --snaplen 10K $LASTING
check "much is written" nfs_client "$V3" write large 4m 3
over long --max-bytes
check "it is as long as is wanted" test "$(stat -c %s long.pcapng)" -le 102400 -a "$(stat -c %s long.pcapng)" -gt 90000
sound long
capture brief a --seconds 1
over brief --seconds

"$CTL" -s $T/a.sock capture --seconds "$(limit_s 3)" - 2>pipe.log | tshark -n -l -o tcp.try_heuristic_first:TRUE -r - >pipe.out 2>&1 &
pid_of[pipe]=$!
seen_read() { nfs_client "$V3" verify large 4m 3 && grep -q 'V3 READ Reply' pipe.out; }
check "a program reads it as it comes" wait_for 10 seen_read
wait "${pid_of[pipe]}"
unset "pid_of[pipe]"
check "and has it to its end" grep -qE '^rpcrdma-proxyctl: [0-9]+ packets' pipe.log

# ---------------------------------------------------------------- in the middle of a connection

again
start long_reads "$BIN/timed_reads" "$V3" large 3000 1000000 4
reads_passed() { counter_is a tcp calls_received -gt 100; }
check "a connection is in use" wait_for 20 reads_passed
capture middle a nfs --max-bytes 4M $LASTING
over middle --max-bytes
sound middle
check "READs of 1 MB are seen, though they are cut" test "$(answered middle | awk '$1 == "READ" { print $2 }')" -gt 5
stop long_reads KILL

# ---------------------------------------------------------------- a slow reader, and a forbidden one

again
mkfifo slow
"$CTL" -s $T/a.sock capture nfs $LASTING - >slow 2>slow.log &
pid_of[slow]=$!
exec {slow_fd}<slow
head -c 16 <&$slow_fd >slow.head
check "40 MB pass while the capture is not read" nfs_client "$V3" write large 40m 3
wait_for 10 quiet
cat <&$slow_fd >slow.rest &
pid_of[rest]=$!
stop slow INT
check "a late reader gets a complete file" grep -qE '^rpcrdma-proxyctl: [0-9]+ packets' slow.log
wait "${pid_of[rest]}"
unset "pid_of[rest]"
cat slow.head slow.rest >slow.pcapng
note "$(cat slow.log)"
sound slow
messages=$(total a)
note "$(kept slow) of $((2 * messages)) messages were kept"
check "what could not be kept is counted: messages, and perhaps the end of the connection" \
	eval 'more=$(($(kept slow) + $(missed slow) - 2 * messages)); [ "$(missed slow)" -gt 0 ] && [ $more -ge 0 ] && [ $more -le 1 ]'
exec {slow_fd}<&-

dropped() { grep -q 'dropped the client of capture on the control socket: it does not read' $T/a.log; }
"$CTL" -s $T/a.sock capture nfs $LASTING - 2>deaf.log | sleep 1000 &
pid_of[deaf]=$!
deaf_is_dropped() { nfs_client "$V3" verify large 40m 3 && dropped; }
check "one that never reads is dropped" wait_for 30 deaf_is_dropped
stop deaf KILL

capture one a
capture two a nfs $LASTING
check "a third at once: status 1" ends 1 ctl a capture three.pcapng
check "… which is said" says 'too many clients of capture: try again later'
check "… and no file is left" [ ! -e three.pcapng ]
check "at its start it says what it does" grep -qF 'capturing to one.pcapng for at most 60 s or 64 MiB; Ctrl-C stops it' one.log
check "the log names the user of the capture" wait_for 10 grep -q 'info: capture requested by uid 0 via control socket: nfs --seconds 3600$' a.log
finished one
check "no file is written over: status 2" ends 2 ctl a capture one.pcapng
check "… which is said" says '^rpcrdma-proxyctl: cannot write one.pcapng: File exists$'
check "a service that is not there: status 1" ends 1 ctl a capture nothing none.pcapng
check "… which is said" says 'there is no service nothing'
check "a length that is none: status 2" ends 2 ctl a capture --snaplen 1G none.pcapng
check "… which is said" says 'a size from 64 to 2M'
check "a file that is too short for anything: status 2" ends 2 ctl a capture --max-bytes 4095 none.pcapng
check "… which is said" says 'a size from 4096 to 1024G'
check "a service without a file: status 2" ends 2 ctl a capture nfs
check "… which is said" says 'nfs is a service: FILE is missing'
check "… and no file is left" [ ! -e nfs ]
check "without a file: status 2" ends 2 ctl a capture
check "… which is said" says 'capture takes an argument, FILE'
check "to a terminal: status 2" eval '! script -qec "$CTL -s $T/a.sock capture -" /dev/null >$T/err </dev/null'
check "… which is said" says 'to a terminal'
chmod 755 $T
chmod 666 a.sock
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
check "a user who is neither root nor the daemon's user: status 1" ends 1 as_nobody "$CTL" -s $T/a.sock capture -
check "… which is said" says "only root and the daemon's own user may do that"

stop_proxy a
wait_for 10 has_ended two
stop two
check "it ends with the daemon: status 3" is "$exit_status" 3
check "… which is said" grep -q 'the daemon closed before the end of the capture' two.log
finish

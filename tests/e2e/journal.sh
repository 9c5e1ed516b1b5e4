#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A journal accepts entries with fields, hangs, and disappears. The daemon continues to serve, and reports lost lines.
BACK_PORT=3049
CLOSED_PORT=13050
A_MORE=closed_service
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

JOURNAL=/run/systemd/journal

closed_service() {
	service closed "tcp://127.0.0.1:$CLOSED_PORT" "tcp://127.0.0.1:$BACK_PORT" 'allow = [ "10.0.0.0/8" ];'
}

# entry FIELD=VALUE...: one entry has all of these fields
entry() {
	awk -v want="$(printf '%s\n' "$@")" '
		BEGIN { RS = ""; FS = "\n"; n = split(want, fields, "\n") }
		{
			for (i = found = 0; i < n; i++)
				for (j = 1; j <= NF; j++)
					found += $j == fields[i + 1]
			hit += found == n
		}
		END { exit !hit }' "$T/ear.log"
}
said() { grep -qE -- "^MESSAGE=$1" "$T/ear.log"; }
lost() { ctl a -j status | jq .log_lines_dropped; }
# scan N: opens N connections, each of which logs at least one line at level debug
scan() { for ((i = 0; i < $1; i++)); do : <>/dev/tcp/127.0.0.1/"$FRONT_PORT"; done; }

mkdir -p $JOURNAL
start ear "$BIN/journal_reader" $JOURNAL/socket
wait_for 10 test -S $JOURNAL/socket || bail "no socket to hear the daemon at"
start_proxy b
: >$T/a.log
export JOURNAL_STREAM=$(stat -c %d:%i $T/a.log)
start_proxy a
start server "$BIN/held_call" serve 127.0.0.1 $BACK_PORT
serves server $BACK_PORT || bail "the server does not start"

check "a start has its service" wait_for 10 entry PRIORITY=6 SYSLOG_IDENTIFIER=rpcrdma-proxy RPCRDMA_SERVICE=closed \
	"RPCRDMA_UPSTREAM=tcp://127.0.0.1:$BACK_PORT"
: <>/dev/tcp/127.0.0.1/$CLOSED_PORT
check "a refused client is found by address and reason" wait_for 10 entry PRIORITY=4 RPCRDMA_SERVICE=closed \
	RPCRDMA_CLIENT=127.0.0.1 RPCRDMA_REASON=not_allowed
asks idle $FRONT_PORT
check "a connection that opens names its server" wait_for 10 entry PRIORITY=6 RPCRDMA_SERVICE=nfs \
	RPCRDMA_CLIENT=127.0.0.1 "RPCRDMA_UPSTREAM=$FABRIC:$FABRIC_PORT"
ctl a log debug >/dev/null
stop idle
check "and one that ends the reason" wait_for 10 entry PRIORITY=6 RPCRDMA_SERVICE=nfs \
	RPCRDMA_CLIENT=127.0.0.1 "RPCRDMA_UPSTREAM=$FABRIC:$FABRIC_PORT" RPCRDMA_REASON=peer
wait_for 10 grep -q '^MESSAGE=.*last Call: XID ' $T/ear.log
xid=$(sed -nE 's/^MESSAGE=.*last Call: XID (0x[0-9a-f]{8}),.*/\1/p' $T/ear.log | head -n 1)
check "its last Call is found by its XID" entry PRIORITY=7 "RPCRDMA_XID=${xid:-none}" RPCRDMA_SERVICE=nfs
check "nothing of that is written to its stream" not grep -qE '(is up |open to |refused [0-9])' $T/a.log

# The journal hangs: its socket holds a few ten to a few hundred entries, and the others wait in the daemon.
kill -STOP "${pid_of[ear]}"
scan 1500
check "with a journal that stands still it serves" asks second $FRONT_PORT
check "and answers" ctl a status
kill -CONT "${pid_of[ear]}"
check "a journal that continues gets the waiting lines" wait_for 30 said "\[nfs#[0-9]+ 127.0.0.1:[0-9]+\] open to"
stop second

# The journal disappears: first nothing listens, then the socket is gone.
stop ear KILL
asks third $FRONT_PORT && stop third
check "without a reader of its socket lines go to its stream, with their level" wait_for 10 \
	grep -qE '^<6>\[nfs#[0-9]+ 127\.0\.0\.1:[0-9]+\] open to ' $T/a.log
rm $JOURNAL/socket
: >$T/a.log
asks fourth $FRONT_PORT && stop fourth
check "and while there is none" wait_for 10 grep -qE '^<6>\[nfs#[0-9]+ 127\.0\.0\.1:[0-9]+\] open to ' $T/a.log
: >$T/ear.log
start ear "$BIN/journal_reader" $JOURNAL/socket
wait_for 10 test -S $JOURNAL/socket
asks fifth $FRONT_PORT && stop fifth
check "a journal that is back gets entries again" wait_for 10 entry RPCRDMA_SERVICE=nfs RPCRDMA_REASON=peer
check "no line was lost" [ "$(lost)" = 0 ]

# The real journal, in a separate namespace, so that it does not take over the kernel's log.
journald=/lib/systemd/systemd-journald
if [ -x $journald ] && [ -s /etc/machine-id ] && mount -t tmpfs tmpfs /var/log; then
	stop ear KILL
	rm -r $JOURNAL && ln -s journal.e2e $JOURNAL
	start journald $journald e2e
	wait_for 10 test -S $JOURNAL/socket || bail "the journal does not start"
	asks sixth $FRONT_PORT && stop sixth
	found() { journalctl --namespace=e2e -q -o cat "$@" | grep -q 'closed by the client'; }
	check "the real journal finds a line by its client and its reason" wait_for 20 \
		found -p info RPCRDMA_CLIENT=127.0.0.1 RPCRDMA_REASON=peer
	check "and none of another client" not found RPCRDMA_CLIENT=10.0.0.3
fi
finish

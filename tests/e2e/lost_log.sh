#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A log on a full disk: the daemon continues to serve, reports how many lines it lost, and continues to log when there
# is space again.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

lost() { ctl a -j status | jq .log_lines_dropped; }
has_lost() { [ "$(lost)" -ge "$1" ]; }
client() { asks "$1" $FRONT_PORT && stop "$1"; }
# start_to FILE: starts the daemon of the clients' side, with its log in FILE
start_to() {
	proxy_config a >$T/a.conf
	"$PROXY" -c $T/a.conf 2>>"$1" </dev/null &
	pid_of[a]=$!
	serves a $FRONT_PORT || bail "proxy a does not start"
}

start_proxy b
start server "$BIN/held_call" serve 127.0.0.1 $BACK_PORT
serves server $BACK_PORT || bail "the server does not start"

start_to /dev/full
check "a daemon whose log takes nothing from the start serves" client one
check "and counts what it has lost" wait_for 10 has_lost 3
stop_proxy a

# The disk is full for a while.
mkdir $T/disk && mount -t tmpfs -o size=64k tmpfs $T/disk || skip_all "no small disk can be made here"
start_to $T/disk/a.log
check "a daemon logs" wait_for 10 grep -q 'is up' $T/disk/a.log
dd if=/dev/zero of=$T/disk/other bs=1k count=100 2>/dev/null # until it is full
check "nothing is lost yet" [ "$(lost)" = 0 ]
i=0
until has_lost 4 || ((i++ > 100)); do client "full-$i"; done
check "with a full disk it serves" has_lost 4
check "and is not ended by it" alive a
rm $T/disk/other
check "when there is room again it serves" client after
told() { grep -oE 'warning: [0-9]+ log lines dropped: the output did not accept them$' $T/disk/a.log; }
check "how many were lost is in the log" wait_for 10 told
all_told() { [ "$(told | awk '{ n += $2 } END { print n + 0 }')" = "$(lost)" ]; }
check "as many as the status has" wait_for 10 all_told
check "and what comes after them" wait_for 10 eval "tail -n 1 $T/disk/a.log | grep -q 'closed by the client'"
finish

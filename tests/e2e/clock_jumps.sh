#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The time of day is set a year ahead and a year back under clients: nothing ends for it, and what has its time ends then.
CLOSED_PORT=13050
A_MORE=closed_service
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
not_sanitized

YEAR_S=$((365 * 86400))
closed_service() {
	service closed "tcp://127.0.0.1:$CLOSED_PORT" "tcp://127.0.0.1:$NFS_PORT" 'allow = [ "10.0.0.0/8" ];'
}

at_least() { [ "$(stat -c %s "$1")" -ge "$2" ]; }
# is_ahead SECONDS: for both proxies, as their logs show, in which who asks for a level is told with the time
is_ahead() {
	local side year

	echo "$1" >$T/ahead.new && mv $T/ahead.new $T/ahead
	year=$(date -u -d "@$(($(date +%s) + $1))" +%Y-%m)
	for side in a b; do
		ctl $side log info >/dev/null
		wait_for 10 grep -q "^$year.*log level is now" "$T/$side.log" || return 1
	done
}
# is_shown_out: a client that is refused is held for half a second, and then closed
is_shown_out() { timeout 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$CLOSED_PORT; read -r -u 3; true"; }
young() { [ "$(ctl "$1" -j status | jq '.uptime_s < 600')" = true ]; }

start_ganesha
echo 0 >$T/ahead
PROXY_WRAP="env LD_PRELOAD=$BIN/clockjump.so CLOCKJUMP_FILE=$T/ahead"
start_chain
start idle "$BIN/held_call" ask 127.0.0.1 $FRONT_PORT idle
wait_for 20 grep -q ready $T/idle.log || bail "no client is served"
for jump in $YEAR_S -$YEAR_S 0; do
	file=file$jump
	start writer nfs_client "$V3" write $file 300m 3 128k
	wait_for 30 at_least export/$file 20000000
	check "the time of day is $jump s ahead" is_ahead $jump
	check "while a client writes" alive writer
	check "who is refused is closed in its time" is_shown_out
	wait "${pid_of[writer]}"
	check "the client finishes" [ $? = 0 ]
	unset "pid_of[writer]"
	check "what it wrote is there" nfs_client "$V3" verify $file 300m 3
	for side in a b; do check "proxy $side is as old as it is" young $side; done
done
check "a client that said nothing all the time is still connected" alive idle
for side in a b; do
	for why in silent timeout no_call half_open record_stalled reply_stalled call_stalled; do
		check "proxy $side has closed nobody: $why" counter_is $side closes $why = 0
	done
done
finish

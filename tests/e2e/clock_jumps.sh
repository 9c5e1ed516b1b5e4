#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The time of day is set a year ahead and a year back while clients are connected. No connection ends because of it, and
# each timeout expires on time.
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

# is_ahead SECONDS: the logs of both proxies show this offset. Each change of the level is logged with the time
is_ahead() {
	local side from

	echo "$1" >$T/ahead.new && mv $T/ahead.new $T/ahead
	from=$(month_in "$1")
	for side in a b; do
		ctl $side log info >/dev/null
		wait_for 10 says_month $side "$from" "$1" || return 1
	done
}
# month_in SECONDS: prints the month at that offset. says_month SIDE MONTH SECONDS: the log has that month, or the one
# that has begun since
month_in() { date -u -d "@$(($(date +%s) + $1))" +%Y-%m; }
says_month() { grep -qE "^($2|$(month_in "$3")).*log level is now" "$T/$1.log"; }
# is_shown_out: a rejected client is held for half a second, and then closed
is_shown_out() { with_limit 20 bash -c "exec 3<>/dev/tcp/127.0.0.1/$CLOSED_PORT; read -r -u 3; true"; }
# is_as_old SIDE: the daemon's age is at most that of this test
is_as_old() { ctl "$1" -j status | jq -e --argjson most $((SECONDS + 1)) '.uptime_s >= 0 and .uptime_s <= $most'; }

start_ganesha
echo 0 >$T/ahead
PROXY_WRAP="env LD_PRELOAD=$BIN/clockjump.so CLOCKJUMP_FILE=$T/ahead"
start_chain
asks idle $FRONT_PORT || bail "no client is served"
for jump in $YEAR_S -$YEAR_S 0; do
	file=file$jump
	start writer nfs_client "$V3" write $file 300m 3 128k
	wait_for_growth 30 export/$file 20000000
	check "the time of day is $jump s ahead" is_ahead $jump
	check "while a client writes" alive writer
	check "a refused client is closed in time" is_shown_out
	ends_well writer "the client finishes"
	check "what it wrote is there" nfs_client "$V3" verify $file 300m 3
	for side in a b; do check "proxy $side is as old as it is" is_as_old $side; done
done
check "a client that said nothing all the time is still connected" alive idle
for side in a b; do
	for why in silent timeout no_call half_open record_stalled reply_stalled call_stalled; do
		check "proxy $side has closed no connection: $why" counter_is $side closes $why = 0
	done
done
finish

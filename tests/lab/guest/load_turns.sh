# SPDX-License-Identifier: BSD-3-Clause
# Runs tests/bench/rpc_load in turns. Counters can be read between two turns.

pid_of_proxy() { cat "$proxy_dir/$1.pid"; }

# load_begin FRONT BACK WORK WINDOW COUNT TURNS: starts it and runs the first turn
load_begin() {
	rm -f /run/load.in /run/load.log
	mkfifo /run/load.in
	"$LAB_BUILD/tests/bench/rpc_load" "$1" "$2" "$3" "$5" "$4" "$6" </run/load.in >/run/load.log 2>&1 &
	load_pid=$!
	exec {go_on}>/run/load.in
	turn_ends 1
}

turn_is_over() { grep -qx "turn $1" /run/load.log || ! kill -0 $load_pid 2>/dev/null; }
turn_ends() {
	wait_for 200 turn_is_over "$1"
	grep -qx "turn $1" /run/load.log || fail "the load generator failed: $(cat /run/load.log)"
}
next_turn() { echo >&"$go_on"; }
load_end() {
	next_turn
	exec {go_on}>&-
	wait $load_pid
}

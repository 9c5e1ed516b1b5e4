# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Starting and ending the server and the connections of a load, for scripts that have sourced tests/e2e/lib.sh. BENCH is
# where the programs are.

# server_start NAME ARGS...: nfs_serve, its output in NAME.log
server_start() {
	local name=$1

	shift
	: >"$name.log"
	start "$name" "$BENCH/nfs_serve" "$@"
	wait_for 20 grep -q ready "$name.log" || bail "$name does not start"
}

# server_end NAME: what it has done is in NAME.json; sets $exit_status
server_end() { stop "$1"; grep -v ready "$1.log" >"$1.json"; }

# hold PORT COUNT: so many connections, which have made one Call each and stay until they are released
hold() {
	rm -f held
	mkfifo held
	start held bash -c 'exec "$0" -w idle -k "$1" 127.0.0.1 "$2" <held' "$BENCH/nfs_load" "$2" "$1"
	exec {held_fd}>held
	wait_for 60 eval '! alive held || grep -q ready held.log' && grep -q ready held.log
}

# release: success if all was well with them
release() {
	exec {held_fd}>&-
	wait "${pid_of[held]}"
	exit_status=$?
	unset "pid_of[held]"
	: >held.log
	return $exit_status
}

# crowd PORT CLIENTS HELD: its line of JSON, with HELD connections there before
crowd() {
	local status=0

	[ "$3" = 0 ] || hold "$1" "$3" || return 1
	"$BENCH/nfs_load" -w crowd -k "$2" -W 60 127.0.0.1 "$1" || status=1
	[ "$3" = 0 ] || release || status=1
	return $status
}

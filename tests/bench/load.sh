# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Starts and stops the server, and loads that wait for the measuring script. For scripts that have sourced
# tests/e2e/lib.sh. BENCH is the directory of the programs.

# server_start NAME ARGS...: starts nfs_serve, with its output in NAME.log
server_start() {
	local name=$1

	shift
	: >"$name.log"
	start "$name" "$BENCH/nfs_serve" "$@"
	wait_for 20 grep -q ready "$name.log" || bail "$name does not start"
}

# server_end NAME: ends it; its results are in NAME.json. Sets $exit_status
server_end() { stop "$1"; grep -v ready "$1.log" >"$1.json"; }

# ---------------------------------------------------------------- loads

declare -A load_in=() load_out=() # name: what it reads, and what it says

# load_start NAME ADDR PORT ARGS...: starts nfs_load and waits until it is ready; fails if it ends. $load_wrap is put
# before the command. Its errors are in NAME.err.
load_start() {
	local name=$1 addr=$2 port=$3 in out fd

	shift 3
	rm -f "$T/$name.in" "$T/$name.out"
	mkfifo "$T/$name.in" "$T/$name.out" || return 1
	(
		# Otherwise this process would keep the input of another load open, and that load would not see its end.
		for fd in "${load_in[@]}"; do exec {fd}>&-; done
		# shellcheck disable=SC2086
		exec ${load_wrap:-} "$BENCH/nfs_load" "$@" "$addr" "$port"
	) <"$T/$name.in" >"$T/$name.out" 2>"$T/$name.err" &
	pid_of[$name]=$!
	exec {in}>"$T/$name.in" {out}<"$T/$name.out"
	load_in[$name]=$in load_out[$name]=$out
	load_says "$name" && [ "$said" = ready ]
}

# load_says NAME: sets $said to its next line; fails if it has ended, or prints nothing for two minutes on an idle
# machine
load_says() {
	local begin=$SECONDS part

	said=
	until read -r -t 1 -u "${load_out[$1]}" part; do
		# A status above 128 means that the second has passed; the line may be incomplete.
		[ $? -gt 128 ] && ! limit_passed "$begin" 120 || return 1
		said+=$part
	done
	said+=$part
}

# load_goes_on NAME: starts the work of a load that is ready; fails if it has ended
load_goes_on() { (trap '' PIPE && echo >&"${load_in[$1]}") 2>/dev/null; }

# load_ends NAME: ends it, and sets $said to its last line; returns its status
load_ends() {
	local in=${load_in[$1]} out=${load_out[$1]} status

	exec {in}>&-
	load_says "$1"
	exec {out}<&-
	wait "${pid_of[$1]}"
	status=$?
	unset "load_in[$1]" "load_out[$1]" "pid_of[$1]"
	return $status
}

# hold NAME ADDR PORT COUNT: opens connections that make one Call each, and stay until load_ends NAME
hold() { load_start "$1" "$2" "$3" -w idle -k "$4"; }

# crowd PORT CLIENTS HELD [HOST]: prints its line of JSON, with HELD other connections open. With HOST the clients use
# privileged ports of up to seven addresses from 127.0.0.HOST on, otherwise any ports.
crowd() {
	local status=0

	[ "$3" = 0 ] || load_start held 127.0.0.1 "$1" -w idle -k "$3" ${4:+-b $(($4 + 5))} || return 1
	"$BENCH/nfs_load" -w crowd -k "$2" -W 60 ${4:+-b "$4"} 127.0.0.1 "$1" || status=1
	[ "$3" = 0 ] || load_ends held || status=1
	return $status
}

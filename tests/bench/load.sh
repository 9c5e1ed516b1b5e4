# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Starts and stops the server, and loads that wait for the measuring script. For scripts that have sourced
# tests/e2e/lib.sh. BENCH is the directory of the programs.

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

# ---------------------------------------------------------------- loads

declare -A load_in=() load_out=() # name: what it reads, and what it says

# load_start NAME ADDR PORT ARGS...: nfs_load, until it is ready; false if it does not come to that. $load_wrap goes before
# the command. What it complains of is in NAME.err.
load_start() {
	local name=$1 addr=$2 port=$3 in out fd

	shift 3
	rm -f "$T/$name.in" "$T/$name.out"
	mkfifo "$T/$name.in" "$T/$name.out" || return 1
	(
		# Else the end of another load's input would not reach it before this one is over.
		for fd in "${load_in[@]}"; do exec {fd}>&-; done
		# shellcheck disable=SC2086
		exec ${load_wrap:-} "$BENCH/nfs_load" "$@" "$addr" "$port"
	) <"$T/$name.in" >"$T/$name.out" 2>"$T/$name.err" &
	pid_of[$name]=$!
	exec {in}>"$T/$name.in" {out}<"$T/$name.out"
	load_in[$name]=$in load_out[$name]=$out
	load_says "$name" && [ "$said" = ready ]
}

# load_says NAME: its next line is in $said; false if it has ended, or says nothing for two minutes on an idle machine
load_says() {
	local begin=$SECONDS part

	said=
	until read -r -t 1 -u "${load_out[$1]}" part; do
		# Above 128 it is the second that has passed; there may be half a line.
		[ $? -gt 128 ] && ! limit_passed "$begin" 120 || return 1
		said+=$part
	done
	said+=$part
}

# load_goes_on NAME: it was ready; false if it has ended
load_goes_on() { (trap '' PIPE && echo >&"${load_in[$1]}") 2>/dev/null; }

# load_ends NAME: its last line is in $said; success if all was well with it
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

# hold NAME ADDR PORT COUNT: connections that have made one Call each, and stay until load_ends NAME
hold() { load_start "$1" "$2" "$3" -w idle -k "$4"; }

# crowd PORT CLIENTS HELD [HOST]: its line of JSON, with HELD connections there before. They come from privileged ports of up to
# seven addresses from 127.0.0.HOST on, else from any.
crowd() {
	local status=0

	[ "$3" = 0 ] || load_start held 127.0.0.1 "$1" -w idle -k "$3" ${4:+-b $(($4 + 5))} || return 1
	"$BENCH/nfs_load" -w crowd -k "$2" -W 60 ${4:+-b "$4"} 127.0.0.1 "$1" || status=1
	[ "$3" = 0 ] || load_ends held || status=1
	return $status
}

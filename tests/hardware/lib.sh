# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# Common functions of all checks of ./dev hardware: output, results, undoing, loads and counters. hardware.sh sources it
# twice: outside of the namespaces, where it undoes remaining changes, and inside.
#
# $top is the source directory, $build the build directory; $state is a directory that stays between runs, $T one of
# this run.

. "$top/tests/lab/wait.sh"
. "$top/tests/lab/proxy.sh"

# ---------------------------------------------------------------- what is printed

# say TEXT: prints a line to the terminal and the report. show: the same for standard input, indented.
say() { printf '%s\n' "$*" | tee -a "$T/raw"; }
show() { sed 's/^/   /' | tee -a "$T/raw"; }
fact() { say "   $*"; }

# Results of a check: passed WHAT, failed WHAT, absent WHY (it cannot run here). Each can be called for several parts.
passed() { parts_passed+=1; fact "ok: $*"; }
failed() { wrong+=("$*"); fact "failed: $*"; }
absent() { lacking+=("$*"); fact "cannot run here: $*"; }

# joined WORD...: prints the words with semicolons between them
joined() { local all; all=$(printf '; %s' "$@"); printf '%s' "${all:2}"; }

check_begin() {
	declare -gi parts_passed=0
	wrong=() lacking=()
}

# check_result N: prints the result line, and sets verdict to ok, failed or absent.
check_result() {
	if [ ${#wrong[@]} != 0 ]; then
		verdict=failed
		say "result $1: failed: $(joined "${wrong[@]}")"
	elif [ "$parts_passed" = 0 ]; then
		verdict=absent
		say "result $1: cannot run here: $(joined "${lacking[@]:-nothing was tried}")"
	else
		verdict=ok
		say "result $1: ok${lacking:+ (cannot run here: $(joined "${lacking[@]}"))}"
	fi
}

# ask TEXT: asks the user to do something and press Enter; fails if nobody is there.
ask() {
	local line
	[ -t 0 ] || return 1
	printf '   >> %s, then press Enter: ' "$1"
	read -r line
}

# ---------------------------------------------------------------- undoing

# undo_add COMMAND...: records a command that this run must execute at its end: a line of the file $state/undo. The next
# run reads this file, too, if this one was killed. undo_all executes all, the last one first. undo_done COMMAND...:
# executes one and removes it from the list. undo_forget COMMAND...: removes it only.
undo_add() { printf '%s\n' "${*@Q}" >>"$state/undo"; }
undo_forget() {
	grep -vxF -- "${*@Q}" "$state/undo" >"$state/undo.new"
	mv "$state/undo.new" "$state/undo"
}
undo_done() {
	local status=0
	"$@" || status=$?
	undo_forget "$@"
	return $status
}
undo_all() {
	local lines i
	[ -s "$state/undo" ] || return 0
	mapfile -t lines <"$state/undo"
	for ((i = ${#lines[@]} - 1; i >= 0; i--)); do
		eval "${lines[i]}" || printf 'hardware: could not be undone: %s\n' "${lines[i]}" >&2
	done
	rm -f "$state/undo"
}

# link_save NETDEV: saves its addresses and routes, which are lost with the link or the driver. link_restore NETDEV:
# waits until it exists, sets it up, and restores them.
link_save() {
	{
		ip -o -4 addr show dev "$1" | awk '{ print "addr add", $4, "brd + dev", $2 }'
		ip -o -6 addr show dev "$1" scope global | awk '!/ dynamic / { print "addr add", $4, "dev", $2, "nodad" }'
		ip route show dev "$1" | grep -v 'proto kernel' | sed "s/^/route add /; s/ linkdown *\$//; s/\$/ dev $1/"
		ip -6 route show dev "$1" | grep -v 'proto kernel\|proto ra' | sed "s/^/-6 route add /; s/\$/ dev $1/"
	} >"$state/link.$1"
}
link_is_there() { [ -e "/sys/class/net/$1" ]; }
link_restore() {
	local line
	wait_for 60 link_is_there "$1" || return 1
	ip link set dev "$1" up || return 1
	while read -r line; do
		# shellcheck disable=SC2086
		ip $line 2>/dev/null # what is there already
	done <"$state/link.$1"
	return 0
}

# ---------------------------------------------------------------- processes

declare -A pid_of=()

# start NAME COMMAND...: starts it in the background, with its output in $T/NAME.log. stop NAME: ends it, and sets
# exit_status.
start() {
	local name=$1
	shift
	"$@" >>"$T/$name.log" 2>&1 </dev/null &
	pid_of[$name]=$!
}
stop() {
	[ -n "${pid_of[$1]:-}" ] || return 0
	kill -"${2:-TERM}" "${pid_of[$1]}" 2>/dev/null
	wait "${pid_of[$1]}" 2>/dev/null
	exit_status=$?
	unset "pid_of[$1]"
}
bail() { failed "$*"; return 1; }

# Loads that wait (tests/bench/load.sh) use the functions above.
BENCH=$build/tests/bench
. "$top/tests/bench/load.sh"

# stop_loads: stops those that a check has left running
stop_loads() {
	local name
	for name in "${!load_in[@]}"; do
		kill -KILL "${pid_of[$name]}" 2>/dev/null
		load_ends "$name" >/dev/null 2>&1
	done
}

# url ADDRESS PORT
url() { [[ $1 == *:* ]] && echo "verbs://[$1]:$2" || echo "verbs://$1:$2"; }

# load PORT ARGUMENTS...: runs nfs_load against a proxy of this host. Sets load_json to its results; if it fails,
# load_error has the reason.
load() {
	local port=$1
	shift
	load_json=$("$BENCH/nfs_load" -W 60 "$@" 127.0.0.1 "$port" 2>"$T/load.err") && return
	load_error="nfs_load ${*: -6}: $(tail -n 1 "$T/load.err")"
	return 1
}

# load_figure NAME: prints a whole number from the results of the last load
load_figure() { figures "$1" <<<"$load_json" | cut -d. -f1; }

# rpcs PORT COUNT WORK INFLIGHT [CONNECTIONS]: makes at least COUNT RPCs. Some first RPCs show how long the others take;
# these use the same connections. Sets rpcs_done.
rpcs() {
	local port=$1 count=$2 seconds=1 rate
	rpcs_done=0
	while ((rpcs_done < count)); do
		load "$port" -d 0 -w "$3" -n "$4" -k "${5:-1}" -t "$seconds" || return 1
		rpcs_done=$((rpcs_done + $(load_figure all_ops)))
		rate=$(load_figure ops_per_s)
		seconds=$(((count - rpcs_done) / (rate > 0 ? rate : 1) + 1))
		((seconds < 120)) || ((rpcs_done >= count)) || fact "$((count - rpcs_done)) RPCs are left: about $((seconds / 60)) minutes"
	done
}

# ---------------------------------------------------------------- counters

# mark NAME...: saves the counters of proxies; grown NAME COUNTER: prints by how much one has grown since then
mark() {
	local name
	for name; do proxy_says "$name" -j stats >"$T/$name.mark"; done
}
grown() { echo $(($(proxy_count "$1" "$2") - $(figures --sum '**' "$2" <"$T/$1.mark"))); }

# figure_line NAME COUNTER...: prints how much they have grown, in one line
figure_line() {
	local name=$1 counter text=
	shift
	for counter; do text+=", $counter $(grown "$name" "$counter")"; done
	fact "$name: ${text:2}"
}

proxy_pid() { cat "$proxy_dir/$1.pid"; }
proxy_lives() { ! has_ended "$(proxy_pid "$1")"; }

# resources: prints the device's resources in use; resource KIND: prints the number of one kind
resources() { rdma resource show 2>/dev/null | sed -n "s/^[0-9]*: *$device: *//p"; }
resource() { resources | awk -v kind="$1" '{ for (i = 1; i < NF; i++) if ($i == kind) print $(i + 1) }'; }

# drained NAME...: no connection and no memory is left
drained() {
	local name said
	for name; do
		said=$(proxy_drained "$name") || { failed "$said"; return 1; }
	done
}

# show_log NAME: prints the last lines of a proxy's log, and before them the last ones about losses
show_log() {
	{
		grep -E ' (warning|error): | lost|closed: ' "$proxy_dir/$1.log" | grep -v 'memory_limit_mib\|io_flusher' | tail -n 8
		echo ...
		tail -n 5 "$proxy_dir/$1.log"
	} 2>/dev/null | cut -c1-300 | sed "s/^/$1: /" | show
}

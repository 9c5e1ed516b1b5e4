#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The cost of an RPC for a proxy on verbs, on siw and on rxe, counted in operations, because emulated time has no
# meaning. Two proxies with verbs between them connect the client and the server of tests/bench/rpc_load. A row fails if
# nothing is counted.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
. "$(dirname "$0")/load_turns.sh"

# Work, Calls in flight, RPCs of a turn.
works=("getattr 1 200" "getattr 16 400" "read:65536 1 40" "read:65536 8 80" "read:1048576 1 12" "write:65536 1 40"
	"write:65536 8 80" "write:1048576 1 12")
counters=(chains_posted wrs_posted recv_chains_posted completions completion_events)

# wakes NAME: prints how often the threads of a proxy have waited
wakes() { cat "/proc/$(pid_of_proxy "$1")"/task/*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'; }

# counts NAME: prints all counters of a proxy
counts() {
	local stats counter

	stats=$(proxy_says "$1" -j stats)
	for counter in "${counters[@]}"; do
		jq --arg counter "$counter" '[.. | objects | .[$counter]? | numbers] | add // 0' <<<"$stats"
	done
	wakes "$1"
}

# trace_begin NAME, trace_end NAME: trace the system calls of all threads of a proxy
is_traced() { ! grep -q '^TracerPid:.0$' "/proc/$1"/task/*/status; }
trace_begin() {
	strace -qq -c -f -o "/run/strace.$1" -p "$(pid_of_proxy "$1")" &
	trace_pid[$1]=$!
	wait_for 20 is_traced "$(pid_of_proxy "$1")"
}
trace_end() {
	kill -INT "${trace_pid[$1]}"
	wait "${trace_pid[$1]}" || true
}
declare -A trace_pid=()

# grown SIDE BEFORE AFTER: each counter has increased
grown() {
	local at
	at=$(paste "$2" "$3" | awk 'NF == 2 && $2 > $1 && NR == n + 1 { n++ } END { if (n != 6) print n + 0 }')
	[ -z "$at" ] || fail "nothing is counted of $1: ${counters[at]:-waits}"
}

# tell LABEL WORK WINDOW COUNT SIDE BEFORE AFTER: prints a line of the table, and one with the system calls
tell() {
	local each
	each=$(paste "$6" "$7" | awk -v n="$4" '{ printf "%9.2f", ($2 - $1) / n }')
	say "# $(printf '%-4s %-14s x%-3s %-7s %s %9s' "$1" "$2" "$3" "$5" "$each" \
		"$(awk -v n="$4" '$NF == "total" { printf "%.2f", ($4 ~ /^[0-9]+$/ ? $4 : $3) / n }' "/run/strace.$1-$5")")"
	say "#      $(awk -v n="$4" '$1 ~ /^[0-9.]+$/ && $NF != "total" && $4 / n >= 0.005 { printf " %s %.2f", $NF, $4 / n }' "/run/strace.$1-$5")"
	grown "$5" "$6" "$7"
}

# counted LABEL FRONT BACK WORK WINDOW COUNT: runs a warm-up turn, a counted turn, and a turn with traced system calls
counted() {
	local side

	trap 'kill "${trace_pid[@]}" $load_pid 2>/dev/null || true' EXIT
	load_begin "$2" "$3" "$4" "$5" "$6" 3
	for side in client server; do counts "$1-$side" >"/run/before.$side"; done
	next_turn
	turn_ends 2
	for side in client server; do counts "$1-$side" >"/run/after.$side"; done
	for side in client server; do trace_begin "$1-$side"; done
	next_turn
	turn_ends 3
	for side in client server; do trace_end "$1-$side"; done
	load_end
	for side in client server; do tell "$1" "$4" "$5" "$6" $side "/run/before.$side" "/run/after.$side"; done
}

# A proxy under callgrind, and callgrind's commands.
counting() { exec valgrind -q --tool=callgrind --vgdb-prefix=/run/vgdb --callgrind-out-file=/run/callgrind.%p "$@"; }
monitor() { vgdb --vgdb-prefix=/run/vgdb --pid="$(pid_of_proxy "$1")" "${@:2}"; }

# instructions NAME: prints the user-space instructions since the last call, including those of the device's libraries
instructions() {
	local out
	out=/run/callgrind.$(pid_of_proxy "$1")
	rm -f "$out".*
	monitor "$1" dump >/dev/null
	awk '/^totals:/ { print $2 }' "$out".*
}

# instructed LABEL FRONT BACK WORK WINDOW COUNT: runs a warm-up turn, and one whose instructions are counted
instructed() {
	local side n

	trap 'kill $load_pid 2>/dev/null || true' EXIT
	load_begin "$2" "$3" "$4" "$5" "$6" 2
	for side in client server; do instructions "$1-$side" >/dev/null; done
	next_turn
	turn_ends 2
	for side in client server; do
		n=$(instructions "$1-$side")
		[ "${n:-0}" -gt "$6" ] || fail "no instructions are counted of $side"
		say "# $(printf '%-4s %-14s x%-3s %-7s %9d' "$1" "$4" "$5" $side $((n / $6)))"
	done
	load_end
}

# pair_of_proxies LABEL ADDRESS PORT: starts two proxies with verbs between them. They listen on PORT and the next port,
# and connect to the port after these
pair_of_proxies() {
	guest_row "$1-server" "verbs://$2:$3" "tcp://127.0.0.1:$(($3 + 2))"
	guest_row "$1-client" "tcp://127.0.0.1:$(($3 + 1))" "verbs://$2:$3"
}

guest_start
guest_rxe
say "# $(printf '%-24s %-7s %s %9s' "an RPC" proxy "$(printf '%9s' sends WRs recvs CQEs events waits)" "sys calls")"
for device in "siw 10.0.2.15 2301" "rxe 10.9.0.1 2311"; do
	set -- $device
	pair_of_proxies $device
	for work in "${works[@]}"; do
		row "$1: $work" counted "$1" $(($3 + 1)) $(($3 + 2)) $work
	done
	for side in server client; do proxy_stop "$1-$side"; done
done
say "# $(printf '%-24s %-7s %9s' "an RPC" proxy instructions)"
for device in "siw 10.0.2.15 2321" "rxe 10.9.0.1 2331"; do
	set -- $device
	PROXY_IN=counting pair_of_proxies $device
	for work in "${works[@]}"; do
		row "$1, instructions: $work" instructed "$1" $(($3 + 1)) $(($3 + 2)) $work
	done
done
cp -r $proxy_dir /run/share/guest-proxies
say done

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The cost of an RPC for a proxy in instructions, including those of the kernel. The guest has one processor, whose
# clock counts executed instructions (boot.sh). So the run time of a thread is its number of instructions. The path of a
# packet through loopback counts for its sender. A row is one kind of work. Its comment has the cost in this build and,
# with LAB_OTHER, in another build, with the difference: medians, minima and maxima of several turns, because the number
# of messages per read varies.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
. "$(dirname "$0")/load_turns.sh"

# Work, Calls in flight, RPCs of a turn.
works=("getattr 1 400" "getattr 16 1600" "read:4096 1 400" "read:4096 16 1600" "read:65536 1 100" "read:65536 16 400")
turns=11

# ran NAME: prints the instructions that all threads of a proxy have run
ran() { cat "/proc/$(pid_of_proxy "$1")"/task/*/schedstat | awk '{ n += $1 } END { printf "%.0f\n", n }'; }

# each NAME FRONT BACK WORK WINDOW COUNT: prints the instructions per RPC of this proxy: median, minimum and maximum of
# the turns after the warm-up
each() {
	local turn before

	trap 'kill $load_pid 2>/dev/null || true' EXIT
	load_begin "$2" "$3" "$4" "$5" "$6" $((turns + 1))
	for ((turn = 2; turn <= turns + 1; turn++)); do
		before=$(ran "$1")
		next_turn
		turn_ends $turn
		echo $((($(ran "$1") - before) / $6))
	done >/run/turns
	load_end
	sort -n /run/turns | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)], n[1], n[NR] }'
}

# counted LABEL PROXY FRONT BACK WORK WINDOW COUNT: measures the proxy of this build, and that of the other build at
# ports that are 50 higher
counted() {
	local now=() was=() line

	read -r -a now < <(each "$2" "${@:3}")
	[ "${now[0]:-0}" -gt 1000 ] || fail "nothing is counted"
	line=$(printf '%-11s %-11s x%-3s %9d (%d-%d)' "$1" "$5" "$6" "${now[@]}")
	if [ -n "${LAB_OTHER:-}" ]; then
		read -r -a was < <(each "other-$2" $(($3 + 50)) $(($4 + 50)) "${@:5}")
		[ "${was[0]:-0}" -gt 1000 ] || fail "nothing is counted of the other build"
		line+=$(printf '%9d (%d-%d)' "${was[@]}")
		line+=$(awk -v was="${was[0]}" -v now="${now[0]}" 'BEGIN { printf "%+8.2f %%", 100 * (now - was) / was }')
	fi
	say "# $line"
}

# proxies PREFIX PORT: starts a bridge from TCP to TCP, and two proxies with iwarp between them; the port of each server
# follows that of its proxy
proxies() {
	guest_row "$1tcp" "tcp://127.0.0.1:$2" "tcp://127.0.0.1:$(($2 + 1))"
	guest_row "$1server" "iwarp://127.0.0.1:$(($2 + 4))" "tcp://127.0.0.1:$(($2 + 3))"
	guest_row "$1client" "tcp://127.0.0.1:$(($2 + 2))" "iwarp://127.0.0.1:$(($2 + 4))"
}

guest_start
proxies "" 2301
[ -z "${LAB_OTHER:-}" ] || LAB_BUILD=$LAB_OTHER proxies other- 2351
say "# $(printf '%-11s %-16s %9s' proxy "an RPC" instructions)${LAB_OTHER:+, before, change}"
for work in "${works[@]}"; do
	row "tcp=>tcp: $work" counted "tcp=>tcp" tcp 2301 2302 $work
	row "tcp=>iwarp: $work" counted "tcp=>iwarp" client 2303 2304 $work
	row "iwarp=>tcp: $work" counted "iwarp=>tcp" server 2303 2304 $work
done
say done

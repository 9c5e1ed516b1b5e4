# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures a row with one contender: each method adds a line to samples.csv. Source it after contenders.sh and load.sh.
#
# CPU time is the scheduler's count for all threads, from the last opened connection to the last Reply. It is divided by
# the number of all operations in that time (all_ops), including those before the measured window. If the work is to
# open connections, the time starts before the first one, and each connection is an operation.

# Members of the load generator's line.
load_columns=(seconds ops all_ops ops_per_s bytes_per_s p50_us p90_us p99_us p999_us max_us least_ops most_ops
	queued_max connect_per_s cpu_s mismatches errors)
# Values of processes: the server, the first and the second hop; empty without such a hop.
own_columns=(rate retransmits cpu_server_s cpu_first_s cpu_second_s
	pss_first_bytes pss_second_bytes rss_first_bytes rss_second_bytes wakes_first_per_s wakes_second_per_s
	peak_first_bytes peak_second_bytes)

samples=0

begin_samples() {
	samples_file=$out/samples.csv
	(IFS=,; echo "series,row,contender,round,work,inflight,connections,${load_columns[*]},${own_columns[*]}") \
		>"$samples_file" || die "$out cannot be written to"
}

declare -A own=() # column: value, of the sample that is being taken

# add_sample SERIES ROW CONTENDER ROUND WORK INFLIGHT CONNECTIONS JSON: adds a line to samples.csv
add_sample() {
	local line column

	(($# == 8)) || die "a sample of $# parts"
	line=$(IFS=,; echo "${*:1:7}"),$(jq -r '[$ARGS.positional[] as $c | .[$c]] | map(. // "") | join(",")' \
		--args "${load_columns[@]}" <<<"$8") || die "the load generator has said: $8"
	for column in "${own_columns[@]}"; do line+=,${own[$column]:-}; done
	echo "$line" >>"$samples_file" || die "$out cannot be written to"
	((++samples))
	[ -z "${BENCH_VERBOSE:-}" ] || echo "$line" >&2
}

# ---------------------------------------------------------------- what the kernel knows

# cpu_ns PID: prints the CPU time of its threads and of its children, which socat has for each connection
cpu_ns() {
	local pid task run rest children ns=0

	read -ra children <"/proc/$1/task/$1/children"
	for pid in "$1" "${children[@]}"; do
		for task in /proc/"$pid"/task/*/schedstat; do
			read -r run rest <"$task" && ((ns += run))
		done
	done
	echo "$ns"
}

# cpu_of NAMES...: prints the CPU time of each column's process; "-" stands for a missing one
cpu_of() {
	local name

	for name; do
		if [ "$name" = - ]; then echo; else cpu_ns "${pid_of[$name]}"; fi
	done
}

retransmits() {
	local side

	for side in near far; do
		[ $side = near ] || [ -n "${way_to[far]}" ] || continue
		on $side cat /proc/net/snmp
	done | awk '$1 == "Tcp:" && $2 == "RtoAlgorithm" { for (i = 2; i <= NF; i++) at[$i] = i }
		    $1 == "Tcp:" && $2 != "RtoAlgorithm" { n += $at["RetransSegs"] } END { print n + 0 }'
}

# processes CONTENDER: prints the server, the first and the second hop, one per line; "-" for a missing one
processes() {
	local names

	mapfile -t names < <(hops_of "$1")
	printf '%s\n' server "${names[0]:--}" "${names[1]:--}"
}

# ---------------------------------------------------------------- loads

# void LOAD WHAT: ends the run after a wrong byte, a Call without a Reply, or silence
void() { die "VOID: ${*:2}: $said $(cat "$T/$1.err")"; }

# load NAME CONTENDER ARGS...: starts a load and waits until it is ready
load() {
	local front

	read -ra front < <(front_of "$2")
	load_start "$1" "${front[@]}" "${@:3}" || void "$@"
}

# counted CONTENDER ARGS...: runs a load; sets $json to its line, and $own to its cost
counted() {
	local names before after column i was

	mapfile -t names < <(processes "$1")
	was=$(retransmits)
	load load "$@" -g
	mapfile -t before < <(cpu_of "${names[@]}")
	load_goes_on load && load_says load || void load "$@"
	json=$said
	mapfile -t after < <(cpu_of "${names[@]}")
	load_ends load || void load "$@"
	own[retransmits]=$(($(retransmits) - was))
	i=0
	for column in cpu_server_s cpu_first_s cpu_second_s; do
		[ -z "${after[i]}" ] || own[$column]=$(awk -v ns=$((after[i] - before[i])) 'BEGIN { printf "%.6f", ns / 1e9 }')
		((++i))
	done
}

# The ways: SERIES ROW CONTENDER ROUND WORK INFLIGHT CONNECTIONS

# way_closed: keeps the given number of Calls in flight
way_closed() {
	local json

	own=()
	counted "$3" -w "$5" -n "$6" -k "$7" -t "$seconds"
	add_sample "$@" "$json"
}

# way_held: as way_closed, while so many other connections are open that all reserved ports are in use
way_held() {
	local json front

	own=()
	read -ra front < <(front_of "$3")
	hold held "${front[@]}" 400 || void held "$@"
	counted "$3" -w "$5" -n "$6" -k "$7" -t "$seconds"
	load_ends held || void held "$@"
	add_sample "$@" "$json"
}

# least_of SERIES ROW: prints the best rate of the slowest contender of a row
least_of() {
	awk -F, -v series="$1" -v row="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "ops_per_s") at = i; next }
		$1 == series && $2 == row && $at > most[$3] { most[$3] = $at }
		END { for (name in most) if (!least || most[name] < least) least = most[name]; print least + 0 }' "$samples_file"
}

# way_open: Calls are due at random times, for all contenders at half the rate of the slowest one in getattr-x16
way_open() {
	local json

	if [ -z "${open_rate:-}" ]; then
		open_rate=$(least_of "$1" getattr-x16 | awk '{ printf "%d", $1 / 2 }')
		if [ "$open_rate" = 0 ]; then
			echo "bench.sh: without rows of $1/getattr-x16 there is no rate for $1/$2" >&2
			open_rate=none
		fi
	fi
	[ "$open_rate" != none ] || return 0
	own=([rate]=$open_rate)
	counted "$3" -w "$5" -n "$6" -k "$7" -t "$seconds" -r "$open_rate" -s "$4"
	add_sample "$@" "$json"
}

# way_mixed: the work of the row, together with another client that always has four READs of 1 MiB in flight. CPU time
# would be that of both, so there is none.
way_mixed() {
	local json

	own=()
	load bulk "$3" -w read:1048576 -n 4 -t "$(awk -v s="$seconds" 'BEGIN { print s + 1 }')" -g
	load_goes_on bulk || void bulk "$3"
	pause 0.3
	counted "$3" -w "$5" -n "$6" -k "$7" -t "$seconds"
	unset "own[cpu_server_s]" "own[cpu_first_s]" "own[cpu_second_s]"
	add_sample "$@" "$json"
	load_says bulk || void bulk "$3"
	json=$said
	load_ends bulk || void bulk "$3"
	own=()
	add_sample "$1" "$2-bulk" "$3" "$4" read:1048576 4 1 "$json"
}

# ---------------------------------------------------------------- connections that do nothing

# place_of HOP: prints first or second, as in the columns
place_of() { [ "${1##*.}" = 1 ] && echo first || echo second; }

# memory_of NAME: prints PSS and RSS in bytes
memory_of() {
	awk '$1 == "Rss:" { rss = $2 } $1 == "Pss:" { pss = $2 } END { print pss * 1024, rss * 1024 }' \
		"/proc/${pid_of[$1]}/smaps_rollup"
}

# switches_of NAME: prints how often its threads have gone to sleep
switches_of() { cat /proc/"${pid_of[$1]}"/task/*/status | awk '$1 == "voluntary_ctxt_switches:" { n += $2 } END { print n }'; }

# way_idle: a slope, from 100 connections on, with new processes
way_idle() {
	local hop place front pss rss quiet_s=5
	local -A pss_before=() rss_before=() slept=()

	own=()
	start_contender "$3"
	read -ra front < <(front_of "$3")
	hold few "${front[@]}" 100 || void few "$@"
	for hop in $(hops_of "$3"); do read -r "pss_before[$hop]" "rss_before[$hop]" < <(memory_of "$hop"); done
	hold many "${front[@]}" $(($7 - 100)) || void many "$@"
	pause 14 # timers that came with the connections, of 10 s at most, are over
	for hop in $(hops_of "$3"); do slept[$hop]=$(switches_of "$hop"); done
	pause $quiet_s
	for hop in $(hops_of "$3"); do
		place=$(place_of "$hop")
		own[wakes_${place}_per_s]=$(awk -v n=$(($(switches_of "$hop") - slept[$hop])) -v s=$quiet_s 'BEGIN { print n / s }')
		read -r pss rss < <(memory_of "$hop")
		own[pss_${place}_bytes]=$(((pss - pss_before[$hop]) / ($7 - 100)))
		own[rss_${place}_bytes]=$(((rss - rss_before[$hop]) / ($7 - 100)))
	done
	load_ends many || void many "$@"
	load_ends few || void few "$@"
	stop_contender "$3"
	add_sample "$@" "$said"
}

# ---------------------------------------------------------------- memory at its most

peak_of() { awk '$1 == "VmHWM:" { print $2 * 1024 }' "/proc/${pid_of[$1]}/status"; }

# way_peak: as way_closed, with new processes; also measures their peak memory
way_peak() {
	local json hop

	own=()
	start_contender "$3"
	counted "$3" -w "$5" -n "$6" -k "$7" -t "$seconds"
	for hop in $(hops_of "$3"); do own[peak_$(place_of "$hop")_bytes]=$(peak_of "$hop"); done
	stop_contender "$3"
	add_sample "$@" "$json"
}

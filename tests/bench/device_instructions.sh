#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints a table of the instructions that an RPC takes over RDMA devices, counted by callgrind on the in-memory device
# (tests/standin).
#
# usage: device_instructions.sh [-b BUILD] [-l BUILD] [-p PROFILE] [-k CONNECTIONS] [-w WORK] [-n IN_FLIGHT] [-t SECONDS]
#    -b BUILD        the build whose proxy is measured, of any version of the project (build/)
#    -l BUILD        the build that has the load generator and the stand-in: `make e2e-programs` there (build/)
#    -p PROFILE      the driver that the device simulates; by default mlx5 (memory windows) and bnxt_re (none)
#    -k CONNECTIONS  by default 1, 100 and 1000
#    -w WORK         as for nfs_load; by default getattr and read:65536
#    -n IN_FLIGHT    Calls in flight on each connection (1)
#    -t SECONDS      for which Calls are made (20)
#
# One proxy with one worker has both ends of each connection, TCP to RDMA and RDMA to TCP. So a figure is the sum of
# both, and includes the instructions of the stand-in. Opening connections is not counted. Exits with 77 if something
# that it needs is missing.

profiles=(mlx5 bnxt_re) connections=(1 100 1000) works=(getattr read:65536)
inflight=1 seconds=20 load_build=
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while getopts b:l:p:k:w:n:t:h option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	l) load_build=$OPTARG ;;
	p) profiles=("$OPTARG") ;;
	k) connections=("$OPTARG") ;;
	w) works=("$OPTARG") ;;
	n) inflight=$OPTARG ;;
	t) seconds=$OPTARG ;;
	*) sed -n '3,17s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

missing() { echo "device_instructions.sh: $*" >&2; exit 77; }
die() { echo "device_instructions.sh: $*" >&2; show_logs >&2; exit 1; }

. "$here/../e2e/lib.sh"
. "$here/../e2e/standin.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }
load_build=$(cd "${load_build:-$here/../../build}" && pwd) || exit 1
BENCH=$load_build/tests/bench STANDIN=$load_build/tests/standin
for program in "$BENCH/nfs_load" "$BENCH/nfs_serve" "$STANDIN/standin.so" "$STANDIN/memory.so" "$PROXY"; do
	[ -e "$program" ] || missing "$program is not built: make e2e-programs"
done
command -v valgrind >/dev/null || missing "valgrind is not installed (package valgrind)"
enter "$@"
ulimit -Sn "$(ulimit -Hn)"
WORKERS=1

# config CONNECTIONS: as device_config, for CONNECTIONS clients
config() {
	local keys="max_connections = $(($1 + 8)); max_connections_per_client = $(($1 + 8));"

	cat <<-END
	control = "$T/a.sock";
	workers = $WORKERS;
	services = (
	$(service front "tcp://127.0.0.1:$FRONT_PORT" "verbs://127.0.0.3:$FABRIC_PORT" "$keys"),
	$(service back "verbs://127.0.0.2:$FABRIC_PORT" "tcp://127.0.0.1:$NFS_PORT" "$keys source_port = \"any\";")
	);
	END
}

# sum: prints the instructions since the last call
sum() {
	rm -f "$T"/callgrind.out*
	vgdb --vgdb-prefix="$T/vgdb" --pid="${pid_of[a]}" dump >/dev/null 2>&1 || die "callgrind does not answer"
	awk '/^totals:/ { n += $2 } END { printf "%.0f\n", n }' "$T"/callgrind.out*
}

# said FD: reads a line of the load generator
said() { read -r -t 600 -u "$1" line || die "the load generator has ended: $(cat "$T/load.err")"; }

# measure PROFILE CONNECTIONS WORK: prints a row of the table
measure() {
	local profile=$1 n=$2 work=$3 line to from pid calls instructions

	stand_in roce "$profile"
	config "$n" >"$T/a.conf"
	# shellcheck disable=SC2086
	start a $PROXY_WRAP valgrind -q --tool=callgrind --vgdb-prefix="$T/vgdb" --callgrind-out-file="$T/callgrind.out" "$PROXY" -c "$T/a.conf"
	serves a "$FRONT_PORT" && wait_for 20 grep -q 'back: listening' "$T/a.log" || die "the proxy does not start"
	coproc load { exec "$BENCH/nfs_load" -w "$work" -k "$n" -n "$inflight" -t "$seconds" -d 0 -g -W 300 127.0.0.1 "$FRONT_PORT" 2>"$T/load.err"; }
	pid=$load_PID
	exec {from}<&"${load[0]}" {to}>&"${load[1]}"
	said "$from"
	sum >/dev/null
	echo go >&"$to"
	said "$from"
	instructions=$(sum)
	calls=$(sed -n 's/.*"all_ops": \([0-9]*\).*/\1/p' <<<"$line")
	exec {to}>&- {from}<&- {load[1]}>&-
	wait "$pid" || die "the load generator has failed: $(cat "$T/load.err")"
	[ "${calls:-0}" -gt 0 ] || die "no Call was made"
	printf '%-8s %11s %-12s %9s %8s %16s\n' "$profile" "$n" "$work" "$inflight" "$calls" $((instructions / calls))
	stop a
}

start nfs "$BENCH/nfs_serve" "$NFS_PORT"
wait_for 20 listens "$NFS_PORT" || die "nfs_serve does not listen"
printf '%-8s %11s %-12s %9s %8s %16s\n' device connections work 'in flight' RPCs instructions/RPC
for work in "${works[@]}"; do
	for n in "${connections[@]}"; do
		for profile in "${profiles[@]}"; do measure "$profile" "$n" "$work"; done
	done
done

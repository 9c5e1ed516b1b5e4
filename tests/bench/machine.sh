# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Describes the measured machine for the page and the table, and tunes the namespaces.

# is_quiet LOAD: no other process disturbs a run
is_quiet() { awk -v load="$1" 'BEGIN { exit !(load <= 0.5) }'; }

# tell_load: prints the load of other processes
tell_load() {
	local load

	read -r load _ </proc/loadavg
	is_quiet "$load" || echo "bench.sh: the load of this machine is $load: ratios are taken round by round, but a quiet machine measures better" >&2
}

# tune HOST: provides enough ports for short connections, none of which is a port of a contender
tune() { on "$1" sh -c 'echo "16384 60999" >/proc/sys/net/ipv4/ip_local_port_range; echo 4096 >/proc/sys/net/core/somaxconn' 2>/dev/null; }

# fact NAME VALUE: prints a line of CSV
fact() { printf '%s,"%s"\n' "$1" "${2//\"/\"\"}"; }

of_host() { xargs <"/proc/sys/net/ipv4/$1" 2>/dev/null; }

tell_machine() {
	fact date "$(date -u +'%Y-%m-%d %H:%M UTC')"
	fact kernel "$(uname -sr)"
	fact processor "$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo)"
	fact cores "$(nproc)"
	fact load "$(cut -d' ' -f1-3 /proc/loadavg)"
	fact quiet "$(is_quiet "$(cut -d' ' -f1 /proc/loadavg)" && echo yes || echo no)"
	fact rpcrdma-proxy "$("$PROXY" -V 2>&1 | head -n 1)"
	fact haproxy "$(haproxy -v | awk 'NR == 1 { print $3 }')"
	fact socat "$(socat -V | awk '/socat version/ { print $3; exit }')"
	fact congestion "$(of_host tcp_congestion_control)"
	fact tcp_rmem "$(of_host tcp_rmem)"
	fact tcp_wmem "$(of_host tcp_wmem)"
	fact rounds "$rounds"
	fact seconds "$seconds"
}

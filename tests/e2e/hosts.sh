# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Hosts for a test, on one wire. Each has a separate network and /run/rpcrdma-proxy. Source it after lib.sh.
#
#	wire filer 192.0.2.1 client 192.0.2.10      # the names are valid on all of them
#	on filer ss -ltn
#	start_on filer NAME COMMAND...              # as start in lib.sh
#	stop NAME

declare -A way_to=() # host: the command that enters it

# on HOST COMMAND...
on() {
	local host=$1

	shift
	# shellcheck disable=SC2086
	${way_to[$host]} "$@"
}

# limited_on HOST SECONDS COMMAND...: as with_limit, on that host
limited_on() {
	local host=$1 seconds=$2

	shift 2
	# shellcheck disable=SC2086
	with_limit "$seconds" ${way_to[$host]} "$@"
}

# start_on HOST NAME COMMAND...: starts it in the background on that host, with its output in $T/NAME.log
start_on() {
	local host=$1 name=$2

	shift 2
	# shellcheck disable=SC2086
	start "$name" ${way_to[$host]} "$@"
}

# has_run HOST: its /run/rpcrdma-proxy exists
has_run() { on "$1" mountpoint -q /run/rpcrdma-proxy; }

# boot HOST ADDRESS: makes the host, with an interface on the wire
boot() {
	local name=$1 pid

	unshare -n -m bash -c 'mount -t tmpfs tmpfs /run/rpcrdma-proxy && ip link set lo up && exec tail -f /dev/null' \
		>>"$T/$name.host.log" 2>&1 </dev/null &
	pid=$!
	pid_of[host-$name]=$pid
	way_to[$name]="nsenter -t $pid -n -m -w --"
	wait_for 10 has_run "$name" || bail "the host $name does not start: $(cat "$T/$name.host.log")"
	ip link add name "to-$name" type veth peer name eth0 netns "$pid" &&
		ip link set "to-$name" master wire up &&
		on "$name" ip address add "$2/24" dev eth0 &&
		on "$name" ip link set eth0 up || bail "the host $name is not on the wire"
}

# wire HOST ADDRESS [HOST ADDRESS]...
wire() {
	[ "$(id -u)" = 0 ] && ip link add name wire type bridge 2>/dev/null ||
		skip_all "needs a bridge between network namespaces"
	ip link set wire up
	mkdir -p /run/rpcrdma-proxy
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$T/hosts"
	printf '%s %s\n' "$@" | awk '{ print $2, $1 }' >>"$T/hosts"
	# A minimal Debian has no such file.
	[ -e /etc/hosts ] || { own_etc $T/etc && : >/etc/hosts; }
	mount --bind "$T/hosts" /etc/hosts || bail "the hosts have no names"
	while [ $# -gt 0 ]; do
		boot "$1" "$2"
		shift 2
	done
}

# opens HOST NAME PORT...: within 20 s the program NAME, which was started there, listens on all these ports
opens() {
	local host=$1 name=$2 port

	shift 2
	for port; do
		wait_for 20 eval "! alive $name || on $host ss -Hltn 'sport = :$port' | grep -q ." &&
			alive "$name" || return 1
	done
}

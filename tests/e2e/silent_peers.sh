#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The network between two hosts drops every packet while all links are up. The proxy detects the lost peer on either
# side, with a Call in flight or without, on TCP and over iwarp, and releases everything that it held.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

# Three networks: the proxy a is near, the other host is far, and the network between them (net) can be cut.
near=10.77.1.1 far=10.77.2.1
net_of() { echo "/proc/${pid_of[$1]}/ns/net"; }
in_net() { nsenter --net="$(net_of "$1")" "${@:2}"; }

# host NAME: makes a network namespace
has_net() { [ "$(readlink "/proc/${pid_of[$1]}/ns/net")" != "$(readlink /proc/self/ns/net)" ]; }
host() {
	start "$1" unshare -n sleep infinity
	wait_for 20 has_net "$1" || bail "no network for $1"
	in_net "$1" ip link set lo up
}

# joined NAME SUBNET: connects it to the network between, which has the address .254 there
joined() {
	local in=()

	ip link add "by-$1" type veth peer name "to-$1" netns "${pid_of[between]}" || return
	if [ "$1" != near ]; then
		in=(in_net "$1")
		ip link set "by-$1" netns "${pid_of[$1]}" || return
	fi
	in_net between ip addr add "$2.254/24" dev "to-$1"
	in_net between ip link set "to-$1" up
	"${in[@]}" ip addr add "$2.1/24" dev "by-$1"
	"${in[@]}" ip link set "by-$1" up
	"${in[@]}" ip route add default via "$2.254"
}

# cut: drops all packets from now on, without notifying either end
cut() {
	in_net between ip route add blackhole $near/32 && in_net between ip route add blackhole $far/32
}

some_service() { service "$1" "$2" "$3" "keepalive_s = 3; stall_timeout_s = 3;"; }
config() { printf 'control = "%s"; workers = 2; services = (\n%s\n);\n' "$T/$1.sock" "$2" >"$T/$1.conf"; }
says_status() { ctl "$1" status; }

# client NAME HOST ADDRESS PORT idle|held: connects through a proxy and gets a Reply
is_ready() { grep -q ready "$T/$1.log"; }
client() {
	local in=()

	[ "$2" = near ] || in=(nsenter --net="$(net_of "$2")")
	start "$1" "${in[@]}" "$BIN/held_call" ask "$3" "$4" "$5"
	check "$1: a client ($5) is served" wait_for 20 is_ready "$1"
}

released() { no_connections "$1" && ctl "$1" -j status | jq -e '.memory.claimed_bytes == 0' >/dev/null; }
closed() { grep -q closed "$T/$1.log"; }

host between
host far
joined near 10.77.1 && joined far 10.77.2 || skip_all "no veth can be made here"
in_net between sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
start here "$BIN/held_call" serve 127.0.0.1 2049
start there nsenter --net="$(net_of far)" "$BIN/held_call" serve 0.0.0.0 2049

config a "$(some_service client tcp://$near:5001 tcp://127.0.0.1:2049),
$(some_service server tcp://127.0.0.1:5002 tcp://$far:2049),
$(some_service connector tcp://127.0.0.1:5003 iwarp://$far:20049)"
config b "$(some_service acceptor iwarp://$far:20049 tcp://127.0.0.1:2049 | sed 's/require_privileged_port = false;//')"
start a "$PROXY" -c $T/a.conf
start b nsenter --net="$(net_of far)" "$PROXY" -c $T/b.conf
for side in a b; do wait_for 20 says_status $side || bail "proxy $side does not start"; done

for calls in idle held; do
	client "far-$calls" far $near 5001 $calls
	client "near-$calls" near 127.0.0.1 5002 $calls
	client "iwarp-$calls" near 127.0.0.1 5003 $calls
done
are_six() { [ "$(connections a)" = 6 ]; }
check "all are connected" wait_for 10 are_six
cut || bail "the network cannot be cut"
for side in a b; do check "proxy $side releases all of them" wait_for 60 released $side; done
for calls in idle held; do
	check "near-$calls: is notified that its server is lost" wait_for 20 closed near-$calls
	check "iwarp-$calls: is notified that its server is lost" wait_for 20 closed iwarp-$calls
done
check "each of them for that reason" wait_for 10 counter_is a closes silent = 6
check "so has the acceptor on the other side" wait_for 10 counter_is b closes silent = 2
for who in client server connector; do
	check "the log names it: $who" wait_for 10 grep -q "\[$who#.* closed: .* does not answer" $T/a.log
done
check "and at the acceptor" wait_for 10 grep -q "\[acceptor#.* closed: the client does not answer" $T/b.log
finish

# SPDX-License-Identifier: BSD-3-Clause
# Silent peers: all links stay up, but packets are dropped between the two ends of an RDMA connection. The proxies at
# both ends must detect this by keepalive, with and without a Call in flight, and release everything that the connection
# held.

# silent_keys: sets the keys. On a slow machine live peers get more time to answer.
silent_keys() {
	local seconds
	seconds=$(limit_s 3)
	SILENT_KEYS="keepalive_s=$seconds;stall_timeout_s=$seconds;"
}

# The time limit with these keys, in minutes (proxy_drained): two, and one for the emulator.
SILENT_ROUNDS=3

# held NAME ADDRESS PORT idle|held: starts a client that is served, and then is idle or has a Call that the server
# holds.
held() {
	"$LAB_BUILD/tests/e2e/held_call" ask "$2" "$3" "$4" >"/run/$1.$4" &
	echo $! >>/run/held.pids
	wait_for 40 grep -q ready "/run/$1.$4" || fail "client $1 is not served ($4)"
}

# counts NAME COUNTER VALUE: waits until the counter has reached VALUE, which takes several probes.
counts() {
	wait_for 120 has_counted "$@" || fail "$1: $2 is $(proxy_count "$1" "$2"), not $3"
}
has_counted() { [ "$(proxy_count "$1" "$2")" -ge "$3" ]; }

stays_open() {
	[ "$(proxy_says "$1" -j connections | figures --count connections '*')" = "$2" ] ||
		fail "$1: not $2 connections: $(grep closed "$proxy_dir/$1.log")"
}

# all_released SIDE PROXY: waits until it has no connection and has released all memory.
all_released() {
	local n
	for n in $(seq $SILENT_ROUNDS); do
		drained "$1" "$2" && return 0
	done
	return 1
}

# silent_begin PORT: starts the row's server on PORT.
silent_begin() {
	silent_keys
	modprobe -a sch_ingress sch_tbf cls_u32 cls_matchall act_gact
	"$LAB_BUILD/tests/e2e/held_call" serve 0.0.0.0 "$1" &
	echo $! >/run/held.pids
}

silent_end() {
	local pid
	for pid in $(cat /run/held.pids); do kill -KILL "$pid" 2>/dev/null || true; done
}

# cut_wire DEV [PORT...]: discards all packets of that interface, or only those of connections with one of these ports.
# It uses "trap", because TCP and rxe are notified of packets that "drop" discards before they leave, but not of losses
# in the network.
cut_wire() {
	local dev=$1 way port
	shift
	tc qdisc add dev "$dev" clsact
	for way in ingress egress; do
		[ $# -gt 0 ] || tc filter add dev "$dev" $way matchall action trap
		for port in "$@"; do
			tc filter add dev "$dev" $way protocol ip u32 match ip sport "$port" 0xffff action trap
			tc filter add dev "$dev" $way protocol ip u32 match ip dport "$port" 0xffff action trap
		done
	done
}

# The guest's ends use verbs on siw, the host's use iwarp. The guest accepts one connection and makes the other.
silent_siw() {
	local calls retries
	silent_begin 2214
	guest_row lost-in verbs://10.0.2.15:2213 tcp://127.0.0.1:2214 $SILENT_KEYS
	guest_row lost-out tcp://127.0.0.1:2215 verbs://10.0.2.2:2107 $SILENT_KEYS
	host_row lost-back iwarp://10.0.2.2:2107 tcp://10.0.2.15:2214 $SILENT_KEYS
	host_row lost-host tcp://10.0.2.2:2106 iwarp://10.0.2.15:2213 $SILENT_KEYS
	for calls in idle held; do
		held in 10.0.2.2 2106 $calls
		held out 127.0.0.1 2215 $calls
	done
	# Live peers answer the probes: RDMA Reads, and NULL Calls of the connecting end, which cannot Read.
	counts lost-in probes 4
	counts lost-out null_calls_answered 2
	stays_open lost-in 2
	stays_open lost-out 2
	cut_wire eth0 2213 2107
	all_released guest lost-in
	counts lost-out silent 1
	# The connecting end without a Call in flight relies on TCP of the host. A shorter time limit shows that this
	# limit is effective.
	stays_open lost-out 1
	retries=$(cat /proc/sys/net/ipv4/tcp_retries2)
	echo 4 >/proc/sys/net/ipv4/tcp_retries2
	all_released guest lost-out
	all_released host lost-back
	all_released host lost-host
	tc qdisc del dev eth0 clsact
	echo "$retries" >/proc/sys/net/ipv4/tcp_retries2
	[ "$(proxy_count lost-in silent)" = 2 ] || fail "the acceptor: $(grep closed $proxy_dir/lost-in.log)"
	[ "$(proxy_count lost-out silent)" = 1 ] || fail "the connector: $(grep closed $proxy_dir/lost-out.log)"
	[ "$(proxy_count lost-out null_calls_unanswered)" = 1 ] || fail "no NULL Call was left unanswered"
	grep closed $proxy_dir/lost-*.log
	silent_end
}

# Two rxe devices on a pair of interfaces of this guest. Packets to either address use the wire, because the path within
# the host cannot drop packets. The wire has a limited speed: without it, rxe devices that retransmit to each other
# after a lost connection use both processors of the guest.
rxe_pair_up() {
	local n
	ip link add p1 type veth peer name p2
	for n in 1 2; do
		ip addr add "10.7.0.$n/32" dev p$n
		tc qdisc add dev p$n root tbf rate 200mbit burst 64kb limit 64mb
		ip link set p$n up
		echo 1 >/proc/sys/net/ipv4/conf/p$n/accept_local
		echo 0 >/proc/sys/net/ipv4/conf/p$n/rp_filter
		ip route add "10.7.0.$((3 - n))/32" dev p$n src "10.7.0.$n" table 20$n
		# The connection manager resolves the address of its peer, and accepts an answer only on the interface
		# of the request.
		ip route add "10.7.0.$((3 - n))/32" dev p$n
		ip rule add pref $n iif lo to "10.7.0.$((3 - n))/32" lookup 20$n
	done
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	ip rule add pref 10 lookup local
	ip rule del pref 0
	for n in 1 2; do rdma link add rxep$n type rxe netdev p$n; done
}

rxe_pair_down() {
	local n
	ip rule add pref 0 lookup local
	ip rule del pref 10
	for n in 1 2; do
		ip rule del pref $n
		within 60 rdma link delete rxep$n
	done
	ip link del p1
}

silent_rxe() {
	local calls way
	silent_begin 2218
	rxe_pair_up
	guest_row lost-rxe-in verbs://10.7.0.2:2216 tcp://127.0.0.1:2218 $SILENT_KEYS
	guest_row lost-rxe-out tcp://127.0.0.1:2217 verbs://10.7.0.2:2216 $SILENT_KEYS
	for calls in idle held; do held rxe 127.0.0.1 2217 $calls; done
	counts lost-rxe-in probes 4
	counts lost-rxe-out probes 4
	stays_open lost-rxe-in 2
	stays_open lost-rxe-out 2
	cut_wire p1
	all_released guest lost-rxe-in
	all_released guest lost-rxe-out
	grep closed $proxy_dir/lost-rxe-*.log
	[ "$(proxy_count lost-rxe-in silent)" = 2 ] || fail "the acceptor: $(grep closed $proxy_dir/lost-rxe-in.log)"
	[ "$(proxy_count lost-rxe-out silent)" = 2 ] || fail "the connector: $(grep closed $proxy_dir/lost-rxe-out.log)"
	silent_end
	for way in in out; do proxy_stop lost-rxe-$way KILL; done
	rxe_pair_down
}

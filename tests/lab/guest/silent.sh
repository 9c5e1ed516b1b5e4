# SPDX-License-Identifier: BSD-3-Clause
# Peers that fall silent: all links stay up, but packets are dropped between the two ends of an RDMA connection. With
# and without a Call in flight, the proxies on either end detect it by keepalive and release all that the connection
# held.

# silent_keys: on a machine that is slow they leave the peers that are there more time to answer.
silent_keys() {
	local seconds
	seconds=$(limit_s 3)
	SILENT_KEYS="keepalive_s=$seconds;stall_timeout_s=$seconds;"
}

# The longest that any of them may take with these keys, in rounds of proxy_drained's minute: two, and one for the emulator.
SILENT_ROUNDS=3

# held NAME ADDRESS PORT idle|held: a client that has been served, and then has a Call kept by the server, or not.
held() {
	"$LAB_BUILD/tests/e2e/held_call" ask "$2" "$3" "$4" >"/run/$1.$4" &
	echo $! >>/run/held.pids
	wait_for 40 grep -q ready "/run/$1.$4" || fail "client $1 is not served ($4)"
}

# counts NAME COUNTER VALUE: waits until it has reached that, which takes some rounds of probes.
counts() {
	wait_for 120 has_counted "$@" || fail "$1: $2 is $(proxy_count "$1" "$2"), not $3"
}
has_counted() { [ "$(proxy_count "$1" "$2")" -ge "$3" ]; }

stays_open() {
	[ "$(proxy_says "$1" -j connections | figures --count connections '*')" = "$2" ] ||
		fail "$1: not $2 connections: $(grep closed "$proxy_dir/$1.log")"
}

# all_released SIDE PROXY
all_released() {
	local n
	for n in $(seq $SILENT_ROUNDS); do
		drained "$1" "$2" && return 0
	done
	return 1
}

# silent_begin PORT: where the server of the row listens.
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

# cut_wire DEV [PORT...]: discards all packets of that interface, or those of connections with such a port at one end. "trap",
# not "drop": TCP and rxe are notified of packets that are dropped here before they leave, but not of those that the network
# drops.
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

# The guest's ends are verbs on siw, the host's iwarp: one connection is accepted here, one is made here.
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
	# Those who are there answer: Reads, and the NULL Calls of the connector, which has nothing else.
	counts lost-in probes 4
	counts lost-out null_calls_answered 2
	stays_open lost-in 2
	stays_open lost-out 2
	cut_wire eth0 2213 2107
	all_released guest lost-in
	counts lost-out silent 1
	# The connector without a Call in flight is left to the host's TCP. That its time is this one is shown by shortening it.
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

# Two rxe devices on a pair of interfaces of this guest. What is sent from here to either address takes the wire and not
# the way within the host, on which nothing could be dropped. The wire has a speed: rxe devices that send each other the same
# again and again, as they do once connections are lost, take both processors of the guest for themselves on one that has none.
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
		# The connection manager asks where its peer is, and takes no answer but the interface that the request came by.
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

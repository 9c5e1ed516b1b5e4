#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rows over the verbs fabric: the proxies run in this guest, on the kernel's siw (10.0.2.15) and rxe (10.9.0.1).
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
. "$(dirname "$0")/silent.sh"
. "$(dirname "$0")/versions.sh"
. "$(dirname "$0")/thresholds.sh"
. "$(dirname "$0")/identity.sh"
. "$(dirname "$0")/standin.sh"

# A libnfs client on the host, through a proxy on the host and one in this guest, to the NFS-Ganesha on the host.
libnfs() {
	local before after
	before=$(host proxy_bytes to-guest)
	host libnfs "$1" 2105 20148
	after=$(host proxy_bytes to-guest)
	[ $((after - before)) -ge $((2 << 20)) ] || fail "only $((after - before)) bytes went through the proxy"
}

# rdma:// uses verbs if a device serves the address, and also iwarp: one listener for both, and a connection on the
# fabric that reaches the server.
on_fabric() {
	local said
	said=$(grep -c "$2" "$proxy_dir/$1.log" || true)
	[ "$said" -gt 0 ] || fail "$1 does not say: $2"
}

either() {
	work_files
	mount_clean
	umount /mnt/n
}

rdma_listener() {
	nfs_mount 4.2 10.9.0.1 2207 rdma
	either
	nfs_mount 4.1 10.9.0.1 2208 tcp
	either
	on_fabric both 'open .* over tcp'
	[ "$(grep -c ' open ' $proxy_dir/both.log)" -ge 2 ] || fail "no two connections"
}

rdma_connect() {
	nfs_mount 4.2 10.0.2.15 2209 tcp
	either
	on_fabric either-rxe 'over verbs'
	nfs_mount 4.2 10.0.2.15 2210 tcp
	either
	on_fabric either-lo 'over iwarp'
}

# Each RPC with a chunk exposes registered memory.
through_off() {
	through "$@"
	[ "$(proxy_count "$2" regions_lent)" -gt 0 ] || fail "no registration was lent"
	[ "$(proxy_count "$2" windows_bound)" = 0 ] || fail "a window was bound"
	say "# $(proxy_count "$2" slabs_registered) slabs registered for $(proxy_count "$2" connections_opened) connections"
}

# A lying server in user space, and a good one, in one worker.
claims() {
	local cleared
	proxy_start claims-good verbs://10.0.2.15:2273 tcp://127.0.0.1:2274
	proxy_start claims tcp://127.0.0.1:2271 verbs://10.0.2.15:2275 'ddp = "nfs"; require_privileged_port = false; },
	  { name = "good"; listen = "tcp://127.0.0.1:2272"; connect = "verbs://10.0.2.15:2273";'
	with_limit 120 "$LAB_BUILD/tests/e2e/rpc_peer" 2272 2274 0 2275 lying 2271 24 10.0.2.15 ||
		fail "a client was sent what nobody had sent it"
	cleared=$(proxy_count claims exposed_bytes_cleared)
	[ "$cleared" -gt 0 ] || fail "nothing was cleared"
	say "# $cleared bytes were cleared"
	proxy_stop claims KILL
	proxy_stop claims-good KILL
}

# judged_siw NAME FUNCTION ARGUMENTS...: a row between two siw devices of this guest. The judge captures the guest's
# loopback; in the short tier nothing is judged.
judged_siw() {
	if [ "$LAB_TIER" = short ]; then row "$@"; else JUDGE_HERE=lo judged "$@"; fi
}

guest_start
guest_rxe
pair verbs 10.0.2.15 siw
pair verbs 10.9.0.1 rxe
pair verbs fd00:9::1 "rxe, IPv6"
server_start
rxe_proxies
guest_row siw-tcp verbs://10.0.2.15:2203 tcp://127.0.0.1:2049
guest_row siw-ganesha verbs://10.0.2.15:20051 tcp://10.0.2.2:2149
host_row to-guest tcp://10.0.2.2:2105 iwarp://10.0.2.15:20051
guest_row gateway iwarp://10.0.2.15:2206 verbs://10.9.0.1:20049

for version in $(versions 4.2); do
	JUDGE_HERE=lo judged "tcp client, tcp=>verbs on siw, knfsd over RDMA, $version" \
		through guest tcp-siw "$version" 10.0.2.15 2201 tcp
done
# Like a device without memory windows: with a protection domain for each connection, and options that the kernel may
# reject; and with one domain for all connections to the server.
guest_row off-rxe tcp://10.0.2.15:2223 verbs://10.9.0.1:20049 \
	"memory_windows = \"off\"; rdma_domain = \"connection\"; rdma_ack_timeout = 16; rdma_tos = 106;"
guest_row off-peer-rxe tcp://10.0.2.15:2224 verbs://10.9.0.1:20049 "memory_windows = \"off\";"
for version in $(versions 4.2); do
	row "tcp client, tcp=>verbs on rxe without windows, knfsd over RDMA, $version" \
		through_off guest off-rxe "$version" 10.0.2.15 2223 tcp
done
[ "$LAB_TIER" = short ] || for version in $(versions 4.1); do
	row "tcp client, tcp=>verbs on rxe without windows, a domain for the server, knfsd over RDMA, $version" \
		through_off guest off-peer-rxe "$version" 10.0.2.15 2224 tcp
done
for version in $(versions 4.2); do
	judged_siw "siw client, verbs=>tcp on siw, knfsd with secure exports, $version" \
		through guest siw-tcp "$version" 10.0.2.15 2203 rdma
done
# In the short tier the other kernel runs these rows (iwarp.sh).
[ "$LAB_TIER" = short ] || rxe_rows
for version in 3 4; do
	judged "libnfs, tcp=>iwarp, verbs=>tcp on siw, NFS-Ganesha, $version" libnfs $version
done
for version in $(versions 4.1); do
	JUDGE_HERE=lo judged "siw client, iwarp=>verbs on rxe, knfsd over RDMA, $version" \
		through guest gateway "$version" 10.0.2.15 2206 rdma
done

standin_rows

[ "$LAB_TIER" = short ] ||
	row "siw: receives change their sizes under load" sizes verbs 10.0.2.15
row "rxe: receives change their sizes under load" sizes verbs 10.9.0.1
# Larger receives use the memory that the largest messages leave.
guest_row v2-siw-server verbs://10.0.2.15:2231 tcp://127.0.0.1:2049 "max_message_bytes = 4194304;"
guest_row v2-siw tcp://10.0.2.15:2241 verbs://10.0.2.15:2231 "connect_version = 2; max_message_bytes = 4194304;"
guest_row v2-rxe-server verbs://10.9.0.1:2232 tcp://127.0.0.1:2049 "max_message_bytes = 4194304;"
guest_row v2-rxe tcp://10.0.2.15:2242 verbs://10.9.0.1:2232 "connect_version = 2; max_message_bytes = 4194304;"
guest_row v2-knfsd tcp://10.0.2.15:2235 verbs://10.0.2.15:20049 "connect_version = 2;"
JUDGE_HERE=lo judged "version two: tcp client, verbs on siw, knfsd, 4.1" both_speak 10.0.2.15 2241 v2-siw v2-siw-server
row "version two: tcp client, verbs on rxe, knfsd, 4.1" both_speak 10.0.2.15 2242 v2-rxe v2-rxe-server
for device in "siw 10.0.2.15 2251 2261" "rxe 10.9.0.1 2252 2262"; do
	set -- $device
	guest_row "wide-$1-server" "verbs://$2:$3" tcp://127.0.0.1:2049 "inline_threshold_bytes = 262144; max_connections = 8;"
	guest_row "wide-$1" "tcp://10.0.2.15:$4" "verbs://$2:$3" "inline_threshold_bytes = 262144; max_connections = 8;"
	row "Sends of 200,000 bytes: tcp client, verbs on $1, knfsd, 4.1" one_send 10.0.2.15 "$4" "wide-$1" "wide-$1-server"
done
row "version two: a kernel client with version one beside it, at one listener" one_listener
row "version two: knfsd has version one only, and carries each Call out once" try_knfsd

# Changes of devices, with proxies on them.
# moves MOMENTS ARGUMENTS...: runs kills. The proxy must have noticed the change on a connection, or on its listener if
# the client closed the connection earlier.
moves() {
	local proxy=$3 before
	before=$(proxy_count "$proxy" address_changes)
	kills address "$@"
	[ "$(proxy_count "$proxy" address_changes)" -gt "$before" ] ||
		grep -q 'lost its address' "$proxy_dir/$proxy.log" || fail "$proxy has not noticed"
}

count=$(moments 4.2 4.2)
devices=3 often="3 times"
[ "$LAB_TIER" != short ] || { devices=1 often=once; }
row "tcp client, tcp=>verbs on rxe, knfsd over RDMA, 4.2: the proxy is killed $count times" \
	kills proxy "$count" guest tcp-rxe 4.2 10.0.2.15 2202 tcp
JUDGE=-k judged_siw "siw client, verbs=>tcp on siw, knfsd, 4.1: the proxy is killed $count times" \
	kills proxy "$count" guest siw-tcp 4.1 10.0.2.15 2203 rdma
row "tcp client, tcp=>verbs on rxe, knfsd over RDMA, 4.2: the device is taken away $often" \
	kills device $devices guest tcp-rxe 4.2 10.0.2.15 2202 tcp
row "rxe client, verbs=>tcp on rxe, knfsd, 4.1: the device is taken away $often" \
	kills device $devices guest rxe-tcp 4.1 10.9.0.1 2204 rdma
row "tcp client, tcp=>verbs on rxe, knfsd over RDMA, 4.2: the address moves $(few) times" \
	moves "$(few)" guest tcp-rxe 4.2 10.0.2.15 2202 tcp
row "rxe client, verbs=>tcp on rxe, knfsd, 4.1: the address moves $(few) times" \
	moves "$(few)" guest rxe-tcp 4.1 10.9.0.1 2204 rdma

# seeks PROXY: its only connection has been connecting to the server for a while. Sets said to its answer.
seeks() {
	said=$(proxy_says "$1" -j connections) &&
		jq -e '.connections[0] | .state == "connecting" and .state_age_s >= 2' <<<"$said" >/dev/null
}

# siw connects inside rdma_connect(), here to a host that never answers.
silent_server() {
	local client said= seeks=
	client_start 9
	ip -n c9 route add blackhole 10.8.9.1/32
	rdma link add siw9 type siw netdev v9
	proxy_start silent tcp://127.0.0.1:2212 verbs://10.8.9.2:20049
	exec {client}<>/dev/tcp/127.0.0.1/2212
	# A record of 40 bytes, NFSv3 NULL: the proxy connects to a server only for a complete Call.
	printf '\200\0\0\50\0\0\0\1\0\0\0\0\0\0\0\2\0\1\206\243\0\0\0\3' >&$client
	head -c 20 /dev/zero >&$client
	wait_for 20 seeks silent && seeks=yes
	echo "$said"
	exec {client}<&-
	proxy_stop silent KILL
	rdma link delete siw9
	client_end 9
	[ "$seeks" ] || fail "the proxy says: $said"
}
row "siw: a server that does not answer holds up nobody" silent_server

[ "$LAB_TIER" = short ] ||
	row "siw: packets are dropped, and either end gives up, with a Call in flight and without" silent_siw
row "rxe: packets are dropped, and either end gives up, with a Call in flight and without" silent_rxe

# Vanishing clients, while others continue.
guest_row siw-tcp-many verbs://10.0.2.15:2221 tcp://127.0.0.1:2049 "keepalive_s = 3;"
# In the short tier clients on siw vanish in iwarp.sh.
[ "$LAB_TIER" = short ] ||
	row "siw client, verbs=>tcp on siw, knfsd, 4.1: $count other clients vanish" \
		kills_client "$count" guest siw-tcp-many 4.1 10.0.2.15 2221 rdma
modprobe -a sch_ingress sch_tbf cls_matchall act_gact
rxe_pair_up
guest_row rxe-tcp-many verbs://0.0.0.0:2222 tcp://127.0.0.1:2049 "keepalive_s = 3;"
VICTIM=rxe_ row "rxe client, verbs=>tcp on rxe, knfsd, 3: $count other rxe clients vanish" \
	kills_client "$count" guest rxe-tcp-many 3 10.9.0.1 2222 rdma
row "the proxies on siw and rxe have let go of the clients that vanished" \
	clients_forgotten guest siw-tcp-many guest rxe-tcp-many
proxy_stop rxe-tcp-many KILL
rxe_pair_down

identity_rows

guest_row both rdma://10.9.0.1:2207 tcp://127.0.0.1:2049
guest_row to-both tcp://10.9.0.1:2208 iwarp://10.9.0.1:2207
guest_row either-rxe tcp://10.0.2.15:2209 rdma://10.9.0.1:20049
guest_row either-lo tcp://10.0.2.15:2210 rdma://127.0.0.1:2211
guest_row behind-lo iwarp://127.0.0.1:2211 tcp://127.0.0.1:2049
row "siw: a server that claims what it has not written brings nobody another client's data" claims
row "rdma:// listens for rxe and for iwarp on one port" rdma_listener
row "rdma:// connects by a device where there is one, else by iwarp" rdma_connect
row "the server's file system is consistent" export_consistent
cp -r $proxy_dir /run/share/guest-proxies
verdicts_all
say done

# SPDX-License-Identifier: BSD-3-Clause
# Further clients. Each is a network namespace with its own address, host name and NFS state, and mounts at /mnt/cN. The
# kernel's RDMA drivers connect from the first namespace only, so these clients mount over TCP: from the tested proxy,
# or, if that listens for RDMA, from a second proxy in the client's namespace, which connects over iwarp.

# client_run N COMMAND...: runs the command as client N.
client_run() {
	local n=$1
	shift
	nsenter --net="/run/netns/c$n" unshare --uts sh -c 'hostname "$0"; exec "$@"' "client$n" "$@"
}

# client_start N: makes its namespace and interface, to which this guest routes.
client_start() {
	local n=$1
	modprobe veth
	echo 1 >/proc/sys/net/ipv4/ip_forward
	ip netns add "c$n"
	ip link add "v$n" type veth peer name eth0 netns "c$n"
	ip addr add "10.8.$n.1/24" dev "v$n"
	ip link set "v$n" up
	ip -n "c$n" link set lo up
	ip -n "c$n" addr add "10.8.$n.2/24" dev eth0
	ip -n "c$n" link set eth0 up
	ip -n "c$n" route add default via "10.8.$n.1"
}

# client_mount N VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: mounts at /mnt/cN; PROTO is that of the proxy's
# listener.
client_mount() {
	local n=$1 version=$2 address=$3 port=$4 proto=$5 from
	shift 5
	[ -e "/run/netns/c$n" ] || client_start "$n"
	mkdir -p "/mnt/c$n" $proxy_dir
	from=$address
	if [ "$proto" = rdma ]; then
		PROXY_IN="nsenter --net=/run/netns/c$n" \
			proxy_start "client$n" tcp://127.0.0.1:2049 "iwarp://$address:$port" || fail "no proxy for client $n"
		from=127.0.0.1 port=2049
	fi
	nfs_where "$version" "$port" tcp "$@"
	client_run "$n" "$TIME_LIMIT" 40 mount -t nfs -o "$nfs_options" "$from:$nfs_path" "/mnt/c$n"
}

# client_umount N: unmounts and stops its proxy.
client_umount() {
	umount "/mnt/c$1"
	proxy_stop "client$1"
}

# client_vanish N PID...: sets its interface down, then kills its processes.
client_vanish() {
	local n=$1
	shift
	ip -n "c$n" link set eth0 down
	kill -KILL "$@"
	proxy_stop "client$n" KILL
	umount -f -l "/mnt/c$n" &
}

# rdma_client_mount N VERSION ADDRESS PORT rdma [MOUNTADDR MOUNTPORT]: mounts by the kernel's NFS/RDMA client over siw,
# from a separate address on eth1. It reaches the host as 10.0.3.2; ADDRESS is ignored. NFSv3 only, because an NFSv4
# client would recognise the server of another mount, and share its transport.
rdma_client_mount() {
	local n=$1 version=$2 port=$4 proto=$5
	shift 5
	rdma link show siw1/1 >/dev/null 2>&1 || rdma link add siw1 type siw netdev eth1
	ip link set eth1 up
	ip addr add "10.0.3.$n/24" dev eth1
	mkdir -p "/mnt/c$n"
	nfs_where "$version" "$port" "$proto" "$@"
	with_limit 40 mount -t nfs -o "$nfs_options" "10.0.3.2:$nfs_path" "/mnt/c$n"
	grep -A60 "mounted on /mnt/c$n " /proc/self/mountstats | grep -q 'xprt:[[:space:]]*rdma' || fail "client $n is not on RDMA"
}

# rdma_client_vanish N PID...: removes its address, so that it can neither send nor receive, then kills its processes.
rdma_client_vanish() {
	local n=$1
	shift
	ip addr del "10.0.3.$n/24" dev eth1
	kill -KILL "$@"
	umount -f -l "/mnt/c$n"
}

# rxe_client_mount N VERSION ADDRESS PORT rdma [MOUNTADDR MOUNTPORT]: mounts by the kernel's NFS/RDMA client over the
# wire between two rxe devices of this guest (rxe_pair_up), from 10.7.0.2; ADDRESS is ignored. NFSv3 only, as
# rdma_client_mount.
rxe_client_mount() {
	local n=$1 version=$2 port=$4 proto=$5
	shift 5
	tc qdisc del dev p1 clsact 2>/dev/null || true
	mkdir -p "/mnt/c$n"
	nfs_where "$version" "$port" "$proto" "$@"
	with_limit 40 mount -t nfs -o "$nfs_options" "10.7.0.2:$nfs_path" "/mnt/c$n"
	grep -A60 "mounted on /mnt/c$n " /proc/self/mountstats | grep -q 'xprt:[[:space:]]*rdma' || fail "client $n is not on RDMA"
}

# rxe_client_vanish N PID...: drops all packets on the wire, then kills its processes.
rxe_client_vanish() {
	local n=$1
	shift
	cut_wire p1
	kill -KILL "$@"
	umount -f -l "/mnt/c$n"
}

# client_end N: restores its network, so that nothing waits for it, and removes what it has left.
client_end() {
	local n=$1
	[ -e "/run/netns/c$n" ] || return 0
	ip -n "c$n" link set eth0 up
	if grep -q " /mnt/c$n " /proc/mounts; then with_limit 20 umount -f -l "/mnt/c$n"; fi
	proxy_stop "client$n" KILL
	ip link del "v$n"
	ip netns del "c$n"
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rows over the iwarp fabric: the proxies run on the host, the kernel's client and server in this guest.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
. "$(dirname "$0")/configuration.sh"
. "$(dirname "$0")/servers.sh"
. "$(dirname "$0")/differences.sh"
. "$(dirname "$0")/second_mount.sh"

guest_start
[ "$LAB_TIER" != short ] || guest_rxe
server_start
say "# kernel $(uname -r), $(/usr/sbin/mount.nfs -V)"

host_row tcp-iwarp tcp://10.0.2.2:2101 iwarp://10.0.2.15:20049
host_row iwarp-tcp iwarp://10.0.2.2:2102 tcp://10.0.2.15:2049
host_row iwarp-ganesha iwarp://10.0.2.2:2103 tcp://127.0.0.1:2149

# siw has a race between its accept and the first message: it sends its reply before it is ready to receive.
fresh() {
	host null 2101 200 1000
}

judged "200 fresh connections, tcp=>iwarp, knfsd over siw: each answered within a second" fresh
# In the short tier, a later row with one service tests NFSv3.
for version in $(versions 4.2); do
	judged "tcp client, tcp=>iwarp, knfsd over siw, $version" through host tcp-iwarp "$version" 10.0.2.2 2101 tcp
done
for version in $(versions 4.1); do
	judged "siw client, iwarp=>tcp, knfsd with secure exports, $version" \
		through host iwarp-tcp "$version" 10.0.2.2 2102 rdma
done
for version in $(versions 4.2); do
	# NFS-Ganesha 4.3 has no user xattrs on its VFS, and does not recall delegations if a file is opened locally.
	NFS4_PATH=/export NFS3_PATH=/export FOREIGN_SERVER=yes \
		judged "siw client, iwarp=>tcp, NFS-Ganesha, $version" \
		through host iwarp-ganesha "$version" 10.0.2.2 2103 rdma 10.0.2.2 20148
done

# In the short tier verbs.sh boots the other kernel, so rxe of this kernel is tested here.
if [ "$LAB_TIER" = short ]; then
	rxe_proxies
	rxe_rows
fi

# siw sends wrong CRCs, and the connection recovers.
if [ "$LAB_TIER" != short ]; then
	WORK=work_changes judged "tcp client, tcp=>iwarp, knfsd over siw, 4.2: bytes change while they are sent" \
		through host tcp-iwarp 4.2 10.0.2.2 2101 tcp
	WORK=work_changes judged "siw client, iwarp=>tcp, knfsd, 4.1: bytes change while they are sent" \
		through host iwarp-tcp 4.1 10.0.2.2 2102 rdma
fi

# As an administrator configures it: the export names only the proxy, and MOUNT goes through the proxy like NFS.
only_to_the_proxy() {
	mkdir -p /run/only
	exportfs -o rw,fsid=7,no_root_squash,secure,no_subtree_check 10.0.2.2:/run/only
	NFS3_PATH=/run/only nfs_mount 3 10.0.2.2 2102 rdma 10.0.2.15 20048 || true
	if grep -q ' /mnt/n ' /proc/mounts; then fail "mountd let the client in"; fi
	NFS3_PATH=/run/only nfs_mount 3 10.0.2.2 2102 rdma 10.0.2.2 2120
	[ "$(mount_kind)" = rdma ] || fail "the mount is $(mount_kind)"
	head -c 300000 /dev/urandom >/mnt/n/file
	cmp /mnt/n/file /run/only/file
	umount /mnt/n
	exportfs -u 10.0.2.2:/run/only
}
host_row mount tcp://10.0.2.2:2120 tcp://10.0.2.15:20048
row "siw client, iwarp=>tcp, knfsd that exports to the proxy alone, 3: MOUNT by the proxy" only_to_the_proxy

# One service forwards MOUNT and NFS of a server: it finds mountd by rpcbind, and clients of both kinds share the port.
# The short workload includes the access control lists of NFSv3 (NFSACL).
host_row filer tcp://10.0.2.2:2150,iwarp://10.0.2.2:2150 tcp://10.0.2.15:2049 'mount = "rpcbind";'
host_row filer-rdma tcp://10.0.2.2:2154 iwarp://10.0.2.15:20049 'mount = "rpcbind";'
judged "one service: tcp client, tcp=>tcp, knfsd, 3" through host filer 3 10.0.2.2 2150 tcp 10.0.2.2 2150
judged "one service: siw client, iwarp=>tcp, knfsd, 3" through host filer 3 10.0.2.2 2150 rdma 10.0.2.2 2150
[ "$LAB_TIER" = short ] ||
	judged "one service: siw client, iwarp=>tcp, knfsd, 4.2" through host filer 4.2 10.0.2.2 2150 rdma
judged "one service: tcp client, tcp=>iwarp, knfsd over siw, 3" through host filer-rdma 3 10.0.2.2 2154 tcp 10.0.2.2 2154

second_mount_rows

# Two chained proxies, the first one with few credits.
host_row chain tcp://10.0.2.2:2121 iwarp://10.0.2.2:2122 "credits = 2;"
host_row chain-end iwarp://10.0.2.2:2122 tcp://10.0.2.15:2049
guest_row chain-end-siw verbs://10.0.2.15:2124 tcp://127.0.0.1:2049
host_row chain-siw tcp://10.0.2.2:2123 iwarp://10.0.2.15:2124 "credits = 2;"
for version in 4.1 4.2; do
	[ "$LAB_TIER $version" != "short 4.2" ] || continue
	judged "tcp client, tcp=>iwarp, iwarp=>tcp, knfsd, $version: recalls while Calls wait for a credit" \
		recalls host chain "$version" 10.0.2.2 2121
done
judged "tcp client, tcp=>iwarp, verbs=>tcp on siw, knfsd, 4.1: recalls while Calls wait for a credit" \
	recalls host chain-siw 4.1 10.0.2.2 2123

# Version one with the draft's extras, between two proxies.
drafted='padding_align_bytes = 64; config_protocol = true;'
host_row draft03 tcp://10.0.2.2:2125 iwarp://10.0.2.2:2126 "connect_compat = \"draft03\"; $drafted"
host_row draft03-end iwarp://10.0.2.2:2126 tcp://10.0.2.15:2049 "listen_compat = \"draft03\"; $drafted"
for version in $(versions 4.2); do
	JUDGE=-d judged "draft 03: tcp client, tcp=>iwarp, iwarp=>tcp, knfsd, $version" \
		as_drafted draft03 draft03-end "$version" 10.0.2.2 2125
done
host_row conf-iwarp tcp://10.0.2.2:2127 iwarp://10.0.2.15:20049 "config_protocol = true;"
host_row conf-tcp iwarp://10.0.2.2:2128 tcp://10.0.2.15:2049 "config_protocol = true;"
judged "configuration: tcp client, tcp=>iwarp, knfsd over siw, 4.2" asks_knfsd conf-iwarp 4.2 10.0.2.2 2127
judged "configuration: siw client, iwarp=>tcp, knfsd, 4.1" not_asked conf-tcp 4.1 10.0.2.2 2128

# Kills.
for version in $(versions 4.2); do
	count=$(moments "$version" 4.2)
	JUDGE=-k judged "tcp client, tcp=>iwarp, knfsd over siw, $version: the proxy is killed $count times" \
		kills proxy "$count" host tcp-iwarp "$version" 10.0.2.2 2101 tcp
	SERVER=ganesha NFS4_PATH=/export NFS3_PATH=/export JUDGE=-k \
		judged "siw client, iwarp=>tcp, NFS-Ganesha, $version: the server is killed $count times" \
		kills server "$count" host iwarp-ganesha "$version" 10.0.2.2 2103 rdma 10.0.2.2 20148
done
for version in $(versions 4.1); do
	count=$(moments "$version" 4.1)
	JUDGE=-k judged "siw client, iwarp=>tcp, knfsd, $version: the proxy is killed $count times" \
		kills proxy "$count" host iwarp-tcp "$version" 10.0.2.2 2102 rdma
	# Threads of knfsd that never end (see server_stop) would break one short tier in ten, so the short tier kills
	# NFS-Ganesha instead.
	[ "$LAB_TIER" = short ] ||
		JUDGE=-k judged "tcp client, tcp=>iwarp, knfsd over siw, $version: the server ends $count times" \
		kills server "$count" host tcp-iwarp "$version" 10.0.2.2 2101 tcp
done

servers_rows

# A part of community.sh, which is a guest of the longer tiers.
if [ "$LAB_TIER" = short ]; then
	programs=(stressors git fio)
	community_missing
	for program in "${programs[@]}"; do
		row "$program, tcp client, tcp=>iwarp, knfsd over siw, 4.2: as directly" \
			as_directly "$program" 4.2 host tcp-iwarp 10.0.2.2 2101 tcp
	done
fi

# Connections of vanished clients still carry packets for a while. No row is judged from here on.
host_row tcp-iwarp-many tcp://10.0.2.2:2111 iwarp://10.0.2.15:20049
host_row iwarp-tcp-many iwarp://10.0.2.2:2112 tcp://10.0.2.15:2049
host_row iwarp-tcp-rdma iwarp://:2113 tcp://10.0.2.15:2049
count=$(moments 4.2 4.2)
row "tcp client, tcp=>iwarp, knfsd over siw, 4.2: $count other clients vanish" \
	kills_client "$count" host tcp-iwarp-many 4.2 10.0.2.2 2111 tcp
row "siw client, iwarp=>tcp, knfsd, 4.1: $count other clients vanish" \
	kills_client "$count" host iwarp-tcp-many 4.1 10.0.2.2 2112 rdma
VICTIM=rdma_ row "siw client, iwarp=>tcp, knfsd, 3: $count other siw clients vanish" \
	kills_client "$count" host iwarp-tcp-rdma 3 10.0.2.2 2113 rdma
row "the proxies have let go of the clients that vanished" \
	clients_forgotten host tcp-iwarp-many host iwarp-tcp-many host iwarp-tcp-rdma
verdicts_all
row "the server's file system is consistent" export_consistent
say done

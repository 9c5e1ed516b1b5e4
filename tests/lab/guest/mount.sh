# SPDX-License-Identifier: BSD-3-Clause
# Mounts of the kernel's client, and the kernel's statistics of their transport. Sourced by lib.sh, and by
# tests/lab/reconnects.sh.

# nfs_where VERSION PORT PROTO [MOUNTADDR MOUNTPORT]: sets nfs_path and nfs_options, including NFS_OPTIONS. The RDMA
# client closes a connection on which a Call has no Reply after timeo, in tenths of a second
# (xprtrdma/transport.c:xprt_rdma_timer). timeo is 10 s on an idle machine, extended on a slow one, and measured once
# per row.
nfs_where() {
	local version=$1 port=$2 proto=$3 more=${NFS_OPTIONS:+,$NFS_OPTIONS}
	: "${timeo:=$(limit_s 100)}"
	if [ "$version" = 3 ]; then
		nfs_path=${NFS3_PATH:-/srv/export}
		more+=,nolock,mountproto=tcp,mountaddr=${4:-10.0.2.15},mountport=${5:-20048}
	else
		nfs_path=${NFS4_PATH:-/}
	fi
	nfs_options="vers=$version,proto=$proto,port=$port,hard,timeo=$timeo,retrans=3,actimeo=1,retry=0$more"
}

# nfs_mount VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: mounts at /mnt/n.
nfs_mount() {
	local version=$1 address=$2 port=$3 proto=$4
	shift 4
	mkdir -p /mnt/n
	nfs_where "$version" "$port" "$proto" "$@"
	with_limit 40 mount -t nfs -o "$nfs_options" "$address:$nfs_path" /mnt/n
	mount_connects=$(mount_transport | cut -d' ' -f4)
	crc_faults
	mount_crc_faults=${#crc_faults[@]}
}

# Prints the transport line of the mount, in fields separated by single spaces: "rdma 0 0 1 ..." or "tcp 973 ...".
mount_transport() {
	grep -A60 'mounted on /mnt/n ' /proc/self/mountstats | awk '/xprt:/ { $1 = ""; print substr($0, 2); exit }'
}

# siw_end NAME: prints which end of iWARP connections in that row is this kernel's siw, which sometimes sends wrong CRCs
# (crc_faults): initiator or acceptor, or nothing. Prints nothing for kernels whose siw nobody has examined.
siw_end() {
	case $(uname -r) in
	6.1.* | 6.12.*) ;;
	*) return ;;
	esac
	case $1 in
	*"siw client"*) echo initiator ;;
	*"knfsd over siw"* | *"on siw, knfsd over RDMA"*) echo acceptor ;;
	esac
}

# crc_faults: sets crc_faults to a line such as "RDMA Write" for each wrong CRC that siw has sent on connections of this
# guest's client, from the log of the proxy of the mount (mount_by: its side and name). siw computes a CRC over pages of
# a file, and reads the pages again when it sends them (siw_qp_tx.c:siw_tx_hdt). So the CRC is wrong if a program writes
# the file in between. The proxy must then close the connection.
crc_faults() {
	local said=
	crc_faults=()
	if [ -n "${mount_by:-}" ] && [ -n "$(siw_end "$row_name")" ]; then
		said=$(asked "${mount_by% *}" proxy_crc_faults "${mount_by#* }" 10.0.2.15) || fail "no log of ${mount_by#* }: $said"
	fi
	[ -z "$said" ] || mapfile -t crc_faults <<<"$said"
}

# Checks the kernel's statistics of the transport. An unknown XID or a bad Reply since the mount fails the row. So do
# reconnects, unless there were exactly as many wrong CRCs of siw. A connect counts twice on TCP
# (xprtsock.c:xs_stream_start_connect, xs_tcp_state_change). A marshal also counts as failed if the client had to wait
# for a free memory region. This occurs even on direct mounts, fewer than ten times per run. So a small number is
# allowed, which grows with the number of Calls.
mount_clean() {
	local line faults connects
	line=$(mount_transport)
	echo "mountstats: $line"
	set -- $line
	crc_faults
	faults=$((${#crc_faults[@]} - mount_crc_faults))
	connects=$((mount_connects + faults * ($([ "$1" = tcp ] && echo 2 || echo 1))))
	((faults == 0)) || say "# siw of Linux $(uname -r) sent wrong CRCs, and the client connected again for each: $(
		printf '%s\n' "${crc_faults[@]:mount_crc_faults}" | sort | uniq -c | sed 's/^ *//' | paste -sd , | sed 's/,/, /g')"
	[ "$4" = "$connects" ] || { echo "reconnected: $4 connects, not $connects"; return 1; }
	[ "$9" = 0 ] || { echo "$9 replies with unknown XIDs"; return 1; }
	[ "$1" = rdma ] || return 0
	[ "${20}" -le $((16 + $7 / 500)) ] || { echo "${20} failed marshals"; return 1; }
	[ "${21}" = 0 ] || { echo "${21} bad replies"; return 1; }
}

# Prints the transport of the mount: "rdma" or "tcp".
mount_kind() {
	mount_transport | cut -d' ' -f1
}

# SPDX-License-Identifier: BSD-3-Clause
# Mounts of the kernel's client, and the kernel's statistics of their transport. Sourced by lib.sh, and by
# tests/lab/reconnects.sh.

# nfs_where VERSION PORT PROTO [MOUNTADDR MOUNTPORT]: sets nfs_path and nfs_options, NFS_OPTIONS among them. The client over RDMA
# ends a connection on which a Call has no Reply after timeo, in tenths of a second (xprtrdma/transport.c:xprt_rdma_timer): it has
# what is 10 s on an idle machine, measured once a row.
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

# The transport line of the mount, in fields separated by single spaces: "rdma 0 0 1 ..." or "tcp 973 ...".
mount_transport() {
	grep -A60 'mounted on /mnt/n ' /proc/self/mountstats | awk '/xprt:/ { $1 = ""; print substr($0, 2); exit }'
}

# siw_end NAME: prints which end of iWARP connections is siw of this kernel in the row of that name, and sends wrong CRCs now and
# then (crc_faults): initiator or acceptor, or nothing. Of a kernel whose siw has not been read nothing is excused.
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

# crc_faults: sets crc_faults to what siw has sent with a wrong CRC until now ("RDMA Write") on connections of this guest's own
# client, by the log of the proxy that the mount goes through (mount_by: its side and name). siw computes a CRC over pages of a file,
# and reads them again when it sends them (siw_qp_tx.c:siw_tx_hdt): the CRC is wrong if somebody writes the file in between.
# The proxy must end the connection then.
crc_faults() {
	local said=
	crc_faults=()
	if [ -n "${mount_by:-}" ] && [ -n "$(siw_end "$row_name")" ]; then
		said=$(asked "${mount_by% *}" proxy_crc_faults "${mount_by#* }" 10.0.2.15) || fail "no log of ${mount_by#* }: $said"
	fi
	[ -z "$said" ] || mapfile -t crc_faults <<<"$said"
}

# What the kernel client thinks of its transport: an unknown XID or a bad reply since the mount fail the row. So do reconnects,
# unless they are exactly as many as wrong CRCs of siw explain; a connect counts twice on TCP (xprtsock.c:xs_stream_start_connect,
# xs_tcp_state_change). A marshal counts as failed also when the client had to wait for a free memory region (seen on direct
# mounts, fewer than ten a run), hence the small allowance, which grows with the number of Calls.
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

# The kind of transport that the mount really has: "rdma" or "tcp".
mount_kind() {
	mount_transport | cut -d' ' -f1
}

# SPDX-License-Identifier: BSD-3-Clause
# Mounts of the kernel's client, and what it has to say of their transport. Sourced by lib.sh.

# nfs_where VERSION PORT PROTO [MOUNTADDR MOUNTPORT]: sets nfs_path and nfs_options, NFS_OPTIONS among them.
nfs_where() {
	local version=$1 port=$2 proto=$3 more=${NFS_OPTIONS:+,$NFS_OPTIONS}
	if [ "$version" = 3 ]; then
		nfs_path=${NFS3_PATH:-/srv/export}
		more+=,nolock,mountproto=tcp,mountaddr=${4:-10.0.2.15},mountport=${5:-20048}
	else
		nfs_path=${NFS4_PATH:-/}
	fi
	nfs_options="vers=$version,proto=$proto,port=$port,hard,timeo=100,retrans=3,actimeo=1,retry=0$more"
}

# nfs_mount VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: mounts at /mnt/n.
nfs_mount() {
	local version=$1 address=$2 port=$3 proto=$4
	shift 4
	mkdir -p /mnt/n
	nfs_where "$version" "$port" "$proto" "$@"
	with_limit 40 mount -t nfs -o "$nfs_options" "$address:$nfs_path" /mnt/n
	mount_connects=$(mount_transport | cut -d' ' -f4)
}

# The transport line of the mount, in fields separated by single spaces: "rdma 0 0 1 ..." or "tcp 973 ...".
mount_transport() {
	grep -A60 'mounted on /mnt/n ' /proc/self/mountstats | awk '/xprt:/ { $1 = ""; print substr($0, 2); exit }'
}

# What the kernel client thinks of its transport: a reconnect since the mount, an unknown XID or a bad reply fail
# the row. A marshal counts as failed also when the client had to wait for a free memory region (seen on direct
# mounts, fewer than ten a run), hence the small allowance, which grows with the number of Calls.
mount_clean() {
	local line kind
	line=$(mount_transport)
	echo "mountstats: $line"
	set -- $line
	[ "$4" = "$mount_connects" ] || { echo "reconnected: $4 connects, not $mount_connects"; return 1; }
	[ "$9" = 0 ] || { echo "$9 replies with unknown XIDs"; return 1; }
	[ "$1" = rdma ] || return 0
	[ "${20}" -le $((16 + $7 / 500)) ] || { echo "${20} failed marshals"; return 1; }
	[ "${21}" = 0 ] || { echo "${21} bad replies"; return 1; }
}

# The kind of transport that the mount really has: "rdma" or "tcp".
mount_kind() {
	mount_transport | cut -d' ' -f1
}

# SPDX-License-Identifier: BSD-3-Clause
# A host that mounts a server directly, and again through a proxy. With NFSv4 the kernel recognises the server by the
# owner and scope of its EXCHANGE_ID, and may use the connection of the first mount for the second one.

# second_mount WAY DIRECT_VERSION DIRECT_PROTO VERSION [OPTIONS]: WAY is the expected result: joined (one connection) or
# apart
second_mount() {
	local way=$1 direct_version=$2 proto=$3 version=$4 port=2049 before after nbytes=3000000
	[ "$proto" = tcp ] || port=20049
	mkdir -p /mnt/direct
	nfs_where "$direct_version" $port "$proto"
	with_limit 40 mount -t nfs -o "$nfs_options" "10.0.2.15:$nfs_path" /mnt/direct
	before=$(bytes host tcp-iwarp)
	if NFS_OPTIONS=${5:-} nfs_mount "$version" 10.0.2.2 2101 tcp; then
		head -c $nbytes /dev/urandom >/mnt/n/second
		sync
		rm /mnt/n/second
		umount /mnt/n
	else
		way="mounted at all"
	fi
	umount /mnt/direct
	after=$(bytes host tcp-iwarp)
	echo "$((after - before)) bytes through the proxy"
	case $way in
	joined) [ $((after - before)) -lt $nbytes ] ;;
	apart) [ $((after - before)) -ge $nbytes ] ;;
	*) false ;;
	esac || fail "the second mount is not $way: $((after - before)) bytes went through the proxy"
}

# second_mount_rows: tests which options keep the two apart, as in doc/recipes.md.
second_mount_rows() {
	row "4.2 directly over TCP, and 4.2 through the proxy: one connection" second_mount joined 4.2 tcp 4.2
	row "4.2 directly over RDMA, and 4.2 through the proxy: one connection" second_mount joined 4.2 rdma 4.2
	row "4.2 directly, and 4.2 with nosharecache through the proxy: one connection" second_mount joined 4.2 tcp 4.2 nosharecache
	row "4.1 directly, and 4.2 through the proxy: each its own" second_mount apart 4.1 tcp 4.2
	row "4.2 directly, and 3 through the proxy: each its own" second_mount apart 4.2 tcp 3
	row "3 directly, and 4.2 through the proxy: each its own" second_mount apart 3 tcp 4.2
}

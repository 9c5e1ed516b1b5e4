# SPDX-License-Identifier: BSD-3-Clause
# knfsd sees each client's address through a proxy of this guest (source = "client"). An export names one of two TCP
# clients, and the RDMA client. MOUNT and NFS use one service, whose port TCP and iWARP share.

named=/srv/export/named

# identity_start: makes an export with a separate file system, and starts the proxy with its routes. knfsd is on the
# same host.
identity_start() {
	local n
	for n in 1 2; do client_start $n; done
	mkdir -p $named
	mount -t tmpfs tmpfs $named
	chmod 1777 $named
	for n in 10.8.1.2 10.0.2.15; do
		exportfs -o rw,fsid=9,no_root_squash,secure,no_subtree_check $n:$named
	done
	proxy_start named tcp://0.0.0.0:2311,iwarp://0.0.0.0:2311 tcp://127.0.0.1:2049 \
		'source = "client"; mount = "tcp://127.0.0.1:20048";'
	"$LAB_BUILD/daemon/rpcrdma-proxy" -t -c $proxy_dir/named.conf 2>&1 | sed -n 's/^    ip /ip /p' >/run/named.routes
	[ -s /run/named.routes ] || fail "-t prints no routes"
	bash -e /run/named.routes
	cat /run/named.routes
}

identity_end() {
	sed -i 's/ add / del /; s/ replace / del /' /run/named.routes
	bash /run/named.routes
	proxy_stop named
	exportfs -u 10.8.1.2:$named
	exportfs -u 10.0.2.15:$named
	umount $named
	client_end 2
}

# named_mount N VERSION: client N mounts the export through the proxy
named_mount() {
	NFS3_PATH=$named NFS4_PATH=/named client_mount "$1" "$2" 10.0.2.15 2311 tcp 10.0.2.15 2311
}

# only_the_one_named VERSION: client one writes and reads; client two is rejected as it would be without the proxy.
only_the_one_named() {
	local version=$1
	date +%s%N >$named/stamp
	named_mount 1 "$version"
	cmp $named/stamp /mnt/c1/stamp
	head -c 3000000 /dev/urandom >/mnt/c1/file
	cmp /mnt/c1/file $named/file
	client_umount 1
	if [ "$version" = 3 ]; then
		! named_mount 2 3 || fail "mountd lets client two in"
	else
		# Client two can see the mount point, but only as an empty directory.
		named_mount 2 "$version" || true
		[ ! -e /mnt/c2/stamp ] || fail "client two sees the export"
		client_umount 2
	fi
}

# the_rdma_client_named VERSION: the kernel's RDMA client, over siw and the iwarp fabric; the server would reject the
# proxy's address. The client is on the proxy's host, so its mount program asks mountd directly: the proxy could not use
# the port of a local socket.
the_rdma_client_named() {
	date +%s%N >$named/stamp
	NFS3_PATH=$named NFS4_PATH=/named nfs_mount "$1" 10.0.2.15 2311 rdma 10.0.2.15 20048
	[ "$(mount_kind)" = rdma ] || fail "the mount is $(mount_kind)"
	cmp $named/stamp /mnt/n/stamp
	head -c 3000000 /dev/urandom >/mnt/n/file
	cmp /mnt/n/file $named/file
	umount /mnt/n
}

identity_rows() {
	local version
	row "source = client: the proxy starts, and -t prints its routes" identity_start
	for version in 3 4.1; do
		row "two tcp clients, source = client, knfsd exports to one, $version" only_the_one_named $version
		row "siw client, source = client, knfsd exports to it, $version" the_rdma_client_named $version
	done
	row "source = client: what it took is given back" identity_end
}

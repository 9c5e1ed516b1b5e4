# SPDX-License-Identifier: BSD-3-Clause
# Version two over verbs: two legs that change their receive sizes; two proxies that use it with each other; a proxy
# that tries it with the kernel's server, which has only version one; and the kernel's client next to a peer that uses
# version two.

# sizes FABRIC ADDRESS: runs tests/lab/pair_sizes.c, 3 times without DDP and 3 times with it, in the longer tiers 20
# times each. A request for a lower size is repeated until no Call crosses it that relies on the larger one (B4.2-2),
# which takes many tries under load.
sizes() {
	with_limit 200 "$LAB_BUILD/tests/lab/fabric_pair" "$1" "$2" sizes "$([ "$LAB_TIER" = short ] && echo 3 || echo 20)" || fail "receives do not change their sizes"
}

# leg_says NAME END EXPRESSION: prints the result of jq for the legs at that end ("client", "upstream") of a proxy's
# connections.
leg_says() {
	proxy_says "$1" -j connections | jq -c "[.connections[].$2 | $3]"
}

# work_medium COUNT: writes and reads a file in COUNT Calls of 48 KiB, and compares it. Each Call needs a chunk as long
# as receives are small, and would fit a larger receive.
work_medium() {
	dd if=/dev/urandom of=/run/medium bs=48K "count=$1" status=none
	dd if=/run/medium of=/mnt/n/medium bs=48K oflag=direct status=none
	cmp /run/medium /srv/export/medium || fail "the server's bytes differ"
	dd if=/mnt/n/medium bs=48K iflag=direct status=none | cmp - /run/medium || fail "bytes differ"
	rm /run/medium /mnt/n/medium
}

# both_speak ADDRESS PORT CLIENT SERVER: a kernel client works through these two proxies, which use version two with
# each other.
both_speak() {
	local client server
	nfs_mount 4.1 "$1" "$2" tcp
	# Some Calls raise the sizes, some use up the smaller receives, and the others are single Sends.
	work_medium 80
	client=$(leg_says "$3" upstream '[.rpcrdma_version, .recv_size_bytes, .peer_recv_size_bytes]')
	server=$(leg_says "$4" client '[.rpcrdma_version, .recv_size_bytes, .peer_recv_size_bytes]')
	echo "client's proxy: $client; server's: $server"
	jq -e 'length > 0 and all(.[]; .[0] == 2 and .[1] > 8192 and .[2] > 8192)' <<<"$client" >/dev/null ||
		fail "client's proxy has $client"
	jq -e 'length > 0 and all(.[]; .[0] == 2)' <<<"$server" >/dev/null || fail "server's proxy has $server"
	mount_clean
	umount /mnt/n
	[ "$(proxy_count "$3" err_chunk_received)" = 0 ] || fail "the client's proxy was sent ERR_CHUNK"
}

# one_listener: the server's proxy on rxe serves the kernel's client with version one, and the client's proxy with
# version two, at the same time.
one_listener() {
	local versions
	trap 'umount -f -l /mnt/beside 2>/dev/null || true' EXIT
	nfs_mount 4.1 10.0.2.15 2242 tcp
	mkdir -p /mnt/beside
	with_limit 40 mount -t nfs -o "vers=3,proto=rdma,port=2232,nolock,mountproto=tcp,mountaddr=10.0.2.15,mountport=20048,hard" \
		10.9.0.1:/srv/export /mnt/beside
	work_medium 3
	head -c 300000 /dev/urandom >/mnt/beside/file
	sync /mnt/beside/file
	cmp /mnt/beside/file /srv/export/file || fail "bytes differ"
	versions=$(leg_says v2-rxe-server client .rpcrdma_version)
	rm /mnt/beside/file
	umount /mnt/beside
	umount /mnt/n
	echo "versions $versions"
	[ "$(jq -c unique <<<"$versions")" = '[1,2]' ] || fail "versions are $versions"
}

# nfsd_calls: prints how many Calls the kernel's server has executed.
nfsd_calls() {
	awk '$1 == "rpc" { print $2 }' /proc/net/rpc/nfsd
}

# knfsd answers the first message of version two with ERR_VERS, and continues in version one. The next connection begins
# with version one.
try_knfsd() {
	local before sent refused versions
	before=$(nfsd_calls)
	nfs_mount 4.1 10.0.2.15 2235 tcp
	work_medium 20
	versions=$(leg_says v2-knfsd upstream .rpcrdma_version)
	mount_clean
	umount /mnt/n
	refused=$(proxy_count v2-knfsd err_vers_received)
	sent=$(proxy_says v2-knfsd -j stats | jq '[.. | .rdma? | .calls_sent? | numbers] | add')
	echo "versions $versions, $refused times ERR_VERS; $sent Calls sent, $(($(nfsd_calls) - before)) carried out"
	[ "$(jq -c unique <<<"$versions")" = '[1]' ] || fail "the connection's version is $versions"
	[ "$refused" = 1 ] || fail "ERR_VERS came $refused times"
	[ $(($(nfsd_calls) - before)) = "$sent" ] || fail "$sent Calls were sent, $(($(nfsd_calls) - before)) carried out"
	# Another connection of the same service: its server is known to have only version one.
	nfs_mount 4.1 10.0.2.15 2235 tcp
	work_medium 3
	umount /mnt/n
	[ "$(proxy_count v2-knfsd err_vers_received)" = 1 ] || fail "the next connection tries version two again"
}

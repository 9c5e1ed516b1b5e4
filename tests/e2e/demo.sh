#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `./dev demo` shows: files copied over NFS, through two proxies back to back, to an unmodified server.
# shellcheck disable=SC2034
A_SERVICE='connect_version = 2;'
. "$(dirname "$0")/lib.sh"
enter "$@"

say() { printf '\n== %s\n' "$*"; }
show() { printf '   $ %s\n' "$*"; }
broken() { show_logs; echo "demo: FAILED: $*"; exit 1; }
bail() { broken "$*"; }
skip_all() { broken "$*"; }

say "an unmodified NFS-Ganesha, on TCP port $NFS_PORT of a loopback of its own"
start_ganesha
say "proxy b: RDMA clients reach the TCP server; proxy a: TCP clients reach proxy b. Between them: iWARP, version two of RPC-over-RDMA"
start_chain
for side in a b; do
	show "rpcrdma-proxy -c $side.conf"
	sed 's/^/     /' $side.conf
done

say "real files, copied with libnfs and compared"
mkdir files
cp /usr/bin/bash /usr/bin/ganesha.nfsd files/
head -c 50000000 /dev/urandom >files/random
count=0 bytes=0
for file in files/*; do
	name=${file##*/}
	show "nfs-cp $name '${V3/\?//$name-3?}', and back"
	nfs-cp "$file" "${V3/\?//$name-3?}" >/dev/null || broken "nfs-cp of $name"
	nfs-cp "${V3/\?//$name-3?}" back-3 >/dev/null && cmp "$file" back-3 || broken "$name over NFSv3"
	show "nfs_client '$V4' put $name $name-4, and back: nfs-cp '${V4/\?//$name-4?}'"
	nfs_client "$V4" put "$file" "$name-4" || broken "put of $name"
	nfs-cp "${V4/\?//$name-4?}" back-4 >/dev/null && cmp "$file" back-4 || broken "$name over NFSv4.0"
	cmp "$file" "export/$name-3" && cmp "$file" "export/$name-4" || broken "$name at the server"
	rm -f back-3 back-4
	count=$((count + 2)) bytes=$((bytes + 4 * $(stat -c %s "$file")))
done
show "nfs-ls '$V4'"
nfs-ls "$V4" | sed 's/^/     /'

# Long enough for it, however busy the machine.
raised() { nfs_leg_is a upstream recv_size_bytes 32768 && nfs_leg_is a upstream peer_recv_size_bytes 32768; }

if [ "$E2E_CHAIN" = proxies ]; then
	say "a client reads and writes 16 KiB at a time, and the proxies enlarge their receives for that, from 4 KiB"
	start holder "$BIN/nfs_client" "$V3" hold held 4m 1 16k
	wait_for 60 raised || broken "the sizes of receives are not raised"
	for side in a b; do
		show "rpcrdma-proxyctl -s $side.sock -a connections | grep -o 'version 2.*'"
		ctl $side -a connections | grep -o 'version 2.*' | sed 's/ *-\?$//; s/^/     /'
	done
	stop holder KILL
fi

for side in a b; do
	say "what proxy $side has counted"
	show "rpcrdma-proxyctl -s $side.sock stats"
	ctl $side stats | awk '$NF != 0' | sed 's/^/     /'
done
if [ "$E2E_CHAIN" = proxies ]; then
	calls=$(counter a rdma calls_sent)
	[ "$calls" -gt 0 ] || broken "nothing went over RDMA"
	for side in a b; do
		stop $side
		[ "$exit_status" = 0 ] || broken "proxy $side ended with $exit_status"
	done
fi
stop ganesha KILL
stop rpcbind KILL
echo
echo "demo: OK: $count copies of real files, NFSv3 and NFSv4.0, $((bytes / 1000000)) MB in ${calls:-0} RPCs over RDMA, all equal"

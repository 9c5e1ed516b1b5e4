#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The peer of tests/peer runs on the host and tests a proxy on verbs, the kernel's client and the kernel's server.
# ../conformance.* lists the known deviations.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
peer_dir=/run/share/conformance
PATIENCE=8

# One scenario kills a thread of the kernel's server by a BUG (A3.4-5 in conformance.knfsd); the others must continue.
echo 0 >/proc/sys/kernel/panic_on_oops

# peer_over NAME: waits until the peer has finished, as long as its report grows.
peer_over() {
	local begin=$SECONDS lines=0 now
	until [ -e "$peer_dir/$1.over" ]; do
		now=$(wc -l <"$peer_dir/$1.tap")
		((now == lines)) || begin=$SECONDS lines=$now
		! limit_passed "$begin" 240 || fail "the peer does not end"
		pause 0.5
	done
}

# peer_says NAME LIST...: compares the peer's results with the lists. Its counts, and deviations that occur only
# sometimes, go to the report.
peer_says() {
	local said line status=0
	said=$(host conformance_verdict "$@") || status=$?
	echo "$said"
	while read -r line; do say "# Linux $(uname -r): ${line#this time: }"; done < <(grep '^this time: ' <<<"$said")
	say "# $1, Linux $(uname -r): $(tail -1 <<<"$said")"
	[ $status = 0 ] || fail "$(grep -v '^this time: ' <<<"$said" | head -1)"
}

# judged_server NAME PORT LIST: tests a server that listens on siw.
judged_server() {
	host conformance_begin "$1" -p "10.0.2.15:$2" --export /srv/export --rough --patience $PATIENCE
	peer_over "$1"
	peer_says "$1" siw "$3"
	[ -z "$(ls -d /srv/export/rpcrdma-conformance-* 2>/dev/null)" ] || fail "a folder is left in the export"
}

# Reasons why a statement is not tested on a proxy: it cannot be tested from outside, or needs other keys.
unasked='it (steers the server behind the responder|has the server call back|asks for more than the documents do|asks for what the RFC has and the draft has not: --rfc asks for it)'
unasked+='|it speaks version two|it does not speak (draft-03|configuration protocol)|its private data do not allow so much'

# judged_proxy NAME PORT: tests a proxy; each statement that can be tested was.
judged_proxy() {
	local left
	judged_server "$1" "$2" "$1"
	left=$(grep ' # SKIP ' "$peer_dir/$1.tap" | grep -vE " # SKIP ($unasked)\$" | head -1)
	[ -z "$left" ] || fail "not asked: $left"
}

# Writes and reads on some connections of the peer, each with another limit. A long path goes in a Read chunk, so that
# every Call of NFSv3 fits inline.
client_work() {
	local n target
	target=$(printf 'long/%.0s' $(seq 180))
	for n in $(seq 9); do
		ln -s "$target" /mnt/n/link
		work_readdir 25
		[ "$(readlink /mnt/n/link)" = "$target" ] || fail "symlink differs"
		rm /mnt/n/link
		ls -l /mnt/n/names >/dev/null
		echo 3 >/proc/sys/vm/drop_caches
	done
	work_files 600001
	work_names
	work_tree
}

# The kernel's client mounts the peer, as the peer prints it, and works there.
judged_client() {
	local line
	host conformance_begin client --requester -p 10.0.2.2:2130 --mount 10.0.2.2:2131 --patience $PATIENCE
	wait_for 20 grep -qs '^mount ' $peer_dir/client.tap || fail "the peer does not say what to mount"
	line=$(grep '^mount ' $peer_dir/client.tap)
	mkdir -p /mnt/n
	with_limit 60 ${line% /mnt} /mnt/n
	[ "$(mount_kind)" = rdma ] || fail "the mount is $(mount_kind)"
	client_work
	umount /mnt/n
	host conformance_end client
	peer_over client
	peer_says client client
	[ "$(grep -c '^connection' $peer_dir/client.tap)" -ge 3 ] || fail "fewer connections than the peer has limits"
	for tag in A2-1 A3.3-4 A3.4-4 A5.2-5 A7-2; do
		grep -q "^ok [0-9]* - $tag RQ .*[^N]$" <(grep -v SKIP $peer_dir/client.tap) || fail "nothing is seen of $tag"
	done
}

guest_start
server_start
rpc.nfsd 16
# With the default message size, memory_limit_mib would leave no memory for larger receives in version two.
guest_row siw-tcp verbs://10.0.2.15:2203 tcp://127.0.0.1:2049 "max_message_bytes = 4194304;"
row "conformance: verbs=>tcp on siw, knfsd behind it" judged_proxy verbs 2203
row "conformance: the kernel's client over siw" judged_client
# Floods of knfsd come last, because they sometimes stop most of its threads for good. knfsd of 6.12.95 is not tested:
# it copies a Reply without a chunk into a buffer of 4096 bytes if it has more pieces than a Send, without checking the
# length (svc_rdma_sendto.c:svc_rdma_pull_up_needed), and so overwrites the memory of the kernel.
case $(uname -r) in
6.12.95*)
	say "skip conformance: knfsd over siw # SKIP Linux $(uname -r) overwrites its memory with a Reply that has no chunk (svc_rdma_sendto.c:svc_rdma_pull_up_needed)"
	;;
*) row "conformance: knfsd over siw" judged_server knfsd 20049 knfsd ;;
esac
cp -r $proxy_dir /run/share/guest-proxies
say done

# SPDX-License-Identifier: BSD-3-Clause
# Two chained proxies, and the server's Calls to the client through them.

# Time limit of a recall on an idle machine, from the open on the server to its end.
RECALL_LIMIT_MS=2000

# busy_start SIDE PROXY: starts BUSY concurrent reads of the mount, until busy_end. Returns when most of them wait for a
# credit of that proxy. The kernel sends as many Calls as its session has slots: about 30, because knfsd of 6.1 caches
# 64 KiB per session. tests/e2e/recalls.sh has 256 waiting Calls.
BUSY=36
busy_start() {
	"$LAB_BUILD/tests/lab/lab_work" busy /mnt/n/busy $BUSY >/run/busy.log &
	busy=$!
	trap 'kill -KILL $busy 2>/dev/null || true' EXIT
	wait_for 20 held_by "$@" || fail "no Calls wait: $(tail -1 /run/busy.log)"
}

busy_end() {
	kill $busy
	wait $busy || fail "the reads fail: $(tail -1 /run/busy.log)"
}

# held_by SIDE PROXY: enough Calls wait for a credit; sets held to their number.
held_by() {
	held=$(asked "$1" proxy_held "$2")
	[ "$held" -ge 24 ]
}

# recalls SIDE PROXY VERSION ADDRESS PORT: recalls delegations through a chain that begins with PROXY, while Calls wait
# for a credit. The file is closed before the recall. Otherwise the client must open it again before it returns the
# delegation, and that Call waits, too.
recalls() {
	local side=$1 proxy=$2 file took=() waited=()
	nfs_mount "$3" "$4" "$5" tcp
	[ "$(mount_kind)" = tcp ] || fail "the mount is $(mount_kind)"
	head -c 4M /dev/urandom >/srv/export/busy
	busy_start "$side" "$proxy"
	for file in recall.$RANDOM.{1..2}; do
		wait_for 20 held_by "$side" "$proxy" || fail "only $held Calls wait"
		waited+=("$held")
		delegation_get "$file"
		exec {delegated}<&-
		delegation_recall "$file" $RECALL_LIMIT_MS
		took+=("$recall_ms")
		[ "$(tail -1 "/mnt/n/$file")" = two ] || fail "$file is stale after its recall"
	done
	held_by "$side" "$proxy" || echo "at the end $held Calls wait"
	[ "$held" -gt 0 ] || fail "no Calls wait any more"
	busy_end
	rm /srv/export/busy /mnt/n/recall.*
	mount_clean
	umount /mnt/n
	say "# recalls took ${took[*]} ms, while ${waited[*]} Calls waited for a credit"
}

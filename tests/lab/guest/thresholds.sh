# SPDX-License-Identifier: BSD-3-Clause
# Sends of 200,000 bytes over verbs, between two proxies that both advertise an inline threshold of 256 KiB.

# one_send ADDRESS PORT CLIENT SERVER: WRITEs and READs of 200,000 bytes pass these two proxies inline.
one_send() {
	local calls
	nfs_mount 4.1 "$1" "$2" tcp
	dd if=/dev/urandom of=/run/long bs=200000 count=20 status=none
	dd if=/run/long of=/mnt/n/long bs=200000 oflag=direct status=none
	cmp /run/long /srv/export/long || fail "the server's bytes differ"
	dd if=/mnt/n/long bs=200000 iflag=direct status=none | cmp - /run/long || fail "bytes differ"
	rm /run/long /mnt/n/long
	mount_clean
	umount /mnt/n
	calls=$(proxy_count "$3" sends_msg)
	echo "$calls Sends by the client's proxy; by chunk: $(proxy_count "$3" sends_nomsg) Calls, $(proxy_count "$4" sends_nomsg) Replies"
	[ "$calls" -ge 40 ] || fail "only $calls Sends"
	[ "$(proxy_count "$4" read_chunk_bytes_pulled)" = 0 ] || fail "Calls went by chunk"
	[ "$(proxy_count "$4" reply_chunk_bytes_pushed)" = 0 ] || fail "Replies went by chunk"
}

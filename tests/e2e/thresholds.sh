#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Inline thresholds from 1 KiB to 256 KiB, by default and at each of two proxies. Messages that fit are single Sends
# (no_copies.sh counts their copies), others use RDMA. Callbacks of the size that TCP clients announce pass by default.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

CALLS=200 # that `rpc_peer reverse` makes of each size

# chain A B: restarts the chain with these thresholds; 0 is the default
chain() {
	local keys=("" "")

	stop_proxy a
	stop_proxy b
	[ "$1" = 0 ] || keys[0]="inline_threshold_bytes = $1;"
	[ "$2" = 0 ] || keys[1]="inline_threshold_bytes = $2;"
	# shellcheck disable=SC2034
	A_SERVICE=${keys[0]} B_SERVICE=${keys[1]}
	start_chain
}

# reverse passes|fails BYTES...: makes reverse Calls of these sizes
reverse() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 reverse "$@"; }
posted() { ctl "$1" -j connections | jq -r --arg leg "$2" ".connections[0][\$leg].recv_posted_bytes"; }

# ---------------------------------------------------------------- callbacks

# BYTES is the length of the data; the Call and the Reply are a little longer.
chain 0 0
check "a callback of 4,096 bytes and its Reply pass two default proxies" reverse passes 4096
check "and those that fill a Send of 8,192" reverse passes 4 4040 8088
check "none was refused" eval 'counter_is a rdma reverse_refused -eq 0 && counter_is b rdma reverse_refused -eq 0'
chain 4096 0
check "it fails if the client's end has announced 4,096" reverse fails 4096
check "each is counted" counter_is b rdma reverse_refused -eq $CALLS
check "shorter ones pass" reverse passes 4 3900
stop_proxy a
stop_proxy b
check "the log said so once" \
	[ "$(grep -c 'reverse Call 0x[0-9a-f]* of [0-9]* bytes is longer than this client accepts' b.log)" = 1 ]

# ---------------------------------------------------------------- memory

BACK_PORT=$NFS_PORT
start_ganesha
for told in 0 1024 4096 65536 262144; do
	chain $told $told
	bytes=$((told ? told : 8192))
	# The end that accepts may use version two later.
	least=$((bytes < 4096 ? 4096 : bytes))
	start idle "$BIN/nfs_client" "$V3" hold "idle-$told" 8 1
	check "$bytes: the client's end posts what it announces" wait_for 20 eval \
		"[ \"\$(posted a upstream)\" -ge $((24 * bytes)) ] && [ \$((\$(posted a upstream) % $bytes)) = 0 ] &&
			[ \"\$(posted a upstream)\" -le $((88 * bytes)) ]"
	check "$bytes: and the server's end" wait_for 20 eval \
		"[ \"\$(posted b client)\" -ge $((24 * least)) ] && [ \"\$(posted b client)\" -le $((88 * least)) ]"
	note "$bytes: $(posted a upstream) and $(posted b client) bytes are posted"
	stop idle KILL
done

# ---------------------------------------------------------------- what fits

# by_rdma SIDE: prints the bytes that went by chunk, in either direction
by_rdma() { echo $(($(counter "$1" rdma read_chunk_bytes_pulled) + $(counter "$1" rdma reply_chunk_bytes_pushed))); }

# fits SIZE: READs and WRITEs of a little less than SIZE need no chunk
fits() { [ "$(by_rdma b)" = 0 ] && counter_is a rdma sends_nomsg = 0 && counter_is b rdma sends_nomsg = 0; }

for told in 1024 4096 8192 65536 262144; do
	chain $told $told
	check "$told: NFSv3, data that fit" nfs_client "$V3" sizes f $((told - 420)) $((told - 400)) 1
	check "$told: NFSv4, data that fit" nfs_client "$V4" sizes f $((told > 1024 ? told - 720 : 100)) $((told > 1024 ? told - 700 : 120)) 1
	[ "$told" = 1024 ] || check "$told: all of it came inline" fits
	check "$told: NFSv3, around the threshold" nfs_client "$V3" sizes f $((told - 300)) $((told + 100)) 1
	check "$told: NFSv4, around the threshold" nfs_client "$V4" sizes f $((told - 500)) $((told + 100)) 5
	check "$told: what does not fit goes by chunk" [ "$(by_rdma b)" -gt $((100 * told)) ]
	check "$told: nothing was refused" eval 'counter_is b rdma err_chunk_sent = 0 && counter_is a rdma bad_replies = 0'
done

for pair in "1024 262144" "262144 1024" "65536 4096"; do
	# shellcheck disable=SC2086
	chain $pair
	least=$(tr ' ' '\n' <<<"$pair" | sort -n | head -n 1)
	check "$pair: around the smaller one" nfs_client "$V3" sizes f $((least - 300)) $((least + 100)) 1
	check "$pair: around the larger one" nfs_client "$V3" sizes f 200000 200010 1
	check "$pair: the smaller one counts" [ "$(by_rdma b)" -gt $((2 * 11 * 200000)) ]
	check "$pair: nothing was refused" eval 'counter_is b rdma err_chunk_sent = 0 && counter_is a rdma bad_replies = 0'
done

# ---------------------------------------------------------------- 200,000 bytes

chain 262144 262144
start holder "$BIN/nfs_client" "$V3" hold long 2000000 1 200000
calls_past() { counter_is a rdma calls_sent -gt "$1"; }
check "a WRITE and a READ of 200,000 bytes, again and again" wait_for 30 calls_past 100
check "each is one Send" fits
lent=$(counter a rdma keys_lent) sent=$(counter a rdma calls_sent)
check "they go on" wait_for 30 calls_past $((sent + 100))
check "and nothing is lent for them" counter_is a rdma keys_lent = "$lent"
# The next connection's peer receives 1024 bytes: the daemon does not reuse the last peer's size.
stop_proxy b
B_SERVICE="inline_threshold_bytes = 1024;"
start_proxy b
sent=$(counter a rdma calls_sent)
check "the client comes back to a server that takes 1,024 bytes" wait_for 60 calls_past $((sent + 50))
check "its WRITEs go by chunk now" counter_is a rdma sends_nomsg -gt 10
check "and its READs come so" counter_is b rdma reply_chunk_bytes_pushed -gt 1000000
check "it has found each byte as it was" alive holder
stop holder KILL
stop_proxy a
stop_proxy b

finish

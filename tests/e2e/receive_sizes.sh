#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two proxies with version two raise their receive sizes under READs and WRITEs of 16 KiB, each independently and in
# both directions, until no message needs a chunk.
# shellcheck disable=SC2034
A_SERVICE='connect_version = 2;'
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
start_chain

calls_past() { counter_is a rdma calls_sent -gt "$1"; }

# by_chunk: prints the bytes that went by chunk so far, as each proxy counts them
by_chunk() {
	echo "$(counter a rdma keys_lent) $(counter a rdma sends_nomsg) $(counter b rdma sends_nomsg)" \
		"$(counter b iwarp read_requests_sent) $(counter b iwarp writes_sent)"
}

# One Call of each kind is not enough to raise the sizes.
check "a file of one WRITE" nfs_client "$V3" sizes small 16384 16384 0
check "its data goes by RDMA Read" counter_is b rdma read_chunk_bytes_pulled -gt 16384
check "and comes back by RDMA Write" counter_is b rdma reply_chunk_bytes_pushed -gt 16384
check "which raises nothing" counter_is a rdma recv_raises = 0
wait_for 10 no_connections b

# Each size is the data and a header, in total less than 32 KiB more than the data.
start holder "$BIN/nfs_client" "$V3" hold held 4m 1 16k
check "the first proxy raises its receives, for READs" wait_for 30 nfs_leg_is a upstream recv_size_bytes 32768
check "the second one does as it is asked, for WRITEs" wait_for 30 nfs_leg_is a upstream peer_recv_size_bytes 32768
check "that one knows both" wait_for 10 eval \
	"nfs_leg_is b client peer_recv_size_bytes 32768 && nfs_leg_is b client recv_size_bytes 32768"
for side in a b; do check "proxy $side counts a raise" counter_is $side rdma recv_raises = 1; done
check "nothing is pending" eval "nfs_leg_is a upstream pending null && nfs_leg_is b client pending null"
check "as much is posted" test "$(nfs_leg b client recv_posted_bytes)" -ge $((16 * 32768))
# server_facts LABEL...: prints values of the first proxy's connection to the server
server_facts() { ctl a -a connections | sed -n '/^server /,$s/^  \('"$1"'\)  */\1: /p'; }
check "people see it, too" is "$(server_facts "RPC-over-RDMA\|receive size\|peer's receive size" | paste -sd,)" \
	"RPC-over-RDMA: version 2,receive size: 32 KiB,peer's receive size: 32 KiB"

# RDMA may still answer earlier Calls.
sent=$(counter a rdma calls_sent)
check "its client continues" wait_for 30 calls_past $((sent + 100))
before=$(by_chunk) sent=$(counter a rdma calls_sent)
check "for hundreds of Calls" wait_for 30 calls_past $((sent + 800))
check "of which none has a chunk any more" [ "$(by_chunk)" = "$before" ]
check "and none was refused" counter_is b rdma err_chunk_sent = 0
check "the client has found each byte as it was" alive holder
stop holder KILL
check "the connection leaves" wait_for 10 no_connections b
stop_proxy a
stop_proxy b

# Each end has a limit of its own: 64 KiB and a header exceed the default.
A_SERVICE='connect_version = 2; receive_max_bytes = 131072;'
start_chain
start holder "$BIN/nfs_client" "$V3" hold other 4m 1 64k
check "for READs of 64 KiB the first proxy raises its receives to 128 KiB" \
	wait_for 30 nfs_leg_is a upstream recv_size_bytes 131072
sent=$(counter a rdma calls_sent)
check "WRITEs go on" wait_for 30 calls_past $((sent + 200))
check "for them the second one does not, whose limit is lower" nfs_leg_is a upstream peer_recv_size_bytes 8192
check "nothing was refused over it" counter_is b rdma err_chunk_sent = 0
check "the client has found each byte as it was" alive holder
stop holder KILL
stop_proxy a
stop_proxy b

# The measurement of the savings works; its results are judged for one size.
if [ -z "${E2E_SANITIZED:-}" ]; then
	check "WRITEs are measured" eval "env -u E2E_INSIDE '$E2E_SRC/../bench/receive_sizes.sh' -b '$E2E_BUILD' -l '$E2E_BUILD' \
		-w write -s 16384 -n 50 >measured"
	note "$(cat measured)"
	# costs VERSION RECEIVES READS KEYS ROUND_TRIPS
	costs() { awk '$3 == v && $4 == r { print $7, $9, $11; exit }' v="$1" r="$2" measured | grep -x "$3 $4 $5"; }
	check "in version one each takes an RDMA Read, a key and two round trips" costs 1 8/8 1 1 2
	check "and so in version two at first" costs 2 8/8 1 1 2
	check "with larger receives none of these but one round trip" costs 2 8/32 0 0 1
fi
finish

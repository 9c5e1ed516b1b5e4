#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The packet judge and tshark check the traffic between the proxies: it is RPC-over-RDMA down to NFS, has no malformed
# frame and no bad CRC, respects credits, and has as many Calls, Replies and FPDUs with a CRC as the proxies have
# counted.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
JUDGE=$E2E_BUILD/tests/judge/judge
command -v dumpcap >/dev/null || skip_all "dumpcap is not installed"
start_ganesha
start_chain

# ---------------------------------------------------------------- capturing

fpdus() { echo $(($(counter a iwarp fpdus_sent) + $(counter b iwarp fpdus_sent))); }
checked() { echo $(($(counter a iwarp crc_checked) + $(counter b iwarp crc_checked))); }
quiet() { no_connections a && no_connections b; }

capture_begin() {
	calls=-$(counter a rdma calls_sent) replies=-$(counter a rdma replies_received)
	calls_b=-$(counter b rdma calls_received) replies_b=-$(counter b rdma replies_sent)
	sent=-$(fpdus) checked=-$(checked)
	start "$1" dumpcap -i lo -B 256 -f "tcp port $FABRIC_PORT or tcp port $FABRIC_MNT" -w "$1.pcapng"
	wait_for 20 grep -q '^File:' "$1.log" || bail "dumpcap does not start"
}

# the last packet must be in the file
capture_end() {
	wait_for 10 quiet || bail "the clients are gone and their connections are not"
	(exec 3<>/dev/tcp/127.0.0.1/$FABRIC_MNT && printf 'the end of %s' "$1" >&3)
	wait_for 20 grep -aq "the end of $1" "$1.pcapng" || bail "dumpcap does not see the end"
	stop "$1" INT
	calls=$(($(counter a rdma calls_sent) + calls)) replies=$(($(counter a rdma replies_received) + replies))
	calls_b=$(($(counter b rdma calls_received) + calls_b))
	replies_b=$(($(counter b rdma replies_sent) + replies_b))
	sent=$(($(fpdus) + sent)) checked=$(($(checked) + checked))
	check "$1: dumpcap dropped nothing" grep -qE "received/dropped on interface '.*': [1-9][0-9]*/0 " "$1.log"
	check "$1: both proxies count the same Calls" [ "$calls" = "$calls_b" ]
	check "$1: both proxies count the same Replies" [ "$replies" = "$replies_b" ]
	check "$1: every FPDU that was sent had its CRC checked" [ "$sent" = "$checked" ]
}

# ---------------------------------------------------------------- judging

# judged NAME WHAT: prints a number of the judge's verdict
judged() { sed -n "s/^$2=//p" "$1.judge"; }

judge() {
	check "$1: nothing is wrong, down to NFS" "$E2E_SRC/../judge/judge.sh" "$JUDGE" "$1.pcapng"
	"$JUDGE" -w "$1.ordered.pcap" "$1.pcapng" >"$1.judge"
	check "$1: $checked FPDUs, each with a good CRC" [ "$(judged "$1" crcs)" = "$checked" ]
	check "$1: $calls Calls" [ "$(judged "$1" calls)" = "$calls" ]
	check "$1: $replies Replies" [ "$(judged "$1" replies)" = "$replies" ]
}

procedures() {
	local procedure

	tshark -2 -o iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE -r "$1.ordered.pcap" >"$1.list" 2>tshark.log
	for procedure in "V3 READ Call" "V3 WRITE Call" "V3 READDIRPLUS Call" "V3 MNT Call" "V4 Reply .* WRITE" "V4 Reply .* READ"; do
		check "$1: $procedure is among them" grep -q "$procedure" "$1.list"
	done
}

mkdir -m 777 export/names
touch export/names/entry-{00000..00499}

# One RPC at a time
alone() {
	local version url

	capture_begin alone
	for version in 3 4; do
		url=V$version
		check "NFSv$version: data of several sizes" nfs_client "${!url}" sizes "sizes-$version" 0 9000 900
		check "NFSv$version: a bit of everything" nfs_client "${!url}" mixed "dir-$version" 3m $version 1
		check "NFSv$version: 1 MiB in one WRITE and one READ" nfs_client "${!url}" sizes "big-$version" 1m 1m 1
		check "NFSv$version: a directory" nfs_client "${!url}" list names 500
	done
	capture_end alone
}

# Eight concurrent clients
crowd() {
	local i version

	capture_begin crowd
	for i in 1 2 3 4; do
		start "three-$i" "$BIN/nfs_client" "$V3" mixed "three-$i" 3m "$i"
		start "four-$i" "$BIN/nfs_client" "$V4" mixed "four-$i" 3m "$i"
	done
	for i in 1 2 3 4; do
		for version in three four; do
			ends_well $version-$i "client $version-$i has done its work"
		done
	done
	capture_end crowd
}

alone
judge alone
[ -n "${E2E_VERSION:-}" ] || procedures alone # tshark knows version one only
crowd
stop_proxy a
stop_proxy b
judge crowd
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tshark judges the traffic between the proxies: RPC-over-RDMA down to NFS, no malformed frame, no bad CRC,
# and as many Calls, Replies and FPDUs with a CRC as the proxies have counted.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
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

# what comes last on the wire must be in the file
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

# decode NAME ARGS...: with the two switches without which tshark does not see every message of iWARP
decode() {
	local name=$1

	shift
	tshark -2 -o iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE -o tcp.reassemble_out_of_order:TRUE -r "$name.pcapng" "$@" 2>>tshark.log
}

# values PATTERN: how often a field's value stands in a list of fields, several in a line
values() { tr ',' '\n' | grep -cxE "$1"; }

# field NAME FIELD [FILTER]
field() { decode "$1" -T fields -e "$2" -Y "${3:-tcp}"; }

judge_frames() {
	decode "$1" -V >"$1.text"
	check "$1: tshark sees $checked FPDUs, each with a good CRC" \
		[ "$(grep -c 'Good CRC32' "$1.text")" = "$checked" ]
	check "$1: tshark sees no bad CRC" not grep -q 'Bad CRC32' "$1.text"
	check "$1: tshark sees no malformed frame" not grep -qi 'malformed' "$1.text"
	check "$1: tshark has no trouble" not grep -q 'Dissector bug' "$1.text"
	check "$1: tshark sees $calls Calls as RPC-over-RDMA" \
		[ "$(field "$1" rpcordma.msg_type "tcp.dstport in {$FABRIC_PORT, $FABRIC_MNT}" | values '[01]')" = "$calls" ]
	check "$1: tshark sees $replies Replies as RPC-over-RDMA" \
		[ "$(field "$1" rpcordma.msg_type "tcp.srcport in {$FABRIC_PORT, $FABRIC_MNT}" | values '[01]')" = "$replies" ]
}

# tshark follows the first Read or reply chunk only of those that share a TCP segment: one RPC at a time
judge_rpcs() {
	local procedure

	check "$1: tshark sees $calls RPC Calls" [ "$(field "$1" rpc.msgtyp | values 0)" = "$calls" ]
	check "$1: tshark sees $replies RPC Replies" [ "$(field "$1" rpc.msgtyp | values 1)" = "$replies" ]
	decode "$1" >"$1.list"
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

# Eight clients at once
crowd() {
	local i version

	capture_begin crowd
	for i in 1 2 3 4; do
		start "three-$i" "$BIN/nfs_client" "$V3" mixed "three-$i" 3m "$i"
		start "four-$i" "$BIN/nfs_client" "$V4" mixed "four-$i" 3m "$i"
	done
	for i in 1 2 3 4; do
		for version in three four; do
			wait "${pid_of[$version-$i]}"
			check "client $version-$i has done its work" [ $? = 0 ]
			unset "pid_of[$version-$i]"
		done
	done
	capture_end crowd
}

alone
judge_frames alone
judge_rpcs alone
crowd
stop_proxy a
stop_proxy b
judge_frames crowd
finish

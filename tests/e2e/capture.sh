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

captures() { grep -q '^File:' dumpcap.log; }

# the two switches without which tshark does not see every message of iWARP
decode() { tshark -2 -o iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE -r capture.pcapng "$@" 2>>tshark.log; }

# lines PATTERN FILE: how often a field's value stands in a list of fields, several in a line
values() { tr ',' '\n' <"$2" | grep -cxE "$1"; }

both() { echo $(($(counter a "$1" "$2") + $(counter b "$1" "$3"))); }

start dumpcap dumpcap -i lo -B 256 -f "tcp port $FABRIC_PORT or tcp port $FABRIC_MNT" -w capture.pcapng
wait_for 20 captures || bail "dumpcap does not start"
mkdir -m 777 export/names
for version in 3 4; do
	url=V$version
	check "NFSv$version: data of several sizes" nfs_client "${!url}" sizes "sizes-$version" 0 9000 900
	check "NFSv$version: a bit of everything" nfs_client "${!url}" mixed "dir-$version" 3m $version
	check "NFSv$version: 1 MiB in one WRITE and one READ" nfs_client "${!url}" sizes "big-$version" 1m 1m 1
done
check "NFSv3: 500 names" nfs_client "$V3" fill names 500
check "NFSv3: a directory" nfs_client "$V3" list names 500
wait_for 10 no_connections a
wait_for 10 no_connections b
calls=$(counter a rdma calls_sent) replies=$(counter a rdma replies_received)
check "both proxies count the same Calls" [ "$calls" = "$(counter b rdma calls_received)" ]
check "both proxies count the same Replies" [ "$replies" = "$(counter b rdma replies_sent)" ]
fpdus=$(both iwarp fpdus_sent fpdus_sent) checked=$(both iwarp crc_checked crc_checked)
check "every FPDU sent has had its CRC checked" [ "$fpdus" = "$checked" ]
stop_proxy a
stop_proxy b
stop dumpcap INT
check "dumpcap dropped nothing" grep -qE "received/dropped on interface '.*': [1-9][0-9]*/0 " dumpcap.log

decode -T fields -e rpc.msgtyp -e iwarp_mpa.crc_check -e nfs.procedure_v3 -e nfs.opcode -e frame.number \
	-E separator=';' >fields || bail "tshark fails"
cut -d ';' -f 1 fields >msgtyp
cut -d ';' -f 2 fields >crc
check "tshark sees $calls Calls" [ "$(values 0 msgtyp)" = "$calls" ]
check "tshark sees $replies Replies" [ "$(values 1 msgtyp)" = "$replies" ]
check "tshark sees $checked FPDUs with a CRC" [ "$(values '0x.*' crc)" = "$checked" ]
check "tshark sees NFSv3 procedures" grep -qE '[0-9]' <(cut -d ';' -f 3 fields)
check "tshark sees NFSv4 operations" grep -qE '[0-9]' <(cut -d ';' -f 4 fields)
decode -V >text
good=$(grep -c 'Good CRC32' text)
check "tshark finds the CRC of $checked FPDUs good" [ "$good" = "$checked" ]
check "tshark finds no bad CRC" not grep -q 'Bad CRC32' text
check "tshark finds no malformed frame" not grep -qi 'malformed' text
check "tshark has no bug with our frames" not grep -q 'Dissector bug' text
((failures == 0)) || note "tshark: Calls $(values 0 msgtyp), Replies $(values 1 msgtyp), CRC $good; $(grep -m 3 -n -iE 'malformed|Dissector bug|Bad CRC' text)"
finish

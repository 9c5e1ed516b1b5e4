#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The conformance program tests other implementations over the network: NFS-Ganesha with a proxy in front as a server,
# and a proxy in front of libnfs as a client. It detects a program that is neither.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
command -v python3 >/dev/null || skip_all "python3 is not installed"

conformance() { with_limit 240 python3 -B "$E2E_SRC/../peer/conformance" "$@"; }

# fails STATUS PATTERN COMMAND...: compares the exit status, and the last line with PATTERN
fails() {
	local status=$1 pattern=$2

	shift 2
	"$@" >failed.out 2>&1
	[ $? = "$status" ] && tail -n 1 failed.out | grep -E "$pattern" || { tail -n 3 failed.out; return 1; }
}

# ---------------------------------------------------------------- a server

start_ganesha
start_proxy b
server=127.0.0.1:$FABRIC_PORT

judge_server() {
	conformance -p $server --rough --mount 127.0.0.1:$MNT_PORT --pcap server.pcap >server.out 2>&1 ||
		{ grep -A 3 "(scenarios/" server.out; grep '^fail' server.out; return 1; }
}
# judged_by NFS LEAST: with that version of NFS nothing fails, and at least LEAST statements pass
judged_by() {
	conformance -p $server --nfs "$1" >nfs.out 2>&1 || { grep -A 3 "(scenarios/" nfs.out; tail -n 5 nfs.out; return 1; }
	[ "$(sed -nE 's/.*[ ,]([0-9]+) pass$/\1/p' nfs.out)" -ge "$2" ]
}
holds_much() { grep -E '^[0-9]+ not seen, [0-9]{2,} pass$' server.out; }
decodes() { [ "$(tshark -r server.pcap -Y "$1" 2>/dev/null | wc -l)" -gt 100 ]; }

check "NFS-Ganesha behind a proxy breaks nothing" judge_server
check "much of it could be seen" holds_much
check "the export is as it was" [ -z "$(ls -A export)" ]
check "tshark decodes what was sent and received as RPC-over-RDMA" decodes rpcordma
check "a server is found by its rpcbind" conformance -p $server 8166/4.2.3
check "it is asked by NFSv4.1, without MOUNT" judged_by 4.1 30
check "the export is as it was behind NFSv4.1" [ -z "$(ls -A export)" ]
check "it is asked by NULL alone" judged_by null 12
check "a missing export is reported" fails 2 'MOUNT of /nowhere fails' \
	conformance -p $server --export /nowhere A3.3-3
check "a port without iWARP is reported" fails 2 'does it speak iWARP|does not open an iWARP connection' \
	conformance -p 127.0.0.1:$NFS_PORT --patience 1 A3.3-3
check "a port without a listener is reported" fails 2 'port 1: Connection refused' conformance -p 127.0.0.1:1 A3.3-3
check "statements that bind no server are none that pass" fails 2 'none of these scenarios' \
	conformance -p $server A3.3-4
stop_proxy b

# ---------------------------------------------------------------- a client

# judged NAME SIGNAL: the signal ends the judge of the client, which reports success
judged() { stop judge INT; [ "$exit_status" = "$1" ]; }
tally() { awk -v tag="$1" '$1 == tag { exit !($2 > 0 && $3 == 0) }' judge.log; }

start judge python3 -B "$E2E_SRC/../peer/conformance" --requester -p $server --mount 127.0.0.1:$FABRIC_MNT
serves judge $FABRIC_PORT $FABRIC_MNT || bail "conformance --requester does not listen"
check "it prints what to mount" grep -q "^mount -t nfs .*port=$FABRIC_PORT,.*mountport=$FABRIC_MNT" judge.log
FRONT_MNT=$FABRIC_MNT
client_config() {
	echo "control = \"$T/a.sock\"; workers = 1;"
	echo "services = ("
	service nfs "tcp://127.0.0.1:$FRONT_PORT" "$FABRIC:$FABRIC_PORT"
	echo ");"
}
client_config >a.conf
start a "$PROXY" -c a.conf
serves a $FRONT_PORT || bail "proxy a does not start"
export=nfs://127.0.0.1/export query="version=3&nfsport=$FRONT_PORT&mountport=$FRONT_MNT"
head -c 100000 /dev/urandom >file
check "a file goes there" nfs-cp file "$export/file?$query"
check "and comes back" nfs-cp "$export/file?$query" back
check "it is the same" cmp file back
stop_proxy a
check "a proxy as the client breaks nothing" judged 0
for tag in A2-2 A3.3-4 A4.1-2; do check "$tag was seen to hold" tally $tag; done
finish

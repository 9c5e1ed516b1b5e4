#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server answers a WRITE before it has received all of it. The client gets the Reply, the server gets the whole Call,
# and a capture has both once. Over RDMA the connection stays open while the server reads the Call.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
command -v python3 >/dev/null || skip_all "python3 is not installed"
command -v tshark >/dev/null || skip_all "tshark is not installed"

RDMA_PORT=12050 TCP_BACK=3049 RDMA_BACK=3050

config() {
	echo "control = \"$T/a.sock\"; workers = 1;"
	echo "services = ("
	service plain "tcp://127.0.0.1:$FRONT_PORT" "tcp://127.0.0.1:$TCP_BACK"
	echo ","
	service rdma "tcp://127.0.0.1:$RDMA_PORT" "iwarp://127.0.0.1:$RDMA_BACK"
	echo ");"
}
config >a.conf
start a "$PROXY" -c a.conf
serves a $FRONT_PORT $RDMA_PORT || bail "proxy a does not start"

early() { with_limit 120 python3 -B "$E2E_SRC/early_replies.py" "$@"; }

start early "$CTL" -s "$T/a.sock" capture --seconds 3600 --snaplen 2M early.pcapng
wait_for 10 test -s early.pcapng || bail "the capture does not begin"
check "over TCP the client has the Reply before it has sent the rest of its Call" early $FRONT_PORT $TCP_BACK tcp
check "over RDMA the Reply waits for what the server reads, and the connection stays" early $RDMA_PORT $RDMA_BACK iwarp
wait_for 10 no_connections a || bail "the clients are gone and their connections are not"
stop early INT

# shown TYPE: prints how many messages of that type the capture has for each XID
shown() {
	tshark -n -2 -o tcp.try_heuristic_first:TRUE -r early.pcapng -Y "rpc.msgtyp == $1" -T fields -e rpc.xid 2>/dev/null |
		tr ',' '\n' | sort | uniq -c | awk '{ print $2 "x" $1 }' | tr '\n' ' '
}
check "each Call is in the capture, once on each of its connections: $(shown 0)" is "$(shown 0)" "0x00000001x2 0x00000002x2 0x00000003x1 "
check "each Reply likewise: $(shown 1)" is "$(shown 1)" "0x00000001x2 0x00000002x2 0x00000003x1 "
check "no connection ended for anything but its client's end" is "$(ctl a -j stats | jq '[.services[].closes[] | to_entries[] | select(.key != "peer") | .value] | add')" 0
finish

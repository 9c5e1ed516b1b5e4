#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The packet judge finds what must not be in a capture, and finds nothing where all is well. TAP.
set -u
here=${srcdir:-$(dirname "$0")/../..}/tests/judge
programs=${builddir:-.}/tests/judge
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

number=0
# verdict NAME STATUS EXPECTED: whether the last trial came out so, and its words hold EXPECTED
verdict()
{
	number=$((number + 1))
	if [ "$status" = "$2" ] && grep -qF -- "$3" "$work/out"; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		echo "# status $status; looked for: $3"
		sed 's/^/# /' "$work/out"
	fi
}

# trial FAULT [OPTION]: by the program alone
trial()
{
	"$programs/make_capture" "$work/capture" "$1" || exit 1
	shift
	"$programs/judge" "$@" "$work/capture" >"$work/out" 2>&1
	status=$?
}

# whole_trial FAULT: with tshark
whole_trial()
{
	"$programs/make_capture" "$work/capture" "$1" || exit 1
	"$here/judge.sh" "$programs/judge" "$work/capture" >"$work/out" 2>&1
	status=$?
}

trial ""
verdict "nothing is found where all is well" 0 "violations=0"
verdict "Calls are counted" 0 "calls=10"
verdict "CRCs are counted" 0 "crcs=16"
trial disorder
verdict "segments out of order and sent again in other pieces are put together" 0 "crcs=16"
trial crc
verdict "a bad CRC is found" 1 "a bad CRC"
trial no-reply
verdict "a Call without a Reply is found" 1 "it ends with 1 Calls"
trial tcp-no-reply
verdict "a Call without a Reply is found on TCP" 1 "it ends with 1 Calls"
trial twice
verdict "a second Reply is found" 1 "a Reply to 0x00000003, which waits for none"
trial again
verdict "an XID in use twice is found" 1 "Call 0x00000005 is made again"
trial overrun
verdict "a Call past the credits is found" 1 "Call 0x00000006 of the initiator overruns its credits: 4 wait, 4 granted"
trial eager
verdict "a second Call before the first grant is found" 1 "Call 0x00000014 of the initiator overruns its credits: 1 wait, 1 granted"
trial header
verdict "a malformed transport header is found" 1 "the transport header of 0x00000003 is malformed"
trial long
verdict "a Send longer than the receive is found" 1 "for a receive of 1024"
trial msn
verdict "a message out of its order is found" 1 "message 3 at 0 on queue 0, not 2 at 0"
trial no-response
verdict "an RDMA Read without a response is found" 1 "it ends with 1 Calls, Reads"
trial misplaced
verdict "a Read Response at a wrong place is found" 1 "does not fit the oldest Read"
trial terminate
verdict "a Terminate is found" 1 "the initiator terminates: 0x20020000"
trial lost
verdict "bytes that were acknowledged and not captured are found" 1 "the capture lacks bytes"
trial snap
verdict "a packet that is cut short is found" 1 "the capture cut 1 packets short"
trial dropped
verdict "packets that dumpcap dropped are found" 1 "the capture lost 3 packets"
trial dropped -b
verdict "behind the end of a bounded capture they may be" 0 "violations=0"
trial stray
verdict "a connection whose beginning is missing is found" 1 "began before the capture"
trial killed
verdict "a connection that ends with a Call open is found" 1 "it ends with 1 Calls"
trial killed -k
verdict "where somebody is killed it is counted" 0 "cut_connections=1"
trial rejected
verdict "a refused connection is found" 1 "the connection is rejected"
trial rejected -k
verdict "where somebody is killed it may be" 0 "violations=0"
trial bounded
verdict "Calls open at the end of the capture are found" 1 "it ends with 3 Calls"
trial bounded -b
verdict "where the capture is bounded they may be" 0 "open_calls=3"
trial no-reply -b
verdict "a Call open at the end of its connection is found where the capture is bounded" 1 "it ends with 1 Calls"
head -c 1000 "$work/capture" >"$work/cut"
mv "$work/cut" "$work/capture"
"$programs/judge" "$work/capture" >"$work/out" 2>&1
status=$?
verdict "a file that ends within a packet is found" 1 "Protocol error"

if command -v tshark >/dev/null; then
	whole_trial ""
	verdict "tshark finds nothing where all is well" 0 "16 FPDUs (16 with CRC), 10 Calls (0 backward), 1 RDMA Reads"
	whole_trial disorder
	verdict "tshark finds nothing in what was out of order" 0 "16 FPDUs (16 with CRC), 10 Calls"
	whole_trial ports-again
	verdict "tshark finds nothing in a connection from the ports of an earlier one" 0 "32 FPDUs (32 with CRC), 17 Calls"
	whole_trial crc
	verdict "tshark finds a bad CRC" 1 "Bad CRC32"
	whole_trial truncated
	verdict "tshark finds a truncated RPC" 1 "Malformed"
	whole_trial tcp-truncated
	verdict "tshark finds a truncated RPC on TCP" 1 "Malformed"
	whole_trial no-response
	verdict "tshark finds a WRITE without its data" 1 "the judge counts"
else
	number=$((number + 1))
	echo "ok $number - tshark's part # SKIP tshark is not installed"
fi
echo "1..$number"

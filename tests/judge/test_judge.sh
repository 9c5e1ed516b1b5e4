#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that the packet judge finds each violation in a capture, and none in a good capture. TAP.
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

story=one

# trial FAULT [OPTION...]: runs the program alone
trial()
{
	"$programs/make_capture" "$work/capture" "$1" $story || exit 1
	shift
	"$programs/judge" "$@" "$work/capture" >"$work/out" 2>&1
	status=$?
}

# finds FAULT EXPECTED NAME: a trial with $options that finds a violation
finds()
{
	# shellcheck disable=SC2086
	trial "$1" $options
	verdict "$3" 1 "$2"
}

# lets FAULT NAME: a trial with $options that finds none
lets()
{
	# shellcheck disable=SC2086
	trial "$1" $options
	verdict "$2" 0 "violations=0"
}

# whole_trial FAULT [OPTION...]: runs it with tshark
whole_trial()
{
	"$programs/make_capture" "$work/capture" "$1" $story || exit 1
	shift
	"$here/judge.sh" "$programs/judge" "$@" "$work/capture" >"$work/out" 2>&1
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
trial early-reply
verdict "a Reply before what its Call offers was read is found" 1 "the Reply to 0x00000007 comes before its Reads have ended"
trial returned
verdict "an unused reply chunk comes back empty" 0 "violations=0"
trial left-out
verdict "one that does not come back is found" 1 "the Reply to 0x0000000a leaves out the reply chunk of its Call"
trial left-out -d
verdict "the draft leaves it out" 0 "violations=0"
trial returned-full
verdict "one that comes back full beside an inline Reply is found" 1 "the Reply to 0x0000000a is inline and in the reply chunk"
trial not-offered
verdict "one that was not offered is found" 1 "the Reply to 0x0000000a has a reply chunk that was not offered"
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

# ---------------------------------------------------------------- draft-ietf-nfsv4-rpcrdma-03
story=draft03 options=-d
lets "" "padding, Replies that are read and a configuration may be"
verdict "RDMA_MSGP is counted" 0 "padded=1"
verdict "RDMA_DONE is counted" 0 "dones=2"
verdict "the Configuration Protocol is counted" 0 "configs=2"
options=
finds "" "procedure 2 of RPC-over-RDMA version 1" "nobody has agreed on RDMA_MSGP"
verdict "nor on RDMA_DONE" 1 "procedure 3 of RPC-over-RDMA version 1"
verdict "nor on Replies with read chunks" 1 "the Reply to 0x00000002 has read chunks"
options=-d
finds padded-header "the transport header of 0x00000002 is malformed" "a malformed header of RDMA_MSGP is found"
finds padded-xid "XIDs 0x00000002 and 0x00000003 in one message" "the RPC message in an RDMA_MSGP is found"
finds no-done "it ends with 1 Calls, Reads or messages open" "a Reply that nobody has read to its end is found"
finds done-twice "an RDMA_DONE for 0x00000002, which waits for none" "a second RDMA_DONE is found"
finds done-early "RDMA_DONE 0x00000002 comes before its Reads have ended" "an RDMA_DONE before all was read is found"
finds done-long "the transport header of 0x00000002 is malformed" "bytes behind RDMA_DONE are found"
finds done-owed "Call 0x00000002 is made again before its RDMA_DONE" "an XID is in use until its RDMA_DONE"
finds narrow "Call 0x00000030 of the initiator overruns its credits: 1 wait, 1 granted" "an RDMA_DONE that is owed has a credit"
finds depth "2 Reads at once, where 1 may be" "Reads of the initiator past the acceptor's IRD are found"
finds reads "2 Reads at once, where 1 may be" "Reads past the configured number are found"
lets two-reads "as many Reads as configured may be"
finds no-config "a Send of 2524 bytes for a receive of 1024" "without a configuration the private data hold"
finds config-unknown "a Send of 2524 bytes for a receive of 1024" "so they do where the acceptor does not know it"
finds config-small "a Send of 2524 bytes for a receive of 1024" "less than 1024 bytes count as 1024"
finds config-long "a Send of 4100 bytes for a receive of 4096" "a Send longer than configured is found"
finds config-long-reply "a Send of 2052 bytes for a receive of 2048" "so is one of the acceptor"
finds config-arguments "CONF_RDMA 0x00000001 has not the arguments" "malformed arguments of CONF_RDMA are found"
finds config-results "the Reply to CONF_RDMA 0x00000001 has not the results" "malformed results of CONF_RDMA are found"
finds config-beside "Call 0x00000020 beside CONF_RDMA 0x00000001" "a Call beside CONF_RDMA is found"
finds config-late "CONF_RDMA 0x00000021 beside 1 that wait" "CONF_RDMA beside a Call is found"
options="-d -c 400122"
finds "" "a Send of 2524 bytes for a receive of 1024" "its program can have another number"
options=-d
finds reverse-chunks "Call 0x00000002 of the acceptor has chunks" "a reverse Call with chunks is found"
finds reverse-reply-chunk "the Reply of the initiator to 0x00000002 has chunks" "a reverse Reply with chunks is found"
finds uninvited "0x00000006 is sent with Invalidate, uninvited" "a Send with Invalidate to an end that does not take any is found"
lets invited "the private data may invite one"
finds stranger-key "0x00000006 invalidates 0x79000001, which is not its own" "a key that is none of the Call's is found"

# ---------------------------------------------------------------- version two
story=two options=
lets "" "version two with its characteristics may be"
verdict "Sends of version two are counted" 0 "version_two_sends=28"
verdict "RDMA_OPTIONAL is counted" 0 "optionals=9"
verdict "and is no Call" 0 "calls=9"
finds padded "procedure 2 of RPC-over-RDMA version 2" "RDMA_MSGP is reserved"
finds done-sent "procedure 3 of RPC-over-RDMA version 2" "RDMA_DONE is reserved"
finds version-one "procedure 5 of RPC-over-RDMA version 1" "version one has no RDMA_OPTIONAL"
finds first-long "a Send of 1080 bytes for a receive of 1024" "the first message is as short as in version one"
finds default-size "a Send of 6144 bytes for a receive of 4096" "a Send longer than the default is found"
finds begun-early "a Send of 6148 bytes for a receive of 6144" "receives are longer for what begins once that was said"
finds asked-long "a Send of 4100 bytes for a receive of 4096" "who asks for shorter receives keeps to them at once"
lets asked-refused "until that is refused"
finds updated-long "a Send of 4100 bytes for a receive of 4096" "a Send longer than the updated size is found"
finds granted-long "a Send of 4100 bytes for a receive of 4096" "a Send longer than the granted size is found"
finds unasked "the acceptor lowers its receives to 4096, which nobody asked for" "shorter receives that nobody asked for are found"
finds constant "the initiator changes characteristic 2 from 1 to 0, and said it never would" "a change that was promised not to come is found"
finds bool "operation 1 of RDMA_OPTIONAL 0x00001001 is malformed" "a value that is none of its type is found"
finds payload "4 bytes behind operation 2 of RDMA_OPTIONAL 0x00001002" "an RPC message behind an operation that has none is found"
finds short "the transport header of 0x00001005 is malformed" "an RDMA_OPTIONAL that does not hold what it says is found"
finds no-response "it ends with 1 Calls, Reads or messages open" "a request without a response is found"
finds stray-response "a response to 0x00002002, which is no request" "a response without a request is found"
finds overlap "the response to 0x00002001 has element 0 in 2 of its subsets" "subsets that overlap are found"
finds uncovered "the response to 0x00002001 has element 1 in 0 of its subsets" "subsets that leave something out are found"
finds unknown-unanswered "it ends with 1 Calls, Reads or messages open" "an unknown operation without an answer is found"
finds unknown-bad "operation 9 of 0x00001005 is called a bad header" "one with another answer is found"
finds half-known "the initiator knows requests, and not operation 4" "who makes requests must know updates"
finds option-error "0x00000009 is no RDMA_OPTIONAL" "INVAL_OPTION for a Call is found"
finds overrun "Call 0x00000005 of the initiator overruns its credits: 4 wait, 4 granted" "what an RDMA_OPTIONAL grants holds"
finds two-back "Call 0x00000006 of the acceptor overruns its credits: 1 wait, 1 granted" "what one of the initiator asks for is no grant"
finds flood "RDMA_OPTIONAL 0x00001105 of the initiator overruns its credits: 4 wait, 4 granted" "an RDMA_OPTIONAL takes a credit"
finds silent "RDMA_OPTIONAL 0x00002006, and nothing was heard since the last one" "the acceptor has one without an answer"
finds reply-reads "the Reply to 0x00000002 has read chunks" "a Reply with read chunks is found"
finds call-nowhere "the message of RDMA_NOMSG 0x00000005 is in no chunk" "a Call without its message is found"
finds reply-nowhere "the message of RDMA_NOMSG 0x00000005 is in no chunk" "a Reply without its message is found"
finds backward-limited "Call 0x00000005 of the acceptor has chunks" "reverse chunks that the initiator does not take are found"
finds backward-none "Call 0x00000005 of the acceptor, and the initiator takes none" "a reverse Call that it does not take is found"
finds uninvited "0x00000005 is sent with Invalidate, uninvited" "only the characteristics invite a Send with Invalidate"
finds stranger-key "0x00000005 invalidates 0x7a000002, which is not its own" "a key that is none of the Call's is found in version two"

story=versions
lets "" "the ends may agree on a version in any of its ways"
finds out-of-range "0x00000001 of version 2, where the acceptor speaks 1 to 1" "a version that was refused is found"
finds false-range "0x00000001 of version 2 is refused by an end that speaks 1 to 2" "a refusal that names the version is found"
finds thrice "Call 0x00000001 was refused twice and comes again" "a Call that goes a third time is found"
finds reply-version "Call 0x00000001 is of version 1, its Reply of version 2" "a Reply in another version is found"
finds other-version "Call 0x00000002 of version 2 in a connection of 1" "a Call in another version is found"
finds other-answered "Call 0x00000002 is answered, where it can be refused only" "that it is answered is found"
finds other-range "0x00000002 is refused with versions 3 to 3 in a connection of 1" "a refusal with another version than the settled one is found"
finds eager "Call 0x00000001 of the initiator overruns its credits: 1 wait, 1 granted" "a Call beside the first message is found"
finds late-own "RDMA_OPTIONAL 0x00001002 of version 2 in a connection of 1" "version two after a Call of version one is found"
finds late-update "RDMA_OPTIONAL 0x00002001 of version 2 in a connection of 1" "so is the acceptor's, once it has answered one"

# ---------------------------------------------------------------- wrong CRCs of siw
story=crc options="-a 10.0.0.2"
lets "" "a wrong CRC in an RDMA Write of siw's server may be, with all that follows from it"
verdict "it is remarked" 0 "remark: 10.0.0.1:911 to 10.0.0.2:20049: siw, the acceptor, sends an RDMA Write with a wrong CRC"
verdict "it is counted" 0 "crc_faults=1"
verdict "FPDUs with a wrong CRC, and what is behind them, are not among the others" 0 "crcs=7"
verdict "both its connections are cut" 0 "cut_connections=2"
lets send "so may one in a Send"
verdict "which is remarked" 0 "sends a Send with a wrong CRC"
lets part "the other connection may end within the Call"
lets twice "siw may do it on several connections"
verdict "which are all counted" 0 "crc_faults=2"
options="-i 10.0.0.1"
lets client "a wrong CRC in a Read Response of siw's client may be"
verdict "it is remarked, too" 0 "siw, the initiator, sends a Read Response with a wrong CRC"
finds "" "a bad CRC of the acceptor" "a wrong CRC of the other end is found"
verdict "and its Terminate" 1 "the initiator terminates: 0x20020000"
options="-a 10.0.0.2"
finds client "a bad CRC of the initiator" "so is one of the initiator, where the acceptor is siw"
options="-a 10.0.0.1"
finds "" "a bad CRC of the acceptor" "and one of the acceptor, where siw accepts at another address"
options=
finds "" "a bad CRC of the acceptor" "and each, where nobody is siw"
options="-a 10.0.0.2"
finds read-request "a bad CRC of the acceptor" "a wrong CRC in what has no payload is found"
finds no-terminate "a wrong CRC without a Terminate" "a Terminate must follow"
finds wrong-end "a wrong CRC without a Terminate" "of the end that is not siw"
finds other-terminate "the initiator terminates: 0x20030000" "which says that it is for the CRC"
finds terminate-twice "the initiator goes on after its Terminate" "and is the last that is sent"
finds goes-on "it goes on after a wrong CRC" "the connection must end"
finds stranger "it ends with 1 Calls, Reads or messages open" "another Call that is open on TCP is found"
finds second-leg "it ends with 1 Calls, Reads or messages open" "the same Call open on a third connection is found"

story=one
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
	story=crc
	whole_trial "" -a 10.0.0.2
	verdict "tshark finds nothing beside a wrong CRC of siw" 0 "2 iWARP and 2 TCP connections (2 cut, 0 not for tshark), 7 FPDUs (7 with CRC, 1 with a wrong one of siw), 7 Calls"
	whole_trial client -i 10.0.0.1
	verdict "tshark finds nothing beside one of siw's client" 0 "1 with a wrong one of siw"
	whole_trial ""
	verdict "tshark finds one of anybody else" 1 "Bad CRC32"
	story=mixed
	whole_trial "" -d
	verdict "what tshark cannot read is left out of its copy" 0 "3 iWARP and 1 TCP connections (0 cut, 2 not for tshark)"
	story=draft03
	whole_trial config-alone -d
	verdict "a configuration is reconciled" 0 "1 iWARP and 0 TCP connections (0 cut, 0 not for tshark)"
else
	number=$((number + 1))
	echo "ok $number - tshark's part # SKIP tshark is not installed"
fi
echo "1..$number"

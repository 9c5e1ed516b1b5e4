#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# judge.sh JUDGE [-k] [-b] [-d] [-c PROGRAM] [-a ADDRESS] [-i ADDRESS] [-p] CAPTURE: the judge's verdict on a capture,
# and tshark's, down to NFS.
#
# JUDGE is the program; -k, -b, -d, -c, -a and -i are its own options. With -p the arguments of RPCs are encrypted, and
# tshark is not asked for NFS. Prints violations, or one line that says what was judged; the status is 0 if there is no
# violation. Lines that begin with "remark: " come before that: wrong CRCs of siw (-a, -i).
#
# tshark does not read the capture but the judge's copy, in which every stream is in order and each FPDU or record
# begins a segment. In the capture tshark loses its place where the network changed the order of segments, which
# loopback does too, and sees only the first of several RPCs in one segment. The switches: the second pass assembles
# RDMA Writes; with the default of the first preference a Send of several FPDUs stops tshark's dissector; with the
# second, tshark detects from the bytes what a stream carries, because a client's privileged port can be that of
# another protocol.
#
# The copy lacks connections that tshark cannot read: those with a message of version two, with RDMA_MSGP, RDMA_DONE,
# or a Reply with read chunks. Only the judge reads them; the verdict has their number, and the comparison of counts
# excludes them. The copy also lacks what siw sent from an FPDU with a wrong CRC on. Of the Connection Configuration
# Protocol tshark reads only the RPC.
#
# A payload in a chunk has no XDR padding (RFC 8166 section 3.4.5.2). tshark misses it, at the very end, and reports a
# malformed message; this is ignored.
set -u
program=$1
shift
options=() encrypted=
while [[ ${1:-} == -* ]]; do
	case $1 in
	-p) encrypted=yes ;;
	-[cai]) options+=("$1" "$2") && shift ;;
	*) options+=("$1") ;;
	esac
	shift
done
capture=$1
command -v tshark >/dev/null || { echo "tshark is not installed"; exit 1; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=0

"$program" "${options[@]}" -w "$work/ordered.pcap" "$capture" >"$work/judge.out" 2>&1 || status=1
declare -A found=()
while IFS='=' read -r name number; do
	found[$name]=$number
done < <(grep -E '^[a-z_]+=[0-9]+$' "$work/judge.out")
grep -vE '^[a-z_]+=[0-9]+$' "$work/judge.out"
[ -n "${found[violations]:-}" ] || { echo "the judge did not come to its end"; exit 1; }

# shared WHAT: how many of them are in connections that tshark can read
shared() {
	local unread=unread_$1
	echo "$((${found[$1]} - ${found[$unread]}))"
}

# Of a program that it does not know, tshark shows RPC only with an option.
unknown=FALSE
[ "$(shared configs)" -gt 0 ] && unknown=TRUE
tshark -n -2 -o iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE \
	-o tcp.try_heuristic_first:TRUE -o "rpc.dissect_unknown_programs:$unknown" -r "$work/ordered.pcap" \
	-O iwarp_mpa,rpcordma,rpc,nfs,mount 2>"$work/errors" |
	awk '
	# tshark 4.4 marks a long line that it has cut.
	{ sub(/^\[…\] /, "") }
	/^Frame / { frame = $2; sub(":", "", frame); pending = chunks = unpadded = 0 }
	/Reassembled RPCoRDMA/ { chunks = 1 }
	/fill bytes: opaque data<TRUNCATED>/ { unpadded = chunks }
	unpadded && (/^\[Malformed Packet: NFS\]/ || /^ .*Malformed/) { next }
	/^[A-Z]/ && pending {
		pending = 0
		if (/^(Network File System|Mount Service|Portmap|NFSACL)/) seen["decoded"]++
	}
	/^Remote Procedure Call, Type:Call/ { seen["calls"]++; pending = 1 }
	/^Remote Procedure Call, Type:Reply/ { seen["replies"]++; pending = 1 }
	/\(Good CRC32\)/ { seen["crcs"]++ }
	/Bad CRC32|[Mm]alformed|Dissector bug|Expert Info \(Error/ {
		sub(/^ */, "")
		if (++faults <= 10) print "tshark, frame " frame ": " $0 >"/dev/stderr"
	}
	END {
		printf "crcs=%d calls=%d replies=%d decoded=%d faults=%d\n", seen["crcs"], seen["calls"],
			seen["replies"], seen["decoded"], faults
	}' 2>"$work/faults" >"$work/tshark.out"
grep -q Dissector "$work/errors" && cat "$work/errors"
cat "$work/faults"
[ -s "$work/faults" ] && status=1

crcs=0 calls=0 replies=0 decoded=0
eval "$(cat "$work/tshark.out")"
# same WHAT OURS THEIRS
same() {
	[ "$2" = "$3" ] && return
	echo "$1: the judge counts $2, tshark $3"
	status=1
}
same "FPDUs with good CRCs" "$(shared crcs)" "$crcs"
# Of a Call that nobody answered, tshark shows the RPC only if all its chunks have come.
if [ "$calls" -lt $(($(shared calls) - $(shared open_calls))) ] || [ "$calls" -gt "$(shared calls)" ]; then
	same "RPC Calls" "$(shared calls)" "$calls"
fi
same "RPC Replies" "$(($(shared replies) - $(shared errors)))" "$replies"
[ -n "$encrypted" ] ||
	same "messages of NFS, MOUNT and their kin" "$((calls + replies - $(shared configs)))" "$decoded"

wrong=
[ "${found[crc_faults]}" = 0 ] || wrong=", ${found[crc_faults]} with a wrong one of siw"
if [ $status = 0 ]; then
	echo "${found[iwarp_connections]} iWARP and ${found[tcp_connections]} TCP connections" \
		"(${found[cut_connections]} cut, ${found[unread_connections]} not for tshark), ${found[fpdus]} FPDUs (${found[crcs]} with CRC$wrong)," \
		"${found[calls]} Calls (${found[backward_calls]} backward), ${found[reads]} RDMA Reads; at most ${found[calls_most]} Calls of" \
		"${found[grant_most]} granted and ${found[reads_most]} Reads at once"
elif [ -n "${JUDGE_KEEP:-}" ]; then
	mkdir -p "$JUDGE_KEEP" && cp "$work"/* "$JUDGE_KEEP"
fi
exit $status

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares lib/nfs with Wireshark's NFS decoder: Wireshark reads every test message to its end, and finds each payload
# at the same offset with the same length. TAP.
set -u

if ! command -v tshark >/dev/null; then
	echo "1..0 # SKIP tshark is not installed"
	exit 0
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

echo "1..4"

if ! "${builddir:-.}/tests/nfs/write_pcap" "$work/rows.pcap" >"$work/rows"; then
	echo "Bail out! write_pcap failed"
	exit 1
fi
shark()
{
	tshark -n -2 -r "$work/rows.pcap" "$@" 2>"$work/errors"
}

# report NUMBER NAME: ok if $work/diff is empty
report()
{
	if [ -s "$work/diff" ]; then
		echo "not ok $1 - $2"
		sed 's/^/# /' "$work/diff"
	else
		echo "ok $1 - $2"
	fi
}

# Prints the name of the row of each frame on standard input, except for those that tshark 4.0 misreads: the handles of
# SP4_SSV are an array (RFC 8881 section 18.35.2), and COPY_NOTIFY can have several addresses.
rows_of()
{
	while read -r frame; do
		sed -n "s/^$frame [a-z]* \([0-9]*:[0-9]* \)*//p" "$work/rows"
	done | grep -v -x -e 'NFSv4\.1 op 42' -e 'NFSv4\.2 op 61'
}

shark -Y '_ws.malformed' -T fields -e frame.number | rows_of >"$work/diff"
report 1 "no message is malformed"

# A frame of several segments counts with its last one.
shark -Y '!rpc && !tcp.reassembled_in' -T fields -e frame.number >"$work/diff"
report 2 "every message is RPC"

# Prints place and size of what tshark shows as the data of a READ or WRITE, or as the text of a link. READ_PLUS shows
# its segments as data too, but they are not DDP-eligible.
shark -Y '!(nfs.opcode == 68) && (nfs.read.data_length || nfs.write.data_length ||
	(nfs.data && rpc.programversion < 4) || nfs.readlink.data || nfs.symlink.linktext ||
	nfs.symlink.to)' -T pdml |
	sed -n -e 's/.*<field name="frame\.number".* show="\([0-9]*\)".*/frame \1/p' \
		-e 's/.*<field name="nfs\.\(data\|readlink\.data\|symlink\.linktext\|symlink\.to\)".* size="\([0-9]*\)" pos="\([0-9]*\)".*/\3:\2/p' |
	awk '$1 == "frame" { frame = $2; next } !/:0$/ { print frame, $1 }' | sort >"$work/theirs"
awk '{ for (i = 3; i <= NF && $i ~ /^[0-9]+:[0-9]+$/; i++) print $1, $i }' "$work/rows" | sort >"$work/ours"
diff "$work/ours" "$work/theirs" >"$work/diff"
report 3 "payloads are where tshark says ($(wc -l <"$work/ours") of them)"

[ "$(wc -l <"$work/ours")" -ge 35 ] && : >"$work/diff" || echo "too few payloads" >"$work/diff"
report 4 "both saw payloads"

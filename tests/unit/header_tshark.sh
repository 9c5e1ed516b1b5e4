#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that tshark decodes every form of the transport header to the encoded values. TAP.
set -u

if ! command -v tshark >/dev/null; then
	echo "1..0 # SKIP tshark is not installed"
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

"${builddir:-.}/tests/unit/header_pcap" "$work/goldens.pcap" >"$work/expected" || exit 1
set --
for field in xid version flow_control msg_type reads_count writes_count reply_count position \
	rdma_handle rdma_length rdma_offset rdma_align rdma_thresh errcode vers_low vers_high; do
	set -- "$@" -e "rpcordma.$field"
done
tshark -n -r "$work/goldens.pcap" -T fields "$@" -E 'separator=;' >"$work/seen" 2>"$work/errors"
tshark -n -r "$work/goldens.pcap" -V >"$work/text" 2>>"$work/errors"

count=$(wc -l <"$work/expected")
echo "1..$((count + 1))"
number=0
while [ "$number" -lt "$count" ]; do
	number=$((number + 1))
	expected=$(sed -n "${number}p" "$work/expected")
	seen=$(sed -n "${number}p" "$work/seen")
	if [ "$expected" = "$seen" ]; then
		echo "ok $number - $expected"
	else
		echo "not ok $number - $expected"
		echo "# tshark sees $seen"
	fi
done
number=$((number + 1))
if grep -qiE 'malformed|dissector bug' "$work/text" || ! [ -s "$work/text" ]; then
	echo "not ok $number - no frame is malformed"
	sed 's/^/# /' "$work/errors"
else
	echo "ok $number - no frame is malformed"
fi

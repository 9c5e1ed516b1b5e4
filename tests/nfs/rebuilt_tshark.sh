#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests that tshark decodes a capture of daemon/tap down to NFS: the correct number of Calls and Replies of each
# procedure, no malformed frame, no wrong checksum or sequence number, and of truncated messages the captured part. TAP.
set -u

if ! command -v tshark >/dev/null; then
	echo "1..0 # SKIP tshark is not installed"
	exit 0
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
number=0

# same WHAT: $work/expected and $work/seen are equal
same()
{
	number=$((number + 1))
	if diff "$work/expected" "$work/seen" >"$work/diff"; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		sed 's/^/# /' "$work/diff"
	fi
}
none()
{
	: >"$work/expected"
	same "$1"
}
shark()
{
	tshark -n -2 -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -r "$work/file" "$@" 2>"$work/errors"
}
# count FIELD VALUE: prints "VERSION PROCEDURE COUNT" of the NFS messages
count()
{
	shark -Y "rpc.msgtyp == $1 && rpc.program == 100003" -T fields -E separator=' ' -E occurrence=f -e rpc.programversion -e rpc.procedure |
		sort -n -k 1 -k 2 | uniq -c | awk '{ print $2, $3, $1 }'
}
write()
{
	"${builddir:-.}/tests/nfs/write_rebuilt" "$work/file" "$@" >"$work/counts" || echo "Bail out! write_rebuilt failed"
}

# judge WHAT: checks what must hold for every capture
judge()
{
	cp "$work/counts" "$work/expected"
	count 0 >"$work/seen"
	same "$1: tshark counts these Calls"
	cp "$work/counts" "$work/expected"
	count 1 >"$work/seen"
	same "$1: and as many Replies"
	shark -Y _ws.malformed >"$work/seen"
	none "$1: no frame is malformed"
	shark -Y 'ip.checksum.status == 0 || tcp.checksum.status == 0' >"$work/seen"
	none "$1: no sum is wrong"
	shark -Y 'tcp.analysis.flags' >"$work/seen"
	none "$1: nothing is strange about its TCP"
}

write
judge whole
shark -Y 'tcp.checksum.status == 1' -T fields -e frame.number | wc -l >"$work/seen"
shark -T fields -e frame.number | wc -l >"$work/expected"
same "whole: the sum of each segment is right"
shark -Y 'rpc.msgtyp == 1 && tcp.reassembled.length > 65535' -T fields -e rpc.procedure -e tcp.reassembled.length >"$work/seen"
printf '6\t1048624\n1\t70116\n' >"$work/expected"
same "whole: data that take many segments are read to their end"
shark -Y 'frame.comment == "carried so" && frame.comment == "and so"' -T fields -e frame.number | wc -l >"$work/seen"
awk '{ messages += 2 * $3 } END { print messages }' "$work/counts" >"$work/expected"
same "whole: each message has its comments"
shark -Y 'tcp.flags.syn == 1 && tcp.flags.ack == 0' -T fields -e tcp.stream | wc -l >"$work/seen"
shark -Y 'tcp.flags.fin == 1 && tcp.srcport != 2049' -T fields -e tcp.stream | wc -l >"$work/expected"
same "whole: connections begin and end"
capinfos -c -k -M "$work/file" | sed -n 's/^\(Capture comment\|Number of stat entries\)[: =]*//p' >"$work/seen"
echo "made for tshark" >"$work/expected"
same "whole: the file says what it is"

for bytes in 128 1000; do
	write $bytes
	judge "cut to $bytes"
	shark -Y "frame.cap_len > 64 + 4 + $bytes" >"$work/seen"
	none "cut to $bytes: no more is kept"
done
echo "1..$number"

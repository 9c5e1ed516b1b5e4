#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Measures the cost of an RPC between streams in memory, and of a message between two iWARP engines: instructions,
# calls of streams and fabric, allocations, copied bytes. Compares them with the recorded costs.
#
# usage: costs.sh [-b BUILD] [-f FILE] [-r PART] [-w]
#    -b BUILD  the build that has the replays: `make e2e-programs` there (build/)
#    -f FILE   the record (recorded.txt in this directory)
#    -r PART   only rows whose names contain PART
#    -w        record the results, all rows
#
# README.md explains what is counted. Exits with 1 if a figure is more than a tenth above the record, or is zero and
# was more; with 77 if something that it needs is missing.

build='' part='' write=''
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
file=$here/recorded.txt
while getopts b:f:r:wh option; do
	case $option in
	b) build=$OPTARG ;;
	f) file=$OPTARG ;;
	r) part=$OPTARG ;;
	w) write=yes ;;
	*) sed -n '3,13s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done
build=${build:-$here/../../build}

missing() { echo "costs.sh: $*" >&2; exit 77; }
die() { echo "costs.sh: $*" >&2; exit 1; }
for program in rpc_replay engine_replay; do
	[ -x "$build/tests/bench/$program" ] || missing "$build/tests/bench/$program is not built: make e2e-programs"
done
command -v valgrind >/dev/null || missing "valgrind is not installed (package valgrind)"
[ -z "$write" ] || [ -z "$part" ] || die "-w records all rows, not those of -r"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The build options that instructions depend on, from the build's Makefile.
compiled_with() {
	local cc flags

	cc=$(sed -n 's/^CC = \(ccache \)\?//p' "$build/Makefile")
	flags=$(sed -n 's/^CFLAGS = //p' "$build/Makefile")
	# shellcheck disable=SC2086
	echo "$cc $($cc -dumpversion | cut -d. -f1) $flags, $(uname -m)"
}

# count PROGRAM: prints its rows
count() {
	local parts

	valgrind -q --tool=callgrind --vgdb=no --zero-before=replay_counted --dump-after=replay_counted \
		--callgrind-out-file="$work/$1" "$build/tests/bench/$1" ${part:+"$part"} >"$work/$1.rows" ||
		die "$1: it failed"
	[ -s "$work/$1.rows" ] || return 0
	parts=$(wc -l <"$work/$1.rows")
	# shellcheck disable=SC2046
	awk -f "$here/costs.awk" "$work/$1.rows" $(seq -f "$work/$1.%.0f" "$parts") ||
		die "$1: what callgrind wrote cannot be read"
}

heading="row instructions reads writes allocations posts receives keys copied"
table() { { echo "$heading"; cat "$1"; } | awk '{ printf "%-28s %12s %9s %8s %12s %7s %9s %7s %13s\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }'; }

count engine_replay >"$work/found2" &
count rpc_replay >"$work/found" || exit 1
wait $! || exit 1
cat "$work/found2" >>"$work/found"
[ -s "$work/found" ] || die "no row has \"$part\" in its name"
made=$(compiled_with)
if [ "$write" ]; then
	{
		echo "# What an RPC, or a message between two engines, has cost. Written by costs.sh -w."
		echo "# made with $made"
		table "$work/found"
	} >"$file" || die "$file cannot be written"
fi
[ -r "$file" ] || die "there is no record $file"
table "$work/found"
echo
judged=yes
if ! grep -qxF "# made with $made" "$file"; then
	judged=
	echo "made with $made, not as the record: instructions are told, and not judged"
fi
# shellcheck disable=SC2016
awk -v judged="$judged" -v part="$part" '
	/^#/ { next }
	$1 == "row" { split($0, what); next }
	FNR == NR { for (i = 2; i <= NF; i++) recorded[$1, i] = $i; known[$1] = 1; next }
	!known[$1] { print $1 ": not in the record"; bad = 1; next }
	{
		found[$1] = 1
		for (i = 2; i <= NF; i++) {
			was = recorded[$1, i]
			if (was == $i || was + 0 == $i + 0)
				continue
			verdict = ""
			if ($i > 1.1 * was && (judged || what[i] != "instructions")) {
				verdict = ": more than a tenth above the record"
				bad = 1
			}
			if ($i == 0 && was > 0) {
				verdict = ": not counted any more, or not done any more: then record it with -w"
				bad = 1
			}
			change = was > 0 ? sprintf(" (%+.1f %%)", 100 * ($i - was) / was) : ""
			printf "%s %s: %s, was %s%s%s\n", $1, what[i], $i, was, change, verdict
			moved++
		}
	}
	END {
		for (row in known)
			if (!found[row] && index(row, part)) {
				print row ": recorded, and not there any more"
				bad = 1
			}
		print moved ? moved " figures have moved" : "nothing has moved"
		exit bad
	}' "$file" "$work/found"

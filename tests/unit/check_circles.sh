#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the objects of a build: no file of lib/ or daemon/ depends, directly or indirectly, on a file that depends on
# it. Calls through function tables that an object gets when it is created are not dependencies. TAP; for builds other
# than make's:
#
#     tests/unit/check_circles.sh [BUILD]
set -u

build=${1-${top_builddir-build}}
root=${srcdir:-$(dirname "$0")/../..}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# Objects as "FILE OBJECT": automake puts the target's name before that of the source. An object without a source is
# from an earlier build; so is the older one of two objects of one source.
find "$build/lib" "$build/daemon" -name '*.o' | xargs ls -t | while read -r object; do
	path=${object#"$build/"}
	name=${path##*/}
	for source in "${name%.o}.c" "$(echo "$name" | sed 's/^[^-]*-//; s/\.o$/.c/')"; do
		file=${path%/*}/$source
		[ -f "$root/$file" ] && echo "$file $object" && break
	done
done | awk '!seen[$1]++' | sort >"$work/objects"

# Symbols as "d FILE SYMBOL" if FILE defines them, "u FILE SYMBOL" if it needs them.
cut -d' ' -f2 "$work/objects" | xargs nm -A -P | awk '
NR == FNR { file[$2 ":"] = $1; next }
$3 == "U" { print "u", file[$1], $2 }
$3 ~ /^[ABCDGRSTVW]$/ { print "d", file[$1], $2 }' "$work/objects" - >"$work/symbols"

# Edges as "FILE FILE SYMBOL".
awk '
NR == FNR { if ($1 == "d") home[$3] = $2; next }
$1 == "u" && $3 in home { print $2, home[$3], $3 }' "$work/symbols" "$work/symbols" |
	sort >"$work/edges"
awk -f "$root/tests/unit/circles.awk" "$work/edges" >"$work/circles"

# circle EDGES - prints how many edges are part of a circle
circle() {
	printf "$1" | awk -f "$root/tests/unit/circles.awk" | grep -c ' -> '
}

echo 1..3
if [ "$(circle 'a b 1\nb c 2\nc a 3\nc d 4\ne a 5\na a 6\n')" = 3 ] &&
	[ "$(circle 'a b 1\nb c 2\na c 3\nc c 4\n')" = 0 ] &&
	[ "$(circle 'a b 1\nb a 2\nb c 3\nc b 4\n')" = 4 ]; then
	echo "ok 1 - circles are found where there are any"
else
	echo "not ok 1 - circles are found where there are any"
fi
if [ "$(grep -c '^lib/' "$work/objects")" -gt 20 ] && [ "$(wc -l <"$work/edges")" -gt 100 ]; then
	echo "ok 2 - the objects and their needs are found"
else
	echo "not ok 2 - the objects and their needs are found"
fi
if [ ! -s "$work/circles" ]; then
	echo "ok 3 - no circle of calls among the files of lib and daemon"
else
	echo "not ok 3 - no circle of calls among the files of lib and daemon"
	sed 's/^/# /' "$work/circles"
fi

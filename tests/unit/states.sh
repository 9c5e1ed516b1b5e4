#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the states in doc/states.md with the tables in the program. TAP.
#
#     tests/unit/states.sh [BUILD]           compare; BUILD is "build" by default
#     tests/unit/states.sh --write [BUILD]   write the states again
set -u

write=
if [ "${1-}" = --write ]; then
	write=yes
	shift
fi
build=${1-${top_builddir-build}}
page=${srcdir:-$(dirname "$0")/../..}/doc/states.md
begin='<!-- The states: written by tests/unit/states.sh -->'
end='<!-- End of the states -->'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

"$build/tests/unit/print_states" >"$work/states" || exit 1
awk -v begin="$begin" -v end="$end" -v states="$work/states" '
$0 == end { inside = 0; ends++ }
!inside { print }
$0 == begin {
	inside = 1
	begins++
	print ""
	while ((getline line < states) > 0) print line
	print ""
}
END { exit begins != 1 || ends != 1 }' "$page" >"$work/page" || {
	echo "Bail out! doc/states.md must have one place for the states"
	exit 1
}

if [ -n "$write" ]; then
	cat "$work/page" >"$page"
	exit
fi
echo 1..1
if diff -u "$page" "$work/page" >"$work/diff"; then
	echo "ok 1 - doc/states.md shows the states as they are"
else
	echo "not ok 1 - doc/states.md shows the states as they are"
	sed 's/^/# /' "$work/diff"
	echo "# tests/unit/states.sh --write BUILD writes them again"
fi

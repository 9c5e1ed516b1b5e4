#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Holds the rules of the house that can be seen in the text of the sources. TAP; run from anywhere, or with
# srcdir set.
set -u

root=${srcdir:-$(dirname "$0")/../..}
cd "$root" || exit 1
max_lines=700
clang_format_major=14

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# A room, and those that it may look into. A room has the rules of the longest line that fits its folder.
sed 's,LIB,base rpc nfs fabric fabric/iwarp fabric/sim fabric/verbs leg rpctcp rpcrdma,' >"$work/rooms" <<'EOT'
lib/base         base
lib/rpc          base rpc
lib/nfs          base rpc nfs
lib/fabric       base fabric
lib/fabric/iwarp base fabric fabric/iwarp
lib/fabric/sim   base fabric fabric/sim
lib/fabric/verbs base fabric fabric/verbs
lib/leg          base rpc fabric leg
lib/rpctcp       base rpc fabric leg rpctcp
lib/rpcrdma      base rpc fabric leg rpcrdma
daemon/base      LIB daemon/base
daemon/config    LIB daemon/base daemon/config
daemon/service   LIB daemon/base daemon/config daemon/service
daemon/bridge    LIB daemon/base daemon/config daemon/service daemon/bridge
daemon/proxy     LIB daemon/base daemon/config daemon/service daemon/bridge daemon/proxy
daemon/control   LIB daemon/base daemon/config daemon/service daemon/bridge daemon/proxy daemon/control
daemon/ctl       base daemon/base daemon/control daemon/ctl
daemon           LIB daemon/base daemon/config daemon/service daemon/bridge daemon/proxy daemon/control
tests            *
EOT

find lib daemon tests -name '*.[ch]' ! -path '*/generated/*' | sort >"$work/all"
grep -E '^lib/' "$work/all" >"$work/lib"
grep -E '^(lib|daemon)/' "$work/all" >"$work/ours"

# Sources without comments and strings, under their own names in $work/code.
strip_comments() {
	awk '
	function flush_line() { print out; out = "" }
	{
		n = length($0)
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1)
			two = substr($0, i, 2)
			if (state == "comment") {
				if (two == "*/") { state = ""; i++ }
			} else if (state != "") {
				if (c == "\\") i++
				else if (c == state) state = ""
			} else if (two == "/*") { state = "comment"; i++ }
			else if (two == "//") break
			else if (c == "\"" && $0 !~ /^[ \t]*#[ \t]*include/) state = c
			else if (c == "\047") state = c
			else out = out c
		}
		if (state != "comment") state = ""
		flush_line()
	}' "$1"
}

while read -r file; do
	mkdir -p "$work/code/$(dirname "$file")"
	strip_comments "$file" >"$work/code/$file"
done <"$work/all"

number=0
# verdict NAME FILE - ok if FILE, which lists what broke the rule, is empty
verdict() {
	number=$((number + 1))
	if [ -s "$2" ]; then
		echo "not ok $number - $1"
		sed 's/^/# /' "$2"
	else
		echo "ok $number - $1"
	fi
}

# grep_code LIST PATTERN - lines of code that match, as FILE:LINE:TEXT
grep_code() {
	(cd "$work/code" && xargs grep -nE "$2" /dev/null <"$1")
}

echo 1..10

# A scan that finds no files would pass everything.
: >"$work/found"
for room in lib/base lib/rpc lib/nfs lib/fabric lib/leg lib/rpctcp lib/rpcrdma daemon tests/unit; do
	grep -q "^$room/" "$work/all" || echo "$room: no sources found" >>"$work/found"
done
verdict "the sources are found" "$work/found"

grep_code "$work/all" \
	'^[ 	]*#[ 	]*include[ 	]+("|<(base|rpc|nfs|fabric|leg|rpctcp|rpcrdma|daemon)/)' |
	tr '<>' '""' |
	awk -v rooms="$work/rooms" '
	BEGIN {
		while ((getline line < rooms) > 0) {
			n = split(line, word, " ")
			allowed[word[1]] = " "
			for (i = 2; i <= n; i++)
				allowed[word[1]] = allowed[word[1]] word[i] " "
		}
	}
	{
		split($0, part, ":")
		file = part[1]
		split($0, quoted, "\"")
		included = quoted[2]
		room = file
		do {
			if (!sub(/\/[^\/]*$/, "", room)) { room = ""; break }
		} while (!(room in allowed))
		target = included
		if (!sub(/\/[^\/]*$/, "", target)) target = ""
		if (included == "config.h" && target == "") next
		if (room == "") print file ": is in no known room"
		else if (included ~ /\.c$/) print file ": includes the source " included
		else if (allowed[room] == " * ") next
		else if (!index(allowed[room], " " target " "))
			print file ":" part[2] ": " room " must not include " included
	}' >"$work/rooms.bad"
verdict "lower rooms never include upper ones" "$work/rooms.bad"

grep_code "$work/lib" '^[ 	]*#[ 	]*include[ 	]+[<"](event|evutil|evdns|event2/)' >"$work/event.bad"
verdict "lib never includes libevent" "$work/event.bad"

grep_code "$work/lib" \
	'(^|[^A-Za-z0-9_.>])((clock_gettime|gettimeofday|time|timespec_get|clock|v?syslog|openlog|v?printf|puts|putchar|perror|err|errx|v?warnx?)[ ]*\(|std(err|out)([^A-Za-z0-9_]|$))' \
	>"$work/calls.bad"
verdict "lib never logs and never reads the clock" "$work/calls.bad"

grep_code "$work/ours" '^[ 	]*#[ 	]*include[ 	]+[<"](infiniband|rdma)/' |
	grep -v '^lib/fabric/verbs/' >"$work/verbs.bad"
verdict "only lib/fabric/verbs includes infiniband/ or rdma/" "$work/verbs.bad"

while read -r file; do
	case $file in
	*.h) line='/* SPDX-License-Identifier: BSD-3-Clause */' ;;
	*) line='// SPDX-License-Identifier: BSD-3-Clause' ;;
	esac
	[ "$(head -n 1 "$file")" = "$line" ] || echo "$file: line 1 is not $line"
done <"$work/all" >"$work/spdx.bad"
verdict "each source begins with its licence" "$work/spdx.bad"

# The guard is the path in capitals; folders above the header's own may be left out.
grep '\.h$' "$work/all" | while read -r file; do
	path=$(echo "$file" | tr 'a-z/.-' 'A-Z___')
	shortest=$(echo "$file" | sed 's,.*/\([^/]*/\),\1,' | tr 'a-z/.-' 'A-Z___')
	first=$(grep -v '^[ 	]*$' "$work/code/$file" | head -n 2 | tr '\n' ';')
	last=$(grep -v '^[ 	]*$' "$work/code/$file" | tail -n 1)
	guard=${first#'#ifndef '}
	guard=${guard%%;*}
	case $path in
	"$guard" | *_"$guard") ;;
	*) guard= ;;
	esac
	case $guard in
	"$shortest" | *_"$shortest") ;;
	*) guard= ;;
	esac
	[ -n "$guard" ] && [ "$first" = "#ifndef $guard;#define $guard;" ] && [ "$last" = "#endif" ] ||
		echo "$file: is not guarded by $shortest"
done >"$work/guards.bad"
verdict "each header is guarded by its name" "$work/guards.bad"

while read -r file; do
	lines=$(wc -l <"$file")
	[ "$lines" -le $max_lines ] || echo "$file: $lines lines"
done <"$work/ours" >"$work/long.bad"
verdict "no file of lib or daemon is longer than $max_lines lines" "$work/long.bad"

tag='(^|[^A-Za-z0-9_])([ACDE][0-9][0-9.]*-[0-9]+|A-Δ[0-9]+|X-[0-9]+)'
tags() {
	grep -ohE "$tag" | sed -E 's/^[^ACDEX]*//' | sort -u
}
xargs cat <"$work/all" | tags >"$work/used"
sed -n 's/^| \([^ |]*\) |.*/\1/p' tests/REQUIREMENTS.md | tags >"$work/explained"
{
	[ -s "$work/used" ] || echo "no tags found"
	comm -23 "$work/used" "$work/explained" | sed 's/$/: stands in the sources, not in REQUIREMENTS.md/'
	comm -13 "$work/used" "$work/explained" | sed 's/$/: stands in REQUIREMENTS.md, not in the sources/'
} >"$work/tags.bad"
verdict "REQUIREMENTS.md explains the tags of the sources" "$work/tags.bad"

clang_format=
for program in "clang-format-$clang_format_major" clang-format; do
	if "$program" --version 2>/dev/null | grep -q "version $clang_format_major\."; then
		clang_format=$program
		break
	fi
done
if [ -n "$clang_format" ] && [ -f .clang-format ]; then
	while read -r file; do
		"$clang_format" --dry-run -Werror "$file" >/dev/null 2>&1 ||
			echo "$file: clang-format -i would change it"
	done <"$work/all" >"$work/format.bad"
	verdict "each source is formatted" "$work/format.bad"
else
	number=$((number + 1))
	echo "ok $number - each source is formatted # SKIP clang-format $clang_format_major is not there"
fi

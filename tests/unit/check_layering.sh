#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Checks the rules of the tree that the text of the sources shows. TAP; run from anywhere, or with srcdir set.
set -u

root=${srcdir:-$(dirname "$0")/../..}
cd "$root" || exit 1
max_lines=800
max_function_lines=50
clang_format_major=14

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# The table in doc/internals.md lists what a directory may include. Lines "DIRECTORY WHAT ...": another directory, a
# header, or "lib/" and "daemon/" for everything there. Directories of lib/ have their short names, as in #include. A
# directory without a line has that of its parent, which it may also include.
sed -n 's/^| \(\(lib\|daemon\)[a-z/]*\) | .* | \([^|]*\) |$/\1 \3/p' doc/internals.md | tr -d ',–' >"$work/rooms"

find lib daemon tests -name '*.[ch]' ! -path '*/generated/*' | sort >"$work/all"
grep -E '^lib/' "$work/all" >"$work/lib"
grep -E '^(lib|daemon)/' "$work/all" >"$work/ours"

# Sources without comments and strings, under their own names in $work/code.
sed 's,/[^/]*$,,' "$work/all" | sort -u | (mkdir "$work/code" && cd "$work/code" && xargs mkdir -p)
awk -v code="$work/code" '
FILENAME != file {
	if (file) close(out_file)
	file = FILENAME
	out_file = code "/" file
	state = ""
	printf "" >out_file
}
{
	out = ""
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
	print out >out_file
}' $(cat "$work/all")

number=0
# verdict NAME FILE - ok if FILE, which lists violations, is empty
verdict() {
	number=$((number + 1))
	if [ -s "$2" ]; then
		echo "not ok $number - $1"
		sed 's/^/# /' "$2"
	else
		echo "ok $number - $1"
	fi
}

# grep_code LIST PATTERN - prints matching lines of code, as FILE:LINE:TEXT
grep_code() {
	(cd "$work/code" && xargs grep -nE "$2" /dev/null <"$1")
}

echo 1..17

# A scan without files would pass.
: >"$work/found"
for room in lib/base lib/stream lib/tls lib/rpc lib/nfs lib/fabric lib/leg lib/rpctcp lib/rpcrdma daemon tests/unit; do
	grep -q "^$room/" "$work/all" || echo "$room: no sources found" >>"$work/found"
done
verdict "the sources are found" "$work/found"

# Includes, as "FILE:LINE HEADER".
grep_code "$work/all" \
	'^[ 	]*#[ 	]*include[ 	]+("|<(base|rpc|nfs|fabric|leg|stream|tls|rpctcp|rpcrdma|daemon)/)' |
	tr '<>' '""' | awk -F'[:"]' '$4 != "config.h" { print $1 ":" $2, $4 }' >"$work/includes"

awk '
function folder(path) { return sub(/\/[^\/]*$/, "", path) ? path : "" }
# Whether @target, in the directory @dir, is one of the words of a line.
function is_named(words, target, dir,    n, i, word) {
	n = split(words, word, " ")
	for (i = 1; i <= n; i++) {
		if (word[i] == dir || word[i] == target) return 1
		if (word[i] == "lib/" && dir !~ /^daemon/) return 1
		if (word[i] == "daemon/" && dir ~ /^daemon\//) return 1
	}
	return 0
}
NR == FNR {
	room = $1
	$1 = ""
	allowed[room] = $0
	next
}
{
	split($1, place, ":")
	own = room = folder(place[1])
	if (own ~ /^tests/) { if ($2 ~ /\.c$/) print $1 ": includes the source " $2; next }
	while (room != "" && !(room in allowed)) room = folder(room)
	dir = folder($2)
	short = own
	sub(/^lib\//, "", short)
	above = room
	sub(/^lib\//, "", above)
	if (room == "") print $1 ": is in no directory of the table in doc/internals.md"
	else if ($2 ~ /\.c$/) print $1 ": includes the source " $2
	else if (dir == "") print $1 ": does not name the directory of " $2
	else if (dir == short || dir == above) next
	else if (!is_named(allowed[room], $2, dir)) print $1 ": " room " must not include " $2
}' "$work/rooms" "$work/includes" >"$work/rooms.bad"
[ "$(wc -l <"$work/rooms")" -gt 10 ] || echo "doc/internals.md has no table of directories" >>"$work/rooms.bad"
verdict "directories include what the table in doc/internals.md says" "$work/rooms.bad"

# A reader of the core of lib/rpcrdma can skip version two and the draft: the core includes only those of their headers
# that a table of doc/internals.md lists.
sed -n 's,^lib/rpcrdma/[^/]* rpcrdma/\(\(v2\|draft03\)/.*\),\1,p' "$work/includes" | sort -u >"$work/attached"
sed -n '/^| header | from | what for |/,/^$/s/^| \(.*\.h`\) | .*/\1/p' doc/internals.md | tr -d '` ' | tr ',' '\n' | sort >"$work/told"
diff "$work/told" "$work/attached" >"$work/attached.bad"
[ -s "$work/attached" ] || echo "the core includes nothing of v2/ and draft03/" >>"$work/attached.bad"
verdict "the core of lib/rpcrdma includes of v2 and draft03 what the table in doc/internals.md says" "$work/attached.bad"

# Edges between modules: x.c with x.h. The files around x share x_priv.h or x_impl.h, which is a separate module; its
# include of x.h is no edge, because both declare the same module. Then edges between directories. The two protocols
# next to the core of lib/rpcrdma attach to it and use it, and daemon/config/syntax names keys, so these count as a part
# of their parent.
grep -E '^(lib|daemon)/' "$work/includes" | sed 's/:[0-9]* / /' | awk -v ours="$work/ours" '
function module(path) { sub(/\.[ch]$/, "", path); return path }
BEGIN { while ((getline path < ours) > 0) known[path] }
{
	target = $2 in known ? $2 : "lib/" $2
	from = module($1)
	to = module(target)
	if (target in known && from != to "_priv" && from != to "_impl") print from, to, $1
}' >"$work/module.edges"
awk -f tests/unit/circles.awk "$work/module.edges" >"$work/modules.bad"
verdict "no circle of includes among the modules of lib and daemon" "$work/modules.bad"
awk '{ for (i = 1; i <= 2; i++) { sub(/\/[^\/]*$/, "", $i); sub(/^lib\/rpcrdma\/.*/, "lib/rpcrdma", $i); sub(/^daemon\/config\/.*/, "daemon/config", $i) }; print }' "$work/module.edges" |
	awk -f tests/unit/circles.awk >"$work/folders.bad"
verdict "no circle of includes among the directories" "$work/folders.bad"

grep_code "$work/lib" '^[ 	]*#[ 	]*include[ 	]+[<"](event|evutil|evdns|event2/)' >"$work/event.bad"
verdict "lib never includes libevent" "$work/event.bad"

grep_code "$work/ours" '^[ 	]*#[ 	]*include[ 	]+[<"](event|evutil|evdns|event2/)' |
	grep -vE '^daemon/(base/loop|http/http_server)\.c:' >"$work/evhttp.bad"
verdict "only two files include libevent" "$work/evhttp.bad"

grep_code "$work/lib" \
	'(^|[^A-Za-z0-9_.>])((clock_gettime|gettimeofday|time|timespec_get|clock|v?syslog|openlog|v?printf|puts|putchar|perror|err|errx|v?warnx?)[ ]*\(|std(err|out)([^A-Za-z0-9_]|$))' \
	>"$work/calls.bad"
verdict "lib never logs and never reads the clock" "$work/calls.bad"

grep_code "$work/ours" '^[ 	]*#[ 	]*include[ 	]+[<"](infiniband|rdma)/' |
	grep -v '^lib/fabric/verbs/' >"$work/verbs.bad"
verdict "only lib/fabric/verbs includes infiniband/ or rdma/" "$work/verbs.bad"

grep_code "$work/ours" '(RPCRDMA_VERSION_(ONE|TWO)|(->|\.)(vers|version) *([=!]=|[<>]))' |
	grep -E '^(lib/rpcrdma/|daemon/)|RPCRDMA_VERSION' |
	grep -vE '^lib/rpcrdma/(proto\.h|dialect\.c|header\.c|v2/negotiation\.[ch]):' |
	grep -v '^lib/rpcrdma/draft03/ccp\.c:.*CCP_VERSION' >"$work/versions.bad" # that of an RPC program
verdict "only the dialects, their negotiation and the codec of the header compare versions" "$work/versions.bad"

xargs awk '
FNR == 1 {
	line = "SPDX-License-Identifier: BSD-3-Clause"
	line = FILENAME ~ /\.h$/ ? "/* " line " */" : "// " line
	if ($0 != line) print FILENAME ": line 1 is not " line
}' <"$work/all" >"$work/spdx.bad"
verdict "each source begins with its licence" "$work/spdx.bad"

# The guard is the path in capitals; it can omit directories above the header's own.
grep '\.h$' "$work/all" | (cd "$work/code" && xargs awk '
function macro(path) { gsub(/[\/.-]/, "_", path); return toupper(path) }
function ends_with(text, end) {
	return text == end || substr(text, length(text) - length(end)) == "_" end
}
function judge(    shortest) {
	if (!file) return
	shortest = file
	match(shortest, /[^\/]*\/[^\/]*$/)
	shortest = macro(substr(shortest, RSTART))
	if (!guard || first != "#ifndef " guard || second != "#define " guard || last != "#endif" ||
	    !ends_with(macro(file), guard) || !ends_with(guard, shortest))
		print file ": is not guarded by " shortest
}
FNR == 1 { judge(); file = FILENAME; first = second = last = guard = "" }
/^[ \t]*$/ { next }
!first { first = $0; guard = $2; next }
!second { second = $0 }
{ last = $0 }
END { judge() }') >"$work/guards.bad"
verdict "each header is guarded by its name" "$work/guards.bad"

# Leftovers of reflowing: text directly after the star, and a comment of several lines with text on its first or last
# line. Two forms are correct: one line, and a block with empty first and last lines.
xargs awk '
function bad(what) { print FILENAME ":" FNR ": " what }
FNR == 1 { inside = 0 }
inside {
	if (/^ \*[A-Za-z]/) bad("no blank behind the star")
	if (/\*\//) {
		if (!/^[ \t]*\*\/$/) bad("a comment of several lines ends beside its text")
		inside = 0
	}
	next
}
/^[ \t]*\/\*/ && !/\*\// {
	if (!/^[ \t]*\/\*\*?$/) bad("a comment of several lines begins beside its text")
	inside = 1
}' <"$work/all" >"$work/comments.bad"
verdict "no comment is broken where a reflow broke it" "$work/comments.bad"

xargs wc -l <"$work/all" | awk -v max=$max_lines '$2 != "total" && $1 > max { print $2 ": " $1 " lines" }' >"$work/long.bad"
verdict "no source is longer than $max_lines lines" "$work/long.bad"

xargs awk -v max=$max_function_lines '
FNR == 1 { start = 0 }
/^{/ { start = FNR }
/^}/ {
	if (start && FNR - start + 1 > max)
		print FILENAME ":" start ": " FNR - start + 1 " lines"
	start = 0
}' <"$work/ours" >"$work/functions.bad"
verdict "no function of lib or daemon is longer than $max_function_lines lines" "$work/functions.bad"

# A file that no list names is missing in a distribution. A program stands for its source.
find lib daemon tests -name '*.mk' -exec cat Makefile.am {} + | tr -s ' \t=\\' '\n' |
	sed 'p; s/$/.c/' | sort -u >"$work/listed"
{
	cat "$work/all"
	find lib daemon tests -name '*.sh'
} | sort | comm -23 - "$work/listed" | sed 's/$/: no local.mk names it/' >"$work/lists.bad"
verdict "each source and script is listed" "$work/lists.bad"

clang_format=
for program in "clang-format-$clang_format_major" clang-format; do
	if "$program" --version 2>/dev/null | grep -q "version $clang_format_major\."; then
		clang_format=$program
		break
	fi
done
if [ -n "$clang_format" ] && [ -f .clang-format ]; then
	xargs "$clang_format" --dry-run -Werror <"$work/all" 2>&1 |
		sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: .*/\1: clang-format -i would change it/p' |
		sort -u >"$work/format.bad"
	verdict "each source is formatted" "$work/format.bad"
else
	number=$((number + 1))
	echo "ok $number - each source is formatted # SKIP clang-format $clang_format_major is not there"
fi

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Refuses phrases that are not plain English (phrases.txt) in comments, texts of the program, manuals and documents.
# TAP; run from anywhere, or with srcdir set.
set -u
export LC_ALL=C

root=${srcdir:-$(dirname "$0")/../..}
cd "$root" || exit 1
list=tests/unit/phrases.txt

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

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

# find_phrases FILE... - prints NUMBER<tab>FILE:LINE: PHRASE for each phrase in paragraphs of phrases_text.awk; NUMBER
# is that of the expression
find_phrases() {
	awk -F'\t' -v list="$work/list" '
	BEGIN {
		word = "[^a-z0-9_]"
		while ((getline line < list) > 0) {
			split(line, field, "\t")
			anchor = sub(/^\^/, "", field[1]) ? "[.:;!?)] +" : word
			expression[++count] = anchor "(" field[1] ")" word
			files[count] = field[3]
		}
	}
	# The line of the paragraph at @offset.
	function line_of(offset,    n, i, place, pair, line) {
		n = split($2, place, " ")
		for (i = 1; i <= n; i++) {
			split(place[i], pair, ":")
			if (line == "" || pair[1] <= offset) line = pair[2]
		}
		return line
	}
	{
		text = ". " tolower($3) " . "
		for (i = 1; i <= count; i++) {
			if (text !~ expression[i] || $1 !~ files[i]) continue
			rest = text
			while (match(rest, expression[i])) {
				offset = length(text) - length(rest) + RSTART - 1
				phrase = substr(rest, RSTART, RLENGTH)
				gsub(/^[^a-z0-9_]+|[^a-z0-9_]+$/, "", phrase)
				print i "\t" $1 ":" line_of(offset) ": " phrase
				rest = substr(rest, RSTART + RLENGTH - 1)
			}
		}
	}' "$@"
}

# as_paragraphs - makes each line of the input a paragraph of the file named at its beginning
as_paragraphs() {
	sed 's/^\([^ ]*\) /\1	1:1	/'
}

grep -v '^\(#\|$\)' "$list" >"$work/list"
count=$(wc -l <"$work/list")
echo "1..$((count + 5))"

# doc/states.md is generated from literals of lib and daemon; debian/changelog is history.
{
	find lib daemon -name '*.[ch]'
	find man -name '*.in'
	find doc conf contrib debian -type f ! -name '*.mk' ! -name states.md ! -name changelog
	find tests -name '*.h' ! -path '*/generated/*'
	find tests/lib -name '*.c' -o -path 'tests/lib/*.sh'
	ls README.md CONTRIBUTING.md SECURITY.md NEWS.md 2>/dev/null
} | sort -u >"$work/files"
xargs awk -f tests/unit/phrases_text.awk <"$work/files" >"$work/texts"

# A scan without text would pass.
: >"$work/found"
for path in lib/base/ lib/rpcrdma/ daemon/bridge/ daemon/ctl/ man/ doc/ conf/ contrib/ debian/ tests/lib/ README.md; do
	grep -q "^$path" "$work/texts" || echo "$path: no text found" >>"$work/found"
done
verdict "the texts are found" "$work/found"

# A comment of several lines, a comment at the end of a line, adjacent literals, and names, which are no text.
mkdir -p "$work/self/lib" "$work/self/man"
cat >"$work/self/lib/a.c" <<'END'
/*
 * A Reply is given
 * up. The value "lent" is a name, as is @seat, and so is lend.c.
 */
int code; // nothing is amiss
static const char *lent = "lent", *text = "a line that ends i"
					  "n the place of another";
char quote = '"'; /* house */
END
cat >"$work/self/man/a.in" <<'END'
.It Ql lent
It is
.Sy lent ,
.\" anew
END
cat >"$work/expected" <<'END'
lib/a.c:2: given up
lib/a.c:5: amiss
lib/a.c:6: in the place of
lib/a.c:8: house
man/a.in:4: anew
END
(cd "$work/self" && awk -f "$OLDPWD/tests/unit/phrases_text.awk" lib/a.c man/a.in) >"$work/self.texts"
find_phrases "$work/self.texts" | cut -f2 | sort | diff "$work/expected" - >"$work/self.bad"
verdict "comments and literals are read, and names are not" "$work/self.bad"

as_paragraphs >"$work/bad" <<'END'
lib/a.c After three attempts the exchange is given up.
lib/b.c The worker is told when the connection ends.
lib/c.c One line tells of both.
lib/d.c It is open on both sides, and so says the log.
lib/e.c Nothing is amiss.
lib/f.c A name in the place of an address.
lib/g.c Each RPC needs it anew.
lib/h.c It frees the buffer, and besides closes the socket.
lib/i.c Four messages of the largest size besides.
lib/j.c Two proxies beside two HAProxies.
lib/k.c Who is turned away waits for half a second.
lib/l.c A status page for who accepts that.
lib/m.c What is new is made first.
lib/n.c No port of MOUNT is to be had.
lib/o.c Its old connection is to end first.
lib/p.c Gather the head, or be rid of it.
lib/q.c Even a server is taken leave of in order.
lib/r.c A server that is taken for one that speaks version one only.
lib/s.c The rules of the house.
lib/t.c What each room may include.
lib/u.c The upper floor includes the lower one.
lib/v.c The porch judges it by its address.
lib/w.c A rejected client waits in the lobby.
lib/x.c The guest of this connection.
lib/y.c The desk at which connections wait.
lib/z.c The upstream has a seat at its target.
lib/A.c The errand is done by the worker.
lib/B.c A station has a queue.
lib/C.c The Reply is lent to the client.
lib/D.c The task buries it.
lib/E.c Most RPCs of one client that were under way: 32 calls at once.
lib/F.c Names of which there are three.
lib/G.c The whole message but for its data.
lib/H.c It is not asked again, also if it answers.
lib/I.c The server has not answered of late.
lib/J.c The end waits as long as that takes.
lib/K.c It is asked each 5 seconds.
lib/L.c It waits a second, lest the client come back.
lib/M.c The next attempt mends that.
lib/N.c How the memory is parted.
lib/O.c What becomes of a capture.
lib/P.c A server knows it again by its port.
lib/Q.c The loop hears of its end.
lib/R.c Whatever is out of the ordinary comes first.
lib/S.c It is drained, and nobody gets in.
lib/T.c The port from whence it came.
lib/U.c The peer goes away, and the other way round.
END
cut -f1 "$work/bad" >"$work/bad.files"
find_phrases "$work/bad" >"$work/bad.found"
cut -f1 "$work/bad.found" | sort -nu >"$work/bad.numbers"
awk -F'\t' 'NR == FNR { caught[$1]; next } !(FNR in caught) { print $1 }' "$work/bad.numbers" "$work/list" >"$work/idle"
verdict "each expression catches a bad line" "$work/idle"
cut -f2 "$work/bad.found" | sed 's/:.*//' | sort -u >"$work/bad.caught"
sort "$work/bad.files" | comm -23 - "$work/bad.caught" >"$work/uncaught"
verdict "each bad line is caught" "$work/uncaught"

as_paragraphs >"$work/good" <<'END'
lib/a.c It gives the upper 32 bits. The memory is given back. The timer is set up.
lib/b.c Returns whether it has told_failed. One byte tells the protocols apart.
lib/c.c The answer is in its place. The place of the data is known. A chunk in place of a payload.
lib/d.c A member besides these two is an error. The client, who is an administrator, asks.
lib/e.c Who grants credits. Who calls whom? What is a leg? The first byte tells which protocol it is.
lib/f.c What to do if a lease cannot be granted: wait. What the legs of a service share.
lib/g.c A buffer with room for one segment: there is no room. A warehouse, a workstation.
tests/lab/a.h The guest has a kernel of its own.
lib/h.c It closes at once. All at the same time, once. The upper bound is the default.
lib/i.c It was sent to be answered. The connection is open to the end of the file.
lib/j.c The server answers late. The latest one. Each 16-bit word. At least as long as the header.
lib/k.c Its part of the work. What has arrived: the bytes of a record.
END
find_phrases "$work/good" | cut -f2 >"$work/good.found"
verdict "good lines are not caught" "$work/good.found"

find_phrases "$work/texts" >"$work/hits"
i=0
while IFS='	' read -r expression plain files; do
	i=$((i + 1))
	awk -F'\t' -v number=$i '$1 == number { print $2 }' "$work/hits" >"$work/hits.one"
	verdict "/$expression/${files:+ in $files}: $plain" "$work/hits.one"
done <"$work/list"

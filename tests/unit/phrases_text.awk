# SPDX-License-Identifier: BSD-3-Clause
# Prints the prose of sources and documents, a paragraph a line: FILE, a tab, OFFSET:LINE for each line of the paragraph,
# a tab, the text. Prose is each comment and each string literal of C (adjacent literals are one), each comment of a shell
# script, and all of another file. Names are replaced by X: those in quotes or backquotes, arguments (@name), files, and
# words in the literal markup of mdoc. A string literal without a blank is a name, and is left out.

function flush() {
	if (text ~ /[A-Za-z]/ && (!literal || text ~ /[^ ] +[^ ]/)) print FILENAME "\t" places "\t" text
	text = places = ""
	literal = 0
}
function add(part, glue) {
	gsub(/\t/, " ", part)
	gsub(/"[A-Za-z_-]+"|@[a-z_]+|[A-Za-z_0-9]+\.[ch]([^a-z]|$)/, "X ", part)
	if (text == "") sub(/^[ *]*[a-z][a-z0-9_]*( [a-z]+)? - /, " ", part)
	else text = text glue
	places = places (places == "" ? "" : " ") (length(text) + 1) ":" FNR
	text = text part
}
# Between literals that are one there are blanks and names of macros alone.
function scan_c(line,    i, c, two, part) {
	part = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		two = substr(line, i, 2)
		if (state == "comment") {
			if (two == "*/") {
				add(part, " ")
				flush()
				state = part = ""
				i++
			} else part = part c
		} else if (state == "\"") {
			if (c == "\\") {
				c = substr(line, ++i, 1)
				part = part (c ~ /[nt]/ ? " " : c)
			} else if (c == "\"") {
				if (!comments_only) { literal = 1; add(part, "") }
				state = part = ""
			} else part = part c
		} else if (state == "\047") {
			if (c == "\\") i++
			else if (c == "\047") state = ""
		} else if (two == "/*" || two == "//") {
			flush()
			i++
			if (two == "/*") state = "comment"
			else { add(substr(line, i + 1), " "); flush(); return }
		} else if (c == "\"" || c == "\047") state = c
		else if (c !~ /[A-Za-z0-9_ \t\\]/) flush()
	}
	if (state != "comment") { state = ""; return }
	sub(/^[ \t]*\*[ \t]*/, "", part)
	if (part ~ /^[ \t]*$/) { flush(); return }
	add(part, " ")
}
function scan_mdoc(line,    macro) {
	if (line ~ /^\.\\"/) { flush(); add(substr(line, 4), " "); flush(); return }
	if (line !~ /^\./) { add(line, " "); return }
	macro = substr(line, 2, 2)
	sub(/^\.[A-Za-z]+ */, "", line)
	if (macro ~ /^(Pp|Sh|Ss|It|Bl|El|Bd|Ed|Dd|Os|Dt)$/) flush()
	if (macro == "It") while (line ~ /^(Cm|Ic|Va|Li|Ql|Sy|Fl|Ar|Dv|Pa) /) sub(/^[A-Z][a-z] +[^ ]+ */, "", line)
	if (macro ~ /^(Cm|Ic|Va|Dv|Fl|Pa|Xr|Ev|Ar|Bl|Bd)$/ || (macro ~ /^(Li|Ql|Sy)$/ && line !~ /[a-z] +[a-z]/))
		line = "X"
	add(line, " ")
	if (macro ~ /^(Sh|Ss)$/) flush()
}
function scan_text(line) {
	gsub(/`[^`]*`/, "X", line)
	if (line ~ /^[ \t>#]*$/) { flush(); return }
	if (line ~ /^ *([|#*-]|[0-9]+\.|```)/ && FILENAME ~ /\.md$/) flush()
	sub(/^[ \t>#*-]+/, "", line)
	add(line, " ")
	if (line ~ /^\|/ || FILENAME ~ /\.json$/) flush()
}

FNR == 1 {
	flush()
	state = ""
	comments_only = FILENAME ~ /^tests\//
}
FILENAME ~ /\.[ch]$/ { if (!/^[ \t]*#[ \t]*include/) scan_c($0); next }
FILENAME ~ /^man\// { scan_mdoc($0); next }
FILENAME ~ /\.sh$/ { if (/^[ \t]*#[^!]/) scan_text($0); else flush(); next }
{ scan_text($0) }
END { flush() }

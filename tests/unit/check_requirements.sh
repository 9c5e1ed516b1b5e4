#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the table of tests/REQUIREMENTS.md with the sources: the tests that it names exist, and it has each tag in
# the sources. TAP.
set -u

: "${srcdir:=$(dirname "$0")/../..}"
. "$srcdir/tests/lib/tap.sh"
cd "$srcdir" || exit 1
table=tests/REQUIREMENTS.md
scenarios=tests/peer/scenarios
export LC_ALL=C

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# In C a function's declaration begins in the first column, and its brace is alone on a line.
find lib daemon -name '*.[ch]' -exec awk '
FNR == 1 { name = "" }
/^[A-Za-z_].*[a-z0-9_]\(/ && match($0, /[a-z_][a-z0-9_]*\(/) { name = substr($0, RSTART, RLENGTH - 1) }
/^{/ && name != "" { print "function", FILENAME ":" name; name = "" }' {} + >"$work/known"

{
	grep -rHoE --include='*.c' '^START_TEST\([a-z0-9_]+' tests | sed 's/:START_TEST(/:/; s/^/case /'
	grep -rHoE --include='*.py' '^ +def test_[a-z0-9_]+' tests | sed -E 's/: +def /:/; s/^/case /'
	find tests -name '*.sh' | sed 's/^/script /'
	[ ! -d "$scenarios" ] || echo "scenarios $scenarios"
	[ ! -d "$scenarios" ] || grep -rhoE --include='*.py' "^@(requester|responder)(_ends)?\(['\"][^'\"]+" "$scenarios" |
		sed -E "s/^@requester[^(]*\(./scenario RQ /; s/^@responder[^(]*\(./scenario RS /"
	find tests/lab -name 'conformance.[a-z]*' ! -name '*.sh' -exec cat {} + 2>/dev/null |
		sed -nE 's/^~?([A-Z][^ #]*) .*\|.*/linux \1/p'
} >>"$work/known"

# Tags in all files, as "used FILE TAG".
tag='(^|[^A-Za-z0-9_])([A-EI][0-9][0-9.]*-[0-9]+|A-Δ[0-9]+|X-[0-9]+)'
{
	find lib daemon tests doc \( -name '*.[ch]' -o -name '*.py' -o -name '*.md' \)
	echo CONTRIBUTING.md
} | xargs grep -oE "$tag" |
	sed -E 's/^([^:]*):[^A-EIX]*/used \1 /' | sort -u >>"$work/known"

awk -F'|' '
function trim(text) { gsub(/^ +| +$/, "", text); return text }
function bad(rule, what) { print rule "\t" FILENAME ":" FNR ": " what }

function check_sections(cell,    n, i, part) {
	if (cell == "–") return
	n = split(cell, part, /, /)
	for (i = 1; i <= n; i++)
		if (part[i] !~ /^(8166|8167|8267|8797|504[014]|6581) §[0-9]+(\.[0-9]+)*$/)
			bad("filled", tag ": \"" part[i] "\" is no section of an RFC that counts")
}
function check_where(cell, shown,    n, i, part) {
	if (cell == "–") {
		if (shown !~ /^not seen: ./) bad("filled", tag ": nothing of ours, and no reason")
		return
	}
	n = split(cell, part, /, /)
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^not built: /) {
			if (!((substr(part[i], 12)) in unbuilt)) bad("filled", tag ": unknown \"" part[i] "\"")
		} else if (!(part[i] in known_function)) bad("places", tag ": no function " part[i])
	}
}
function check_roles(part,    n, i, role) {
	n = split(part, role, / /)
	for (i = 2; i <= n; i++) {
		if (role[i] != "RQ" && role[i] != "RS") bad("filled", tag ": no role \"" role[i] "\"")
		peer[role[i] " " tag] = 1
		if (has_scenarios && !((role[i] " " tag) in scenario))
			bad("scenarios", tag ": no scenario for the " role[i])
	}
	if (n < 2) bad("filled", tag ": peer without a role")
}
function check_shown(cell,    n, i, part) {
	if (cell ~ /^not seen: ./) return
	n = split(cell, part, /, /)
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^peer/) check_roles(part[i])
		else if (part[i] ~ /:/ && !(part[i] in known_case)) bad("tests", tag ": no test " part[i])
		else if (part[i] !~ /:/ && !(part[i] in script)) bad("tests", tag ": no script " part[i])
	}
}

BEGIN {
	split("draft-03,configuration protocol,reverse timeout", list, ",")
	for (i in list) unbuilt[list[i]] = 1
}
FNR == NR {
	split($0, word, " ")
	if (word[1] == "function") known_function[word[2]] = 1
	else if (word[1] == "case") known_case[word[2]] = 1
	else if (word[1] == "script") script[word[2]] = 1
	else if (word[1] == "scenarios") has_scenarios = 1
	else if (word[1] == "linux") linux[word[2]] = 1
	else if (word[1] == "scenario") scenario[word[2] " " word[3]] = 1
	else used[word[3]] = used[word[3]] " " word[2]
	next
}
/^## / { about_linux = /Linux/ }
about_linux && /^\| / {
	n = split(trim($3), part, /, /)
	for (i = 1; i <= n; i++) told[part[i]] = 1
}
/^\| *([A-EI][0-9]|A-|X-)/ {
	tag = trim($2)
	if (tag in row) bad("filled", tag ": has a row already")
	row[tag] = 1
	rows++
	for (i = 2; i <= 6; i++) $i = trim($i)
	if (NF != 7 || $3 == "" || $4 == "" || $5 == "" || $6 == "") {
		bad("filled", tag ": not five columns, each with something in it")
		next
	}
	if ($3 !~ /^(RQ|RS|CL|SV|BOTH|PX)[,:] ./) bad("filled", tag ": does not say of whom it is demanded")
	check_sections($4)
	check_where($5, $6)
	check_shown($6)
}
END {
	if (rows < 200) print "filled\tonly " rows + 0 " rows"
	for (tag in used) if (!(tag in row)) print "tags\t" tag ": stands in" used[tag] ", and has no row"
	for (tag in linux) if (!(tag in told)) print "linux\t" tag ": Linux differs in the laboratory, and the table does not say how"
	for (key in scenario) if (!(key in peer)) {
		split(key, word, " ")
		print "scenarios\t" word[2] ": has a scenario for the " word[1] ", its row does not say so"
	}
}' "$work/known" "$table" >"$work/bad"

# rule NAME WHAT
rule() { same "$2" "" "$(sed -n "s/^$1	//p" "$work/bad" | sort)"; }

rule filled "each statement says who, which section, where, and what shows it"
rule places "each function that the table names is there"
rule tests "each test that the table names is there"
rule tags "each tag has a row"
rule linux "where Linux differs the table says how"
rule scenarios "scenarios and their statements name each other"
tap_end

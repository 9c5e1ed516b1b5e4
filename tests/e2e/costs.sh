#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The cost of RPCs and messages is at most a tenth above the recorded cost: see tests/bench/costs.sh.
. "$(dirname "$0")/lib.sh"
enter "$@"
not_sanitized
command -v valgrind >/dev/null || skip_all "valgrind is not installed"

RECORD=$E2E_SRC/../bench/recorded.txt
costs() { "$E2E_SRC/../bench/costs.sh" -b "$E2E_BUILD" "$@"; }

# fails_for ROW COLUMN: the comparison fails if the record of that value is a fifth lower
fails_for() {
	awk -v row="$1" -v column="$2" '$1 == row { $column *= 0.8 } 1' "$RECORD" >"$T/record"
	costs -f "$T/record" -r "$1" >"$T/told"
	[ $? = 1 ] && grep -q ": more than a tenth above the record" "$T/told"
}

# falls_for ROW COLUMN: the comparison fails if the record has a value and the result is zero
falls_for() {
	awk -v row="$1" -v column="$2" '$1 == row { $column = 3 } 1' "$RECORD" >"$T/record"
	costs -f "$T/record" -r "$1" >"$T/told"
	[ $? = 1 ] && grep -q ": not counted any more" "$T/told"
}

# counts FUNCTION COLUMNS: the columns for an output of callgrind in which our code calls FUNCTION, which calls itself
counts() {
	printf '%s\n' "fl=(1) /src/lib/one.c" "fn=(1) caller" "3 10" "cfn=(2) $1" "calls=1 3" "4 5" "fn=(2)" "5 7" \
		"cfn=(3) $1'2" "calls=1 3" "6 7" >"$T/part"
	echo "row 1" >"$T/rows"
	[ "$(awk -f "$E2E_SRC/../bench/costs.awk" "$T/rows" "$T/part")" = "row 17.000 $2" ]
}

check "a call is counted" counts op_readv "2.000 0.000 0.000 0.000 0.000 0.000 -"
check "so is one of a function that the compiler has copied" counts sim_post.isra.0 "0.000 0.000 0.000 2.000 0.000 0.000 -"
check "or cut in two" counts op_writev.part.3.cold "0.000 2.000 0.000 0.000 0.000 0.000 -"
check "nothing costs a tenth more than was recorded" costs
# shown on success and on failure
note "$(sed -n '/^$/,$p' "$T/check.out")"
check "calls on a stream that are more than a tenth more are found" fails_for chain/read-64k/x1 3
check "bytes copied that are more are found" fails_for iwarp/write-64k/x1 9
check "what is not counted any more is found" falls_for tcp/getattr/x1 5
finish

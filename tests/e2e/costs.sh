#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What RPCs and messages cost is no more than was recorded, and a tenth: see tests/bench/costs.sh.
. "$(dirname "$0")/lib.sh"
enter "$@"
not_sanitized
command -v valgrind >/dev/null || skip_all "valgrind is not installed"

RECORD=$E2E_SRC/../bench/recorded.txt
costs() { "$E2E_SRC/../bench/costs.sh" -b "$E2E_BUILD" "$@"; }

# fails_for ROW COLUMN: so it does where the record has a fifth less there
fails_for() {
	awk -v row="$1" -v column="$2" '$1 == row { $column *= 0.8 } 1' "$RECORD" >"$T/record"
	costs -f "$T/record" -r "$1" >"$T/told"
	[ $? = 1 ] && grep -q ": more than a tenth above the record" "$T/told"
}

check "nothing costs a tenth more than was recorded" costs
# shown whether it fails or not
note "$(sed -n '/^$/,$p' "$T/check.out")"
check "calls on a stream that are more than a tenth more are found" fails_for chain/read-64k/x1 3
check "bytes copied that are more are found" fails_for iwarp/write-64k/x1 9
finish

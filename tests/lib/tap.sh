# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Functions for scripts of make check, which report in TAP. Scripts of tests/e2e use tests/e2e/lib.sh.
#
#	: "${srcdir:=.}"
#	. "$srcdir/tests/lib/tap.sh"
#	same "what must be so" "$expected" "$found"
#	check "what must hold" command...
#	tap_end

declare -i tap_cases=0

ok() { tap_cases+=1; echo "ok $tap_cases - $1"; }
not_ok() { tap_cases+=1; echo "not ok $tap_cases - $1"; }
tap_end() { echo "1..$tap_cases"; }

# same WHAT EXPECTED FOUND: a case: FOUND is EXPECTED
same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1"
		diff <(echo "$2") <(echo "$3") | sed 's/^/# /'
	fi
}

# check WHAT COMMAND...: a case: runs the command in a subshell, and prints its output if it fails
check() {
	local what=$1 said

	shift
	if said=$("$@" 2>&1); then
		ok "$what"
	else
		not_ok "$what"
		tail -n 20 <<<"$said" | sed 's/^/# /'
	fi
}

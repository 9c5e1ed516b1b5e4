#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the tables of mutants: each mutant applies, each statement with a test has one, and errors of a table are
# reported.
set -u

: "${srcdir:=$(dirname "$0")/../..}"
. "$srcdir/tests/lib/tap.sh"
tools=$(cd "$srcdir/tests/mutants" && pwd)

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

cat >"$work/code.c" <<-'END'
	int first(int a)
	{
		int b = a + 1;

		return b < a ? a : b;
	}

	int second(int a)
	{
		first(a);
		return a + 1;
	}
END

# applied: prints code.c with the mutants of standard input, or their errors
applied() {
	cat >"$work/t.txt"
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$tools python3 - "$work" <<-'END'
		import pathlib, sys
		import table
		work = pathlib.Path(sys.argv[1])
		try:
		    print(table.apply((work / 'code.c').read_text(), table.read([work / 't.txt'], work)), end='')
		except table.Wrong as error:
		    print(error)
	END
}

# compiled MUTANT: prints the results of second(7) and first(7)
compiled() {
	{
		cat "$work/out.c"
		echo "extern int printf(const char *, ...);"
		echo "int main(void) { printf(\"%d %d\", second(7), first(7)); return 0; }"
	} >"$work/main.c"
	${CC:-cc} -include "$tools/chosen.h" -o "$work/main" "$work/main.c" && MUTANT=$1 "$work/main"
}

applied >"$work/out.c" <<-'END'
	# Two of one place, one of them inside another place.
	A1-1 code.c:first
	- b < a
	+ 1

	A1-2 code.c:first
	- b < a ? a : b
	+ 3

	A1-1 code.c:first
	- b < a
	+ a == 7

	A1-3 A1-4 code.c:second
	- first(a);
	- return a + 1;
	+ return 5;
END
same "without a number the code is right" "8 8" "$(compiled 0)"
same "an expression is broken" "8 7" "$(compiled 1)"
same "so is one around it" "8 3" "$(compiled 2)"
same "and another one in its place" "8 7" "$(compiled 3)"
same "statements are broken" "5 8" "$(compiled 4)"

same "a missing place is reported" "t.txt:1: does not apply: its place is 0 times in code.c:first: b > a" \
	"$(applied <<<$'A1-1 code.c:first\n- b > a\n+ true')"
same "so is one that is there twice" "t.txt:1: does not apply: its place is 2 times in code.c:: a + 1" \
	"$(applied <<<$'A1-1 code.c\n- a + 1\n+ a')"
same "and a function that is gone" "t.txt:1: code.c has no function third" "$(applied <<<$'A1-1 code.c:third\n- a\n+ b')"
same "overlapping places are reported" "t.txt:1: overlaps t.txt:5" \
	"$(applied <<<$'A1-1 code.c:first\n- b < a ? a\n+ 1\n\nA1-2 code.c:first\n- a : b\n+ 2')"
same "an invalid mutant is reported" "t.txt:1: not TAG... FILE:FUNCTION, lines with - and lines with +" \
	"$(applied <<<$'A1-1 code.c:first\n+ 2')"

"$tools/mutants" --check >"$work/said"
same "all mutants apply, and each statement that something shows has one" 0 $?
grep '^not ok' "$work/said" | sed 's/^/# /'
tap_end

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that tests/e2e/run.sh rejects wrong arguments before it runs anything, and selects tests by kind and dialect.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
TIME_LIMIT=$builddir/tests/lib/time_limit
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Tests that print their names, next to a copy of the script.
mkdir "$work/e2e" "$work/lib" "$work/build" "$work/build/tests" "$work/build/tests/lib"
cp "$srcdir/tests/e2e/run.sh" "$work/e2e"
cp "$srcdir/tests/lib/time_limit.sh" "$work/lib"
[ ! -x "$TIME_LIMIT" ] || cp "$TIME_LIMIT" "$work/build/tests/lib"
printf '# A comment.\nfirst\nfirst.v2\nsecond plain\nthird both\nfirst.draft03 all\n' >"$work/e2e/TESTS"
for name in first second third; do
	echo 'echo "ok 1 - runs ${E2E_VERSION:-}${E2E_COMPAT:-}"; echo 1..1' >"$work/e2e/$name.sh"
done
echo 'echo 1..0' >"$work/e2e/unlisted.sh"

run() { bash "$work/e2e/run.sh" -b "$work/build" "$@" 2>"$work/error"; }
# names ARGUMENTS...: prints the output of -n in one line
names() { run -n "$@" | xargs; }
# refused PATTERN ARGUMENTS...: status 2, one line with the reason, and nothing has run
refused() {
	local pattern=$1 status

	shift
	run "$@" >"$work/out"
	status=$?
	cat "$work/error" "$work/out"
	[ $status = 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l <"$work/error")" = 1 ] && grep -qE -- "$pattern" "$work/error"
}

for jobs in x 0 -1 ''; do
	check "-j $jobs is refused" refused "^run.sh: -j $jobs: it must be a positive number" -j "$jobs" first
done
for limit in x 0 0.0 -1 1x; do
	check "-t $limit is refused" refused "^run.sh: -t $limit: it must be a positive number" -t "$limit" first
done
check "another kind is refused" refused '^run.sh: -k fast: it must be plain or sanitized$' -k fast
check "both is no kind of a build" refused '^run.sh: -k both:' -k both
check "another dialect is refused" refused '^run.sh: -d v1: it must be v2 or draft03$' -d v1
check "a directory that is not there is refused" refused '^run.sh: -b .*/nowhere: there is no such directory$' -b "$work/nowhere" first
check "a wrong option is refused" refused 'option -- z$' -z
check "an option without its value is refused" refused 'argument -- j$' -j
check "a test without a script is refused" refused '^run.sh: there is no test nothing$' first nothing
check "a test that is not listed is refused" refused '^run.sh: there is no test unlisted$' unlisted
check "a path is refused" refused '^run.sh: there is no test ../e2e/first$' ../e2e/first
check "an empty name is refused" refused '^run.sh: there is no test $' ''
check "a name with another dialect is refused" refused '^run.sh: first.v3: behind the dot stands v2 or draft03$' first.v3
check "a name with a dialect is refused with -d" refused '^run.sh: first.v2 has its dialect already' -d draft03 first.v2
check "-n refuses, too" refused '^run.sh: there is no test nothing$' -n -k plain nothing

same "all are those of the list" "first first.v2 second third first.draft03" "$(names)"
same "those of a plain build" "second third" "$(names -k plain)"
same "those of one with sanitizers" "first first.v2 third" "$(names -k sanitized)"
same "each once in a dialect" "first.v2 second.v2 third.v2" "$(names -d v2)"
same "the kind applies to names" "third second" "$(names -k plain third first second)"
same "… also in a dialect that is not listed" "second.draft03" "$(names -k plain first.draft03 second.draft03)"
same "the dialect applies to names" "first.draft03 third.draft03" "$(names -d draft03 first third)"
same "none may be of the kind" "" "$(names -k plain first)"
run -n -k plain first
same "… which is no failure of -n" 0 $?

same "they run" $'ok 1 - first: runs \nok 2 - third.v2: runs 2\n1..2' "$(run first third.v2 | grep -v '^#')"
run first >/dev/null
same "… with success" 0 $?
same "none runs" 1..0 "$(run -k plain first)"
run -k plain first >/dev/null
same "… which is a failure" 1 $?

echo 'first sometimes' >>"$work/e2e/TESTS"
check "another kind in the list is refused, with its line" refused '^run.sh: TESTS:7: first sometimes: ' second
sed -i '$s/.*/third both plain/' "$work/e2e/TESTS"
check "so is a third column" refused '^run.sh: TESTS:7: third both plain: ' second
tap_end

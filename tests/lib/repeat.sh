# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Repeated runs of tests, whose results add up over several calls: ./dev test --repeat N [--load] NAME...
#
# ./dev sources this behind tests/lib/stages.sh.

# A line for each test and round: KIND, NAME, load or idle, ok or failed, with tabs between.
repeats_file() { echo "$build/dev-test.repeats"; }

# repeat_find NAME: sorts it into unit, e2e or lab
repeat_find() {
	local file

	case $1 in
	unit | e2e | lab) groups+=("$1"); return ;;
	esac
	for file in "$top"/tests/{unit,nfs,sim,fuzz}/"${1##*/}".c; do
		[ -e "$file" ] || continue
		file=${file%.c}
		unit+=("${file#"$top/"}")
		return
	done
	for file in "$top"/tests/{unit,nfs,docs,judge}/"${1%.sh}".sh; do
		[ -e "$file" ] || continue
		scripts+=("${file#"$top/"}")
		return
	done
	if grep -qE "^$1( |\$)" "$top/tests/e2e/TESTS" || [ -e "$top/tests/e2e/${1%%.*}.sh" ]; then
		e2e+=("$1")
	elif [ "${1#lab:}" != "$1" ] && [ -e "$top/tests/lab/guest/${1#lab:}.sh" ]; then
		lab+=("${1#lab:}")
	else
		die "there is no test $1: unit, e2e, lab, lab:BOOT, a program of make check, or a name of tests/e2e/TESTS"
	fi
}

# e2e_of_kind KIND NAME...: those of the names that run in such a build
e2e_of_kind() {
	local kind=$1

	shift
	printf '%s\n' "$@" | awk -v kind="$kind" '
		NR == FNR { place[$1] = $2 ? $2 : "sanitized"; next }
		!($1 in place) { place[$1] = "sanitized" }
		place[$1] == "both" || place[$1] == kind' "$top/tests/e2e/TESTS" -
}

repeat_build() {
	stage "build" build_plain || die "the build failed"
	if [ ${#unit[@]} != 0 ] || [ ${#sanitized[@]} != 0 ] || is_group unit || is_group e2e; then
		stage "build with ASan and UBSan" build_asan || die "the build failed"
		stage "build of the test programs with ASan and UBSan" programs "$top/build-asan" check-programs e2e-programs
	fi
	stage "build of the test programs" programs "$build" script-programs lab-programs e2e-programs
}

is_group() { [[ " ${groups[*]} " == *" $1 "* ]]; }

# note_unit ROUND DIR: how each program and script of make check ended
note_unit() {
	find "$2" -name '*.trs' -exec awk -v load="$load" '
		FNR == 1 { name = FILENAME; sub(/.*\/tests\//, "", name); sub(/\.trs$/, "", name); verdict[name] = "ok" }
		/^:test-result: (FAIL|XPASS|ERROR)/ { verdict[name] = "failed" }
		END { for (name in verdict) print "unit\t" name "\t" load "\t" verdict[name] }' {} + >>"$(repeats_file)"
}

# note_tap KIND STAGE: the same of end-to-end tests and of guests, by the first word of each case's name
note_tap() {
	sed -nE "s/^(not ok|ok) - $2: ([^ :]+).*/\1\t\2/p" "$tap_file" | awk -F '\t' -v kind="$1" -v load="$load" '
		!($2 in verdict) { verdict[$2] = "ok" }
		$1 == "not ok" { verdict[$2] = "failed" }
		END { for (name in verdict) print kind "\t" name "\t" load "\t" verdict[name] }' >>"$(repeats_file)"
}

# note_lab BOOT STAGE
note_lab() {
	local verdict=ok

	! grep -q "^not ok - $2: " "$tap_file" || verdict=failed
	printf 'lab\t%s\t%s\t%s\n' "$1" "$load" $verdict >>"$(repeats_file)"
}

# one_round NUMBER: all that was named, once
one_round() {
	local boot name="round $1"

	if is_group unit; then
		check_stage "$name: unit tests and simulations" "$top/build-asan" 'TEST_LOGS=$(PROGRAM_LOGS)'
		note_unit "$1" "$top/build-asan"
	elif [ ${#unit[@]} != 0 ]; then
		check_stage "$name: unit tests and simulations" "$top/build-asan" "TESTS=${unit[*]}"
		note_unit "$1" "$top/build-asan"
	fi
	if [ ${#scripts[@]} != 0 ]; then
		check_stage "$name: scripts" "$build" "TESTS=${scripts[*]}" 'check_PROGRAMS=$(programs_of_scripts)'
		note_unit "$1" "$build"
	fi
	if [ ${#sanitized[@]} != 0 ]; then
		tap_stage "$name: end to end" env E2E_SANITIZED=1 "$top/tests/e2e/run.sh" -b "$top/build-asan" -j $((2 * jobs)) "${sanitized[@]}"
		note_tap e2e "$name: end to end"
	fi
	if [ ${#plain[@]} != 0 ]; then
		tap_stage "$name: end to end without sanitizers" e2e_run "$build" "${plain[@]}"
		note_tap e2e "$name: end to end without sanitizers"
	fi
	for boot in "${lab[@]}"; do
		tap_stage "$name: laboratory $boot" "$top/tests/lab/run.sh" --build "$build" "$boot"
		note_lab "$boot" "$name: laboratory $boot"
	done
}

# repeats_table: of each test that failed how often, and how many runs each test has at least
repeats_table() {
	awk -F '\t' '
		{ test = $1 " " $2; runs[test, $3]++; total[test]++; kinds[$1]; tests[test] = $1 }
		$4 == "failed" { failed[test]++ }
		END {
			for (test in failed)
				printf "   %s: failed %d of %d times\n", test, failed[test], total[test]
			for (kind in kinds) {
				least = -1
				n = 0
				for (test in tests) {
					if (tests[test] != kind) continue
					n++
					if (least < 0 || runs[test, "load"] < least) least = runs[test, "load"] + 0
				}
				printf "   %s: %d tests, each %d times under load at least\n", kind, n, least
			}
		}' "$(repeats_file)" | LC_ALL=C sort
}

# command_repeat TIMES LOAD NAME...: LOAD is idle, or load: then each processor has a busy loop beside the tests
command_repeat() {
	local times=$1 load=$2 name i
	local groups=() unit=() scripts=() e2e=() lab=() sanitized=() plain=()

	shift 2
	[ $# != 0 ] || set -- unit e2e
	for name; do repeat_find "$name"; done
	is_group e2e && mapfile -t e2e < <(awk '!/^#/ { print $1 }' "$top/tests/e2e/TESTS")
	is_group lab && lab=(iwarp verbs conformance systemd)
	if [ ${#e2e[@]} != 0 ]; then
		mapfile -t sanitized < <(e2e_of_kind sanitized "${e2e[@]}")
		mapfile -t plain < <(e2e_of_kind plain "${e2e[@]}")
	fi
	install_lab
	stages_begin
	sanitizer_env
	repeat_build
	if [ "$load" = load ]; then
		for ((i = 0; i < jobs; i++)); do
			start busy_loop
			beside+=" $!"
		done
	fi
	for ((i = 1; i <= times; i++)); do one_round $i; done
	say "all rounds of $(repeats_file), in which those of earlier calls stand too"
	repeats_table
	stages_end
}

busy_loop() { while :; do :; done; }

# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Repeats tests and adds up their results over several calls: ./dev test --repeat N [--load] NAME...
#
# ./dev sources this file after tests/lib/stages.sh.

# A line for each test and round: KIND, NAME, load or idle, ok, failed or skipped, separated by tabs.
repeats_file() { echo "$build/dev-test.repeats"; }

# The tests that command_repeat runs: programs and scripts of make check, end-to-end tests by their kind, guests.
programs=() scripts=() sanitized=() plain=() guests=()
all_guests=(iwarp verbs conformance systemd)

# check_tests: prints the tests of make check, from the makefile
check_tests() { make -s -C "$build" list-tests | grep '^tests/'; }

# repeat_find NAME: adds it to one of the lists above; NAME can have a path or a suffix
repeat_find() {
	local name=$1 file found

	case $name in
	unit) mapfile -t programs < <(check_tests | grep -v '\.sh$'); return ;;
	scripts) mapfile -t scripts < <(check_tests | grep '\.sh$'); return ;;
	sim | fuzz | nfs)
		mapfile -t found < <(check_tests | grep "^tests/$name/" | grep -v '\.sh$')
		programs+=("${found[@]}")
		return
		;;
	e2e)
		mapfile -t sanitized < <(e2e_names sanitized)
		mapfile -t plain < <(e2e_names plain)
		return
		;;
	lab) guests=("${all_guests[@]}"); return ;;
	lab:*)
		for found in "${all_guests[@]}" direct krb5 writeback community hardware; do
			[ "$found" != "${name#lab:}" ] || { guests+=("$found"); return; }
		done
		;;
	*)
		name=${name##*/}
		name=${name%.c}
		for file in $(check_tests); do
			case ${file##*/} in
			"${name%.sh}.sh") scripts+=("$file"); return ;;
			"$name") programs+=("$file"); return ;;
			esac
		done
		if grep -qxF "${name%.sh}" < <(awk '!/^#/ { print $1; sub(/\..*/, "", $1); print $1 ".v2"; print $1 ".draft03" }' \
			"$top/tests/e2e/TESTS"); then
			sanitized+=($(e2e_names sanitized "${name%.sh}"))
			plain+=($(e2e_names plain "${name%.sh}"))
			return
		fi
		;;
	esac
	die "there is no test $1: unit, sim, fuzz, nfs, scripts, e2e, lab, lab:GUEST, a test of make check, or a name of tests/e2e/TESTS"
}

# e2e_names KIND [NAME...]: prints the tests that run in such a build, of NAMEs or of all
e2e_names() { "$top/tests/e2e/run.sh" -n -k "$@"; }

repeat_install() {
	if [ ${#guests[@]} != 0 ]; then install_lab; else install_test; fi
	[[ " ${guests[*]} " != *" systemd "* ]] || install_packages "${package_packages[@]}"
}

# repeat_build: builds what the named tests need
repeat_build() {
	local sanitized_targets=() plain_targets=()

	[ ${#programs[@]} = 0 ] || sanitized_targets+=("${programs[*]} tests/lib/time_limit")
	[ ${#scripts[@]} = 0 ] || plain_targets+=(script-programs)
	[ ${#sanitized[@]} = 0 ] || sanitized_targets+=("tests/lib/time_limit tests/judge/judge bench-programs")
	[ ${#sanitized[@]}${#plain[@]} = 00 ] || plain_targets+=(e2e-programs)
	[ ${#guests[@]} = 0 ] || plain_targets+=(lab-programs)
	if [ ${#sanitized_targets[@]} != 0 ]; then
		stage "build with ASan and UBSan" build_asan || die "the build failed"
		stage "build of the test programs with ASan and UBSan" programs "$top/build-asan" "${sanitized_targets[@]}"
	fi
	if [ ${#plain_targets[@]} != 0 ]; then
		stage "build" build_plain || die "the build failed"
		stage "build of the test programs" programs "$build" "${plain_targets[@]}"
	fi
	[[ " ${guests[*]} " != *" systemd "* ]] || tap_stage "package" "$top/tests/package/deb.sh" "$build"
}

# note KIND NAME VERDICT: adds a line
note() { printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$load" "$3" >>"$(repeats_file)"; }

# note_check DIR TEST...: notes the results of tests of make check; a test without a result has failed
note_check() {
	local dir=$1 test result

	shift
	for test; do
		result=$dir/${test%.sh}.trs
		if [ ! -s "$result" ] || grep -qE '^:test-result: (FAIL|XPASS|ERROR)' "$result"; then
			note check "${test#tests/}" failed
		elif grep -qE '^:test-result: (PASS|XFAIL)' "$result"; then
			note check "${test#tests/}" ok
		else
			note check "${test#tests/}" skipped
		fi
	done
}

# note_e2e STAGE TEST...: notes the results of end-to-end tests, from their cases in the stage
note_e2e() {
	local stage=$1 test

	shift
	for test; do
		if grep -qE "^not ok - $stage: ${test//./\\.}: " "$tap_file" || ! grep -qE "^ok - $stage: ${test//./\\.}( |: )" "$tap_file"; then
			note e2e "$test" failed
		elif grep -E "^ok - $stage: ${test//./\\.}( |: )" "$tap_file" | grep -qvE '# *SKIP'; then
			note e2e "$test" ok
		else
			note e2e "$test" skipped
		fi
	done
}

# note_guest STAGE GUEST: notes the result of a guest
note_guest() {
	if grep -q "^not ok - $1: " "$tap_file"; then
		note lab "$2" failed
	elif grep "^ok - $1: " "$tap_file" | grep -qvE '# *SKIP'; then
		note lab "$2" ok
	else
		note lab "$2" skipped
	fi
}

# keep_logs NUMBER GUEST: copies the logs of a guest with a failed row, because its next boot removes them
keep_logs() {
	grep -q "^not ok - round $1: laboratory $2: " "$tap_file" || return 0
	mkdir -p "$build/lab/failed"
	cp -r "$build/lab/logs" "$build/lab/failed/$2-$(date +%s)"
	say "the logs are kept in $build/lab/failed"
}

# one_round NUMBER: runs everything that was named once
one_round() {
	local guest name="round $1"

	if [ ${#programs[@]} != 0 ]; then
		check_stage "$name: tests of make check" "$top/build-asan" "TESTS=${programs[*]}" "check_PROGRAMS=${programs[*]}"
		note_check "$top/build-asan" "${programs[@]}"
	fi
	if [ ${#scripts[@]} != 0 ]; then
		check_stage "$name: scripts" "$build" "TESTS=${scripts[*]}" 'check_PROGRAMS=$(programs_of_scripts)'
		note_check "$build" "${scripts[@]}"
	fi
	if [ ${#sanitized[@]} != 0 ]; then
		tap_stage "$name: end to end" with_plain_programs 2.3 e2e_sanitized "${sanitized[@]}"
		note_e2e "$name: end to end" "${sanitized[@]}"
	fi
	if [ ${#plain[@]} != 0 ]; then
		tap_stage "$name: end to end without sanitizers" e2e_run "$build" "${plain[@]}"
		note_e2e "$name: end to end without sanitizers" "${plain[@]}"
	fi
	for guest in "${guests[@]}"; do
		tap_stage "$name: laboratory $guest" "$top/tests/lab/run.sh" --build "$build" "$guest"
		note_guest "$name: laboratory $guest" "$guest"
		keep_logs "$1" "$guest"
	done
}

# repeats_table: prints each failed test, its number of failures, and the least number of runs that were not skipped
repeats_table() {
	awk -F '\t' '
		{ test = $1 " " $2; total[test]++; kind_of[test] = $1; kinds[$1] }
		$4 != "skipped" { runs[test, $3]++ }
		$4 == "failed" { failed[test]++ }
		function least(kind, load,    test, found) {
			found = -1
			for (test in kind_of)
				if (kind_of[test] == kind && (found < 0 || runs[test, load] + 0 < found)) found = runs[test, load] + 0
			return found
		}
		END {
			for (test in failed)
				printf "   %s: failed %d of %d times\n", test, failed[test], total[test]
			for (kind in kinds) {
				n = 0
				for (test in kind_of) n += kind_of[test] == kind
				printf "   %s: %d tests; fewest runs: %d idle, %d under load\n", kind, n, least(kind, "idle"), least(kind, "load")
			}
		}' "$(repeats_file)" | LC_ALL=C sort
}

# command_repeat TIMES LOAD NAME...: LOAD is idle, or load: then each processor also runs a busy loop
command_repeat() {
	local times=$1 load=$2 name i

	shift 2
	install_test
	stages_begin dev-test-named
	sanitizer_env
	run configured "$build" --enable-tests || die "configure failed"
	[ $# != 0 ] || set -- unit scripts e2e
	for name; do repeat_find "$name"; done
	repeat_install
	repeat_build
	if [ "$load" = load ]; then
		for ((i = 0; i < jobs; i++)); do
			start busy_loop
			beside+=" $!"
		done
	fi
	for ((i = 1; i <= times; i++)); do one_round $i; done
	say "totals of $(repeats_file), earlier calls included; remove it to begin again"
	repeats_table
	stages_end
}

busy_loop() { while :; do :; done; }

# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the stages of ./dev test. Each stage runs to its end even if an earlier one failed. The functions add up its
# test cases and record its time.
#
# ./dev sources this file. It sets build and jobs; its functions start and run execute commands in separate process
# groups.

# Cases of all stages, in TAP without numbers; the times of stages and of programs, one per line, separated by tabs:
#	stage NAME SECONDS CPU_SECONDS CASES
#	program NAME SECONDS
# The times of the last complete run stay in another file, for comparison.
tap_file=
times_file=
stages_lock=

# The stages that run in parallel with the others, by name: the process group and its start. stop_children ends their groups.
# When such a stage has ended, a file in $build has its seconds and its processor seconds (beside_took).
declare -A beside_group=()
beside_cpu=0 # processor seconds of those that stage_end has waited for

# stages_begin [NAME]: begins a run with the files NAME.* in the build directory (dev-test). Refuses a second run in the
# same directory during the first one.
stages_begin() {
	local name=${1:-dev-test}

	mkdir -p "$build"
	exec {stages_lock}>"$build/dev-test.lock"
	flock -n "$stages_lock" || die "another ./dev test runs in $build"
	tap_file=$build/$name.tap
	times_file=$build/$name.times
	: >"$tap_file"
	: >"$times_file"
	stages_begun=$SECONDS
}

# tap_sum FILE: "N passed, N failed, N skipped"; fails if anything failed or nothing ran
tap_sum() {
	awk '/^ok .*# *SKIP/ { skipped++; next } /^ok/ { passed++ } /^not ok/ { failed++ }
	     END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		   exit failed > 0 || passed == 0 }' "$1"
}

# children_cpu_s FILE: prints the processor time of all ended children, in seconds. FILE has the output of times,
# because a subshell has other children
children_cpu_s() { awk 'NR == 2 { gsub(/[ms]/, " "); printf "%.0f", $1 * 60 + $2 + $3 * 60 + $4 }' "$1"; }

# beside_took NAME: sets seconds and cpu to the times of the stage
beside_took() { [ -s "$build/beside.$1.took" ] && read -r seconds cpu <"$build/beside.$1.took"; }

# cpu_s: sets cpu_s to the processor time of all ended children, except parallel stages, in seconds
cpu_s() {
	local name seconds cpu

	times >"$build/cpu"
	cpu_s=$(($(children_cpu_s "$build/cpu") - beside_cpu))
	for name in "${!beside_group[@]}"; do
		kill -0 "${beside_group[$name]}" 2>/dev/null || ! beside_took "$name" || cpu_s=$((cpu_s - cpu))
	done
}

# cases NAME: prints the number of cases of the stage
cases() { grep -cE "^(not )?ok - $1(: |\$)" "$tap_file"; }

stage_from() {
	stage_name=$1
	stage_begun=$SECONDS
	cpu_s
	stage_cpu=$cpu_s
	say "$1"
}

# stage_took NAME STATUS SECONDS CPU_SECONDS: records the times of the stage. If a signal ended the stage, the run ends
# too.
stage_took() {
	printf 'stage\t%s\t%s\t%s\t%s\n' "$1" "$3" "$4" "$(cases "$1")" >>"$times_file"
	say "$1 took $3 s"
	case $2 in
	129 | 130 | 143)
		say "$1 was ended by a signal"
		exit "$2"
		;;
	esac
}

# stage_over STATUS: ends the stage that stage_from began
stage_over() {
	cpu_s
	stage_took "$stage_name" "$1" $((SECONDS - stage_begun)) $((cpu_s - stage_cpu))
}

# stage NAME COMMAND...: runs a stage that is one case
stage() {
	local status

	stage_from "$1"
	run "${@:2}"
	status=$?
	if [ $status = 0 ]; then
		echo "ok - $1" >>"$tap_file"
	else
		echo "not ok - $1" | tee -a "$tap_file"
	fi
	stage_over $status
	return $status
}

tee_to() { local out=$1; shift; set -o pipefail; "$@" 2>&1 | tee "$out"; }

# tap_noted NAME OUT STATUS: records the TAP of a stage. Adds a failure if it failed without a failed case. End-to-end
# tests and rows of the laboratory have their times in the TAP.
tap_noted() {
	sed -E "s/^(not ok|ok)( [0-9]+)?( -)?/\1 - $1:/" <(grep -E '^(not )?ok' "$2") >>"$tap_file"
	sed -nE "s/^# ([^ ]+) took ([0-9]+) s\$/program\t$1: \1\t\2/p; s/^ok [0-9]+ - (.*) # ([0-9]+) s\$/program\t$1: \1\t\2/p" \
		"$2" >>"$times_file"
	if [ "$3" != 0 ] && ! grep -q '^not ok' "$2"; then
		echo "not ok - $1: status $3" | tee -a "$tap_file"
	elif [ "$(cases "$1")" = 0 ]; then
		echo "not ok - $1: no case ran" | tee -a "$tap_file"
	fi
}

# tap_stage NAME COMMAND...: runs a stage that prints TAP
tap_stage() {
	local out=$build/stage.tap status

	stage_from "$1"
	run tee_to "$out" "${@:2}"
	status=$?
	tap_noted "$1" "$out" $status
	stage_over $status
}

# beside_run NAME COMMAND...: runs it to its end
beside_run() {
	local begun=$SECONDS status

	"${@:2}"
	status=$?
	times >"$build/beside.$1.cpu"
	echo "$((SECONDS - begun)) $(children_cpu_s "$build/beside.$1.cpu")" >"$build/beside.$1.took"
	return $status
}

# stage_beside NAME COMMAND...: starts a stage that prints TAP, in parallel with the others until stage_end NAME
stage_beside() {
	say "$1 begins, beside the others"
	rm -f "$build/beside.$1.took"
	start beside_run "$@" >"$build/beside.$1.tap" 2>&1
	beside_group[$1]=$!
	beside+=" $!"
}

# stage_end NAME: waits for a stage that stage_beside started
stage_end() {
	local status seconds=0 cpu=0

	say "$1"
	wait "${beside_group[$1]}"
	status=$?
	beside=${beside/ ${beside_group[$1]}/}
	unset "beside_group[$1]"
	! beside_took "$1" || beside_cpu=$((beside_cpu + cpu))
	cat "$build/beside.$1.tap"
	tap_noted "$1" "$build/beside.$1.tap" $status
	stage_took "$1" $status "$seconds" "$cpu"
}

# make_check DIR MAKE_ARGS...: runs make check without a line for each case that passes. Many cases wait more than they
# compute.
make_check() {
	local dir=$1

	shift
	set -o pipefail
	make -C "$dir" -s -j$((2 * jobs)) check "$@" 2>&1 | sed -E '/^PASS: |^  (CC|CCLD|AR|GEN) /d'
}

# tap_of_check NAME DIR: records the cases of `make check` there
tap_of_check() {
	find "$2" -name '*.trs' -exec awk -v name="$1" '
		/^:test-result: (PASS|XFAIL)/ { print "ok - " name ": " FILENAME }
		/^:test-result: SKIP/ { print "ok - " name ": " FILENAME " # SKIP" }
		/^:test-result: (FAIL|XPASS|ERROR)/ { print "not ok - " name ": " FILENAME }' {} +
}

# check_stage NAME DIR MAKE_ARGS...: runs `make check` of a build directory
check_stage() {
	local name=$1 dir=$2 status

	find "$dir" -name '*.trs' -delete
	rm -f "$dir/tests/times"
	stage_from "$name"
	run make_check "$dir" "${@:3}"
	status=$?
	tap_of_check "$name" "$dir" >>"$tap_file"
	[ ! -e "$dir/tests/times" ] || sed "s/^/program\t$name: /" "$dir/tests/times" >>"$times_file"
	if [ $status != 0 ]; then
		tap_of_check "$name" "$dir" | grep -q '^not ok' || echo "not ok - $name" | tee -a "$tap_file"
		find "$dir" -name '*.log' -path '*tests*' -exec grep -H '^not ok' {} +
	elif [ "$(cases "$name")" = 0 ]; then
		echo "not ok - $name: no case ran" | tee -a "$tap_file"
	fi
	stage_over $status
}

# times_table: prints the times of this run, and of the last one
times_table() {
	local before=/dev/null

	[ ! -s "$times_file.before" ] || before=$times_file.before
	awk -F '\t' -v OFS='\t' '
	function was(kind, name) { return (kind, name) in before ? before[kind, name] : "-" }
	FILENAME == ARGV[1] { before[$1, $2] = $3; next }
	$1 == "stage" { stages[++n] = sprintf("   %6d %6s %6d %6d  %s", $3, was($1, $2), $4, $5, $2) }
	$1 == "program" { printf "%d\t   %6d %6s  %s\n", $3, $3, was($1, $2), $2 | "sort -rn | head -n 20 | cut -f 2- >&3" }
	END {
		print "== stages: seconds, seconds in the run before, processor seconds, cases"
		for (i = 1; i <= n; i++) print stages[i]
		print "== the slowest programs: seconds, seconds in the run before"
		fflush()
		close("sort -rn | head -n 20 | cut -f 2- >&3")
	}' "$before" "$times_file" 3>&1
}

# stages_end: prints the last lines of a run, and fails if a case failed. The next run is compared with this one.
stages_end() {
	times_table
	cp "$times_file" "$times_file.before"
	say "all took $((SECONDS - stages_begun)) s; $times_file has each stage and program"
	grep '^not ok' "$tap_file"
	tap_sum "$tap_file"
}

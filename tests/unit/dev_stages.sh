#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the stages of ./dev test: the sums, the files that they keep, and the end of an interrupted run.
set -u
: "${srcdir:=.}" "${builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/time_limit.sh"

# ./dev test runs this test, and has another DEV_RUN: these scripts stop only their own processes.
export DEV_RUN=stages$$

# dev_script: writes $work/script from the functions of ./dev and standard input
dev_script() { { echo ". '$srcdir/dev'; build=$work/build"; cat; } >"$work/script"; }
dev_does() { dev_script && bash "$work/script" >"$work/said" 2>&1; }
said() { grep -qE -- "$1" "$work/said" || { cat "$work/said"; false; }; }

# ---------------------------------------------------------------- sums and times

dev_does <<-'END'
	good() { true; }
	bad() { false; }
	says() { printf 'ok 1 - one: a\nnot ok 2 - one: b\nok 3 - two: c # SKIP no d\n# one took 41 s\n# two took 2 s\nok 4 - row # 7 s\n'; false; }
	stages_begin
	stage first good
	stage second bad
	tap_stage third says
	stages_end
END
same "a run with a failure fails" 1 $?
same "cases of all stages add up in the last line" "3 passed, 2 failed, 1 skipped" "$(tail -n 1 "$work/said")"
check "what failed stands above it" said '^not ok - third: one: b$'
check "a stage that is no stream of cases is one itself" said '^not ok - second$'
check "stages have their times" said '^ +[0-9]+ +- +[0-9]+ +4  third$'
same "the slowest programs come first" "41 7 2" "$(sed -n '/slowest/,/^== all/s/^ *\([0-9]*\) .*/\1/p' "$work/said" | xargs)"
sed -i 's/\t41$/\t99/' "$work/build/dev-test.times.before"
dev_does <<-'END'
	stages_begin
	echo "program	third: one	40" >>"$times_file"
	times_table
END
check "a later run is compared with it" said '^ +40 +99  third: one$'
dev_does <<-'END'
	stages_begin
	stages_end
END
same "a run in which nothing ran fails" 1 $?

dev_does <<-'END'
	stages_begin
	tap_stage silent true
	stages_end
END
check "a stage in which no case ran has failed" said '^not ok - silent: no case ran$'
dev_does <<-'END'
	stages_begin
	(stages_begin; echo "both run")
END
check "a second run in the same directory is refused" eval "said '^dev: another ./dev test runs in' && ! grep 'both run' '$work/said'"
dev_does <<-'END'
	stages_begin
	start true
	child=$!
	wait $child
	stop_children
	echo "$SECONDS s"
END
check "where nothing is left to stop, nothing is waited for" said '^[01] s$'

dev_does <<-END
	. "$srcdir/tests/lib/time_limit.sh"
	cpu_is() { times >"\$build/own"; awk 'NR == 2 { gsub(/[ms]/, " "); exit !(\$1 * 60 + \$2 >= 2) }' "\$build/own"; }
	busy() { until cpu_is; do awk 'BEGIN { while (i++ < 1000000); }'; done; echo "ok 1 - one: a"; }
	says() { printf 'not ok 1 - two: a\nok 2 - two: b\n'; false; }
	busy_is_over() { wait_for 60 test -s "\$build/beside.busy.took"; }
	stages_begin
	stage_beside busy busy
	stage_beside other says
	stage meanwhile busy_is_over
	stage_end other
	stage_end busy
	stages_end
END
same "the cases of a parallel stage are added, too" "3 passed, 1 failed, 0 skipped" "$(tail -n 1 "$work/said")"
check "its failures are shown" said '^not ok - other: two: a$'
check "its processor time is its own" said '^ +[0-9]+ +- +[2-9] +1  busy$'
check "and not that of the stage next to it" said '^ +[0-9]+ +- +[01] +1  meanwhile$'

# ---------------------------------------------------------------- repeated runs

printf 'check\ta\tload\tok\ncheck\ta\tload\tfailed\ncheck\tb\tload\tok\ncheck\tb\tload\tskipped\ncheck\ta\tidle\tok\ne2e\tc\tload\tok\n' \
	>"$work/build/dev-test.repeats"
dev_does <<<"repeats_table"
check "failures of several runs add up" said '^   check a: failed 1 of 3 times$'
check "a skipped run counts as none" said '^   check: 2 tests; fewest runs: 0 idle, 1 under load$'
check "kinds count apart" said '^   e2e: 1 tests; fewest runs: 0 idle, 1 under load$'

# found NAME...: prints the lists of these names
found() {
	dev_does <<-END
		check_tests() { printf '%s\n' tests/unit/test_a tests/sim/test_b tests/fuzz/fuzz_c tests/unit/d.sh; }
		for name in $*; do repeat_find "\$name"; done
		echo "found \${programs[*]}/\${scripts[*]}/\${sanitized[*]}/\${plain[*]}/\${guests[*]}"
	END
	grep ^found "$work/said"
}
same "names are those of the makefile, of TESTS and of guests" \
	"found tests/unit/test_a/tests/unit/d.sh/reload/costs/verbs" "$(found test_a d reload costs lab:verbs)"
same "paths and suffixes do no harm" "found tests/sim/test_b/tests/unit/d.sh/reload//" \
	"$(found tests/sim/test_b.c tests/unit/d.sh tests/e2e/reload.sh)"
same "groups are what they are made of" "found tests/fuzz/fuzz_c/tests/unit/d.sh///iwarp verbs conformance systemd" \
	"$(found fuzz scripts lab)"
guests=$(sed -n 's/.*boots=(\(direct .*\))$/\1/p' "$srcdir/tests/lab/run.sh")
# shellcheck disable=SC2086
same "each guest of the laboratory's full tier can be named" "found ////$guests" "$(found $(printf 'lab:%s ' $guests))"
for name in no_such_test lib run hosts proxy_fixture both_ways.v9 b.th_ways lab:lib; do
	check "$name is refused" eval "found $name; said '^dev: there is no test $name:'"
done

# ---------------------------------------------------------------- interrupted runs

# A stage with processes in separate groups, one of which ignores TERM.
long_stage() {
	dev_script <<-END
		stubborn() { trap "" TERM; while :; do sleep 1000 & wait; done; }
		long() { set -m; sleep 1001 & echo \$! >>$work/pids; stubborn & echo \$! >>$work/pids; echo \$BASHPID >$work/\$1; wait; }
		stages_begin
		stage_beside beside long beside
		stage_beside another long another
		stage long long stage
		echo went on
	END
	rm -f "$work/pids" "$work/stage"
}
all_run() { [ -s "$work/stage" ] && [ "$(grep -c . "$work/pids")" = 6 ]; }
none_runs() { local pid; while read -r pid; do ! grep -qs "^State:.[^ZX]" "/proc/$pid/status" || return; done <"$work/pids"; }

# ended_by WHAT SIGNAL: WHAT is the script, or the stage's process group
ended_by() {
	local begin script status target

	long_stage
	DEV_RUN=test$$ env --default-signal bash "$work/script" >"$work/said" 2>&1 &
	script=$!
	wait_for 60 all_run || return
	target=$script
	[ "$1" = script ] || target=-$(ps -o pgid= -p "$(cat "$work/stage")" | tr -d ' ')
	begin=$SECONDS
	kill "-$2" -- "$target"
	wait $script
	status=$?
	# Five seconds: the script waits one second for processes that ignore TERM; starting programs takes the rest.
	! limit_passed $begin 5 || { echo "took $((SECONDS - begin)) s"; return 1; }
	none_runs || { echo "left behind: $(xargs ps -o pid=,args= -p <"$work/pids")"; return 1; }
	! grep "went on" "$work/said" && [ $status = "$3" ]
}
check "TERM to the script ends all that it has started" ended_by script TERM 143
check "INT, as of Ctrl-C, too" ended_by script INT 130
check "HUP to the script too" ended_by script HUP 129
check "TERM to one stage ends the run" ended_by stage TERM 143

tap_end

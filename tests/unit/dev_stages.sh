#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The stages of ./dev test: what they add up, what they keep, and how an interrupted run ends.
set -u
: "${srcdir:=.}" "${builddir:=.}"
srcdir=$(cd "$srcdir" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/time_limit.sh"

# dev_script: writes $work/script, which has the functions of ./dev and then standard input
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
check "a stage that says nothing of a case of its own is one" said '^not ok - second$'
check "stages have their times" said '^ +[0-9]+ +- +[0-9]+ +4  third$'
same "the slowest programs come first" "41 7 2" "$(sed -n '/slowest/,/^== all/s/^ *\([0-9]*\) .*/\1/p' "$work/said" | xargs)"
sed -i 's/\t41$/\t99/' "$work/build/dev-test.times"
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

# ---------------------------------------------------------------- repeated runs

printf 'unit\ta\tload\tok\nunit\ta\tload\tfailed\nunit\tb\tload\tok\nunit\ta\tidle\tok\ne2e\tc\tload\tok\n' >"$work/build/dev-test.repeats"
dev_does <<<"repeats_table"
check "failures of several runs add up" said '^   unit a: failed 1 of 3 times$'
check "the test with the fewest runs under load counts" said '^   unit: 2 tests, each 1 times under load at least$'
check "kinds count apart" said '^   e2e: 1 tests, each 1 times under load at least$'
dev_does <<<"command_repeat 1 idle no_such_test"
check "a test that is not there is refused" said '^dev: there is no test no_such_test'
dev_does <<-'END'
	command_repeat() { echo "repeats $*"; }
	command_lab() { echo "boots $*"; }
	main test test_bridge reload
	main lab verbs
END
check "./dev test takes names without an option" said '^repeats 1 idle test_bridge reload$'
check "./dev lab takes names of guests" said '^boots verbs$'

# ---------------------------------------------------------------- interrupted runs

# A stage whose processes are in groups of their own, one of which takes no notice of TERM.
long_stage() {
	dev_script <<-END
		stubborn() { trap "" TERM; while :; do sleep 1000 & wait; done; }
		long() { set -m; sleep 1001 & echo \$! >>$work/pids; stubborn & echo \$! >>$work/pids; echo \$BASHPID >$work/stage; wait; }
		stages_begin
		stage_beside long
		stage long long
		echo went on
	END
	rm -f "$work/pids" "$work/stage"
}
all_run() { [ "$(grep -c . "$work/pids")" = 4 ]; }
none_runs() { local pid; while read -r pid; do ! grep -qs "^State:.[^ZX]" "/proc/$pid/status" || return; done <"$work/pids"; }

# ended_by WHAT SIGNAL: WHAT is the script, or the stage's process group
ended_by() {
	local begin script status target

	long_stage
	DEV_RUN=test$$ env --default-signal=INT bash "$work/script" >"$work/said" 2>&1 &
	script=$!
	wait_for 60 all_run || return
	target=$script
	[ "$1" = script ] || target=-$(ps -o pgid= -p "$(cat "$work/stage")" | tr -d ' ')
	begin=$SECONDS
	kill "-$2" -- "$target"
	wait $script
	status=$?
	limit_passed $begin 5 && echo "took $((SECONDS - begin)) s"
	none_runs || { echo "left behind: $(xargs ps -o pid=,args= -p <"$work/pids")"; return 1; }
	! grep "went on" "$work/said" && [ $status = "$3" ]
}
check "TERM to the script ends all that it has started" ended_by script TERM 143
check "INT, as of Ctrl-C, too" ended_by script INT 130
check "HUP to the script too" ended_by script HUP 129
check "TERM to one stage ends the run" ended_by stage TERM 143

tap_end

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that the program time_limit kills commands that take too long, and passes on the exit status of the others.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/time_limit.sh"
export dir
dir=$(mktemp -d) || exit 1
trap 'rm -r "$dir"' EXIT

# The machine counts as fast and idle in cases where a limit must pass.
fast() { env TIME_LIMIT_WORK_S=100 TIME_LIMIT_LOAD=0 "$@"; }

# status COMMAND...: prints its exit status
status() { "$@" >/dev/null 2>&1; echo $?; }

same "the status of a command is passed on" 3 "$(status with_limit 100 sh -c 'exit 3')"
same "a signal that ended it too" 137 "$(status with_limit 100 sh -c 'kill -KILL $$')"
same "a command that is not there has the shell's status" 127 "$(status with_limit 100 nosuchcommand)"
same "bad arguments are refused" "2 2 2 2" \
	"$(for bad in "" "1" "x true" "-1 true"; do status "$TIME_LIMIT" $bad; done | xargs)"
same "a command that takes too long is ended" 124 "$(status fast "$TIME_LIMIT" 0.1 sleep 1000)"
same "one that does not end at TERM, too, though it prints" 124 \
	"$(status fast "$TIME_LIMIT" -o 0.1 sh -c 'trap "" TERM; while :; do echo; sleep 1; done')"
same "what it has started is ended too" 124 "$(status fast "$TIME_LIMIT" 0.1 sh -c 'sleep 1000; true')"
check "so that no process holds its output" [ "$(env TIME_LIMIT_WORK_S=100 "$TIME_LIMIT" 0.1 sh -c 'sleep 1000; true' | wc -c)" = 0 ]
same "output renews the limit with -o" "$(seq 10)" "$("$TIME_LIMIT" -o 1 sh -c 'for i in $(seq 10); do sleep 0.3; echo $i; done')"
same "up to ten times the limit" 124 "$(status fast "$TIME_LIMIT" -o 0.5 sh -c 'while :; do echo; sleep 0.02; done')"
same "the output is whole" "$(seq 200000 | cksum)" "$("$TIME_LIMIT" -o 100 seq 200000 | cksum)"

# slowly_read: a slow reader of the output, with a non-blocking descriptor
slowly_read() {
	{
		python3 -c 'import os; os.set_blocking(1, False)'
		"$TIME_LIMIT" -o 100 seq 200000
	} | { pause 0.5; cksum; }
}
if command -v python3 >/dev/null; then
	same "a descriptor that does not block gets all of it" "$(seq 200000 | cksum)" "$(slowly_read)"
else
	ok "a descriptor that does not block gets all of it # SKIP python3 is not installed"
fi
same "output that cannot be written ends the command" 125 \
	"$("$TIME_LIMIT" -o 1000 sh -c 'echo; exec sleep 1000' 2>/dev/null >/dev/full; echo $?)"

# runs_on PID: it exists, and is no zombie
runs_on() { grep -qs "^State:.[^ZX]" "/proc/$1/status"; }
has_ended() { ! runs_on "$1"; }

# leaves_a_member: ends at TERM, but a process that it has started does not
leaves_a_member() {
	trap "" TERM
	bash -c 'echo $$ >"$dir/member"; exec sleep 1000' &
	trap 'until [ -s "$dir/member" ]; do sleep 0.01; done; exit' TERM
	wait
}
export -f leaves_a_member
same "a command ends at TERM, and its group does not" 124 "$(status fast "$TIME_LIMIT" 0.1 bash -c leaves_a_member)"
check "then KILL ends the group" wait_for 60 has_ended "$(cat "$dir/member")"

# killed: time_limit is killed, and so is its command
killed() {
	"$TIME_LIMIT" 1000 sh -c 'echo $$ >"$dir/pid"; exec sleep 1000' &
	wait_for 60 test -s "$dir/pid" || return
	kill -KILL $!
	wait_for 60 has_ended "$(cat "$dir/pid")"
}
check "KILL to the program ends the command" killed
rm "$dir/pid"

# terminated: time_limit gets a signal, and kills its command
terminated() {
	"$TIME_LIMIT" 1000 sh -c 'echo $$ >"$dir/pid"; exec sleep 1000' &
	wait_for 60 test -s "$dir/pid" || return
	kill -TERM $!
	wait $!
	[ $? = 143 ] && ! kill -0 "$(cat "$dir/pid")" 2>/dev/null
}
check "a signal to the program ends the command" terminated

check "a state that comes is waited for" wait_for 100 true
same "a state that does not come is not" 1 "$(TIME_LIMIT_WORK_S=100 TIME_LIMIT_LOAD=0 status wait_for 0 false)"
same "a limit that is no whole number is refused" "2 2 2" \
	"$(for bad in 0.5 "" x; do status wait_for "$bad" false; done | xargs)"
same "with a message" "time_limit.sh: no whole number of seconds: 0.5" "$(wait_for 0.5 false 2>&1)"
# unseen: commands see the plain-named variables of the test, not those of the functions
unseen() {
	local begin=a limit=b progress=c now=d before=e end_s=f look_s=g

	wait_while 100 'echo $begin$limit$progress$now$before$end_s$look_s >"$dir/progress"' \
		eval '[ -s "$dir/progress" ] && [ $begin$limit$progress$now$before$end_s$look_s = abcdefg ]' &&
		[ "$(cat "$dir/progress")" = abcdefg ]
}
check "commands see their caller's variables, not those of the wait" unseen
check "the factor is a number of 1 or more" awk -v factor="$("$TIME_LIMIT" --factor)" 'BEGIN { exit !(factor >= 1) }'
# ---------------------------------------------------------------- timed.sh

# timed COMMAND...: runs it like a test of make check, with a measured factor of 2.5
timed() { (cd "$dir" && env -u CK_TIMEOUT_MULTIPLIER bash "$timed" "$@"); }
timed=$(cd "$srcdir" && pwd)/tests/lib/timed.sh
mkdir -p "$dir/tests/lib"
cat >"$dir/tests/lib/time_limit" <<'END'
#!/bin/sh
[ "$1" = --factor ] || { shift 2; exec "$@"; }
echo >>measured
echo 2.50
END
chmod +x "$dir/tests/lib/time_limit"
multiplier='echo $CK_TIMEOUT_MULTIPLIER'
same "timed.sh: without a program it is refused" 2 "$(status timed)"
same "timed.sh: the status of the program is passed on" 3 "$(status timed sh -c 'exit 3')"
same "timed.sh: limits of cases follow the machine" "7.5 7.5" \
	"$(for i in 1 2; do timed sh -c "$multiplier"; done | xargs)"
same "timed.sh: which is measured once for all of them" 1 "$(wc -l <"$dir/measured")"
touch -d "30 seconds ago" "$dir/tests/factor"
timed true
same "timed.sh: and again after 20 s" 2 "$(wc -l <"$dir/measured")"
same "timed.sh: a multiplier of one's own holds" 100 "$(cd "$dir" && CK_TIMEOUT_MULTIPLIER=100 bash "$timed" sh -c "$multiplier")"
tap_end

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The program time_limit ends commands that take too long, and passes on how the others end.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
TIME_LIMIT=$builddir/tests/lib/time_limit
pause() { read -r -t "$1" -u "$never" || true; }
exec {never}<> <(:)
. "$srcdir/tests/lib/time_limit.sh"

# The machine counts as fast and idle where a limit must pass.
fast() { env TIME_LIMIT_WORK_S=100 TIME_LIMIT_LOAD=0 "$@"; }

# status COMMAND...: prints its status
status() { "$@" >/dev/null 2>&1; echo $?; }

same "the status of a command is passed on" 3 "$(status with_limit 100 sh -c 'exit 3')"
same "a signal that ended it too" 137 "$(status with_limit 100 sh -c 'kill -KILL $$')"
same "a command that is not there has the shell's status" 127 "$(status with_limit 100 nosuchcommand)"
same "bad arguments are refused" "2 2 2 2" \
	"$(for bad in "" "1" "x true" "-1 true"; do status "$TIME_LIMIT" $bad; done | xargs)"
same "a command that takes too long is ended" 124 "$(status fast "$TIME_LIMIT" 0.1 sleep 1000)"
same "one that does not end at TERM, too" 124 \
	"$(status fast "$TIME_LIMIT" 0.1 sh -c 'trap "" TERM; while :; do sleep 1000 & wait $!; done')"
same "what it has started is ended too" 124 "$(status fast "$TIME_LIMIT" 0.1 sh -c 'sleep 1000; true')"
check "so that nobody holds its output" [ "$(env TIME_LIMIT_WORK_S=100 "$TIME_LIMIT" 0.1 sh -c 'sleep 1000; true' | wc -c)" = 0 ]
same "output renews the limit with -o" "$(seq 10)" "$("$TIME_LIMIT" -o 1 sh -c 'for i in $(seq 10); do sleep 0.3; echo $i; done')"
same "the output is whole" "$(seq 200000 | cksum)" "$("$TIME_LIMIT" -o 100 seq 200000 | cksum)"

# terminated: the program is told to end, and ends what it runs
terminated() {
	"$TIME_LIMIT" 1000 sh -c 'echo $$ >'"$dir"'/pid; exec sleep 1000' &
	wait_for 60 test -s "$dir/pid" || return
	kill -TERM $!
	wait $!
	[ $? = 143 ] && ! kill -0 "$(cat "$dir/pid")" 2>/dev/null
}
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
check "a signal to the program ends the command" terminated

check "a state that comes is waited for" wait_for 100 true
same "a state that does not come is not" 1 "$(TIME_LIMIT_WORK_S=100 TIME_LIMIT_LOAD=0 status wait_for 0 false)"
check "the factor is a number of 1 or more" awk -v factor="$("$TIME_LIMIT" --factor)" 'BEGIN { exit !(factor >= 1) }'
tap_end

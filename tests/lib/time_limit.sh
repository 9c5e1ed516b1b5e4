# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Time limits of scripts, which follow the speed of the machine: see tests/lib/time_limit.h. A script that sources this
# sets TIME_LIMIT to the program tests/lib/time_limit of its build; without that program limits are bare seconds.

# limit_s SECONDS: prints what a limit of SECONDS on an idle machine is on this one now, in whole seconds
limit_s() {
	local factor

	factor=$("${TIME_LIMIT:-}" --factor 2>/dev/null) || factor=1
	awk -v seconds="$1" -v factor="$factor" 'BEGIN { printf "%d\n", seconds * factor + 0.5 }'
}

# limit_passed BEGIN SECONDS: BEGIN, a value of $SECONDS, is longer ago than SECONDS are on a machine as slow as this one
limit_passed() {
	((SECONDS - $1 > $2)) && ((SECONDS - $1 > $(limit_s "$2")))
}

# wait_for SECONDS COMMAND...: until the command succeeds. Fails when the limit has passed. Looks every LOOK_S, 0.02 s
# by default; the script has a function pause SECONDS.
wait_for() {
	local begin=$SECONDS limit=$1

	shift
	until "$@" >/dev/null 2>&1; do
		! limit_passed "$begin" "$limit" || return 1
		pause "${LOOK_S:-0.02}"
	done
}

# with_limit SECONDS COMMAND...: runs a program, and ends it when the limit has passed; status 124 then
with_limit() {
	if [ -x "${TIME_LIMIT:-}" ]; then
		"$TIME_LIMIT" "$@"
	else
		timeout -k 10 "$@"
	fi
}

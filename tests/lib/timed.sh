#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# timed.sh PROGRAM [ARGUMENT...]: runs a test of `make check` in the build directory. It kills the test after five
# minutes (of an idle machine) without output, and appends the seconds that the test took to tests/times. Limits of
# test cases follow tests/factor, which all programs of a run share, so that each of them need not measure the machine.
[ $# != 0 ] || { echo "usage: timed.sh PROGRAM [ARGUMENT...]" >&2; exit 2; }
TIME_LIMIT=tests/lib/time_limit
limit=($TIME_LIMIT -o 300)
[ -x $TIME_LIMIT ] || limit=()

# renew_factor: writes tests/factor if that is older than 20 s
renew_factor() {
	[ -z "$(find tests/factor -newermt '20 seconds ago' 2>/dev/null)" ] || return 0
	$TIME_LIMIT --factor >tests/factor.$$ && mv tests/factor.$$ tests/factor
}
if [ -x $TIME_LIMIT ] && [ -z "${CK_TIMEOUT_MULTIPLIER:-}" ] && renew_factor; then
	# With the margin of tests/lib/test.c.
	CK_TIMEOUT_MULTIPLIER=$(awk '{ print 3 * $1 }' tests/factor)
	export CK_TIMEOUT_MULTIPLIER
fi
begin=${EPOCHREALTIME/[.,]/}
"${limit[@]}" "$@"
status=$?
name=${1##*/}
printf '%s\t%s\n' "${name%.sh}" $(((${EPOCHREALTIME/[.,]/} - begin + 500000) / 1000000)) >>tests/times
exit $status

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# timed.sh PROGRAM [ARGUMENT...]: runs a test of `make check` in the build directory. Ends it when it has printed nothing
# for ten minutes of an idle machine, and appends to tests/times how many seconds it took.
TIME_LIMIT=tests/lib/time_limit
limit=($TIME_LIMIT -o 600)
[ -x $TIME_LIMIT ] || limit=()
begin=${EPOCHREALTIME/[.,]/}
"${limit[@]}" "$@"
status=$?
name=${1##*/}
printf '%s\t%s\n' "${name%.sh}" $(((${EPOCHREALTIME/[.,]/} - begin + 500000) / 1000000)) >>tests/times
exit $status

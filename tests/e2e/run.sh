#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs end-to-end tests and reports them in one TAP stream.
#
# usage: run.sh [-b BUILD_DIR] [-j JOBS] [-t SECONDS] [-d DIALECT] [-k KIND] [TEST...]
#        TEST is a name such as bulk_data, or bulk_data.v2: the same with version two between the proxies, or
#        bulk_data.draft03: with all that the draft of version one has. All of TESTS if none is given: with -d
#        each once in that dialect, with -k those of a kind: plain, for a build without sanitizers, or sanitized.
#        A test ends when it has printed nothing for SECONDS of an idle machine.

set -u
here=$(cd "$(dirname "$0")" && pwd)
jobs=1 limit=300 only= dialect= kind=
while getopts b:j:t:d:k:1:h option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	j) jobs=$OPTARG ;;
	t) limit=$OPTARG ;;
	d) dialect=.$OPTARG ;;
	k) kind=$OPTARG ;;
	1) only=$OPTARG ;; # how this script runs itself: this test's part of the stream
	*) sed -n '3,9s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done
shift $((OPTIND - 1))
export E2E_BUILD=${E2E_BUILD:-$here/../../build}
TIME_LIMIT=$E2E_BUILD/tests/lib/time_limit
. "$here/../lib/time_limit.sh"
exec {pause_fd}<&- # nothing waits here, and tests would inherit it

# one TEST: its TAP without numbers, each case with the test's name; a test that dies is a failed case
one() {
	local name=$1 script=${1%%.*} out begin=$SECONDS status planned seen

	case $name in
	*.v2) export E2E_VERSION=2 ;;
	*.draft03) export E2E_COMPAT=draft03 ;;
	*.*) echo "not ok - $name: there is such a dialect"; return ;;
	esac
	# Both streams are one, so that what stands on them keeps its order.
	out=$(with_limit -o "$limit" bash -c 'exec bash "$1" 2>&1' - "$here/$script.sh" </dev/null)
	status=$?
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' <<<"$out")
	seen=$(grep -cE '^(not )?ok ' <<<"$out")
	if grep -q '^1\.\.0 # SKIP' <<<"$out"; then
		echo "ok - $name # SKIP ${out#*# SKIP }"
		return
	fi
	sed -E "s/^(not ok|ok) [0-9]+ - /\1 - $name: /; /^1\.\.[0-9]+/d; /^(not ok|ok) /!s/^(# )?/# /" <<<"$out"
	if [ "$planned" != "$seen" ] || { [ "$status" != 0 ] && ! grep -q '^not ok' <<<"$out"; }; then
		echo "not ok - $name: runs to its end (status $status, $seen of ${planned:-?} cases)"
	fi
	echo "# $name took $((SECONDS - begin)) s"
}

if [ -n "$only" ]; then
	one "$only"
	exit
fi

if [ $# = 0 ]; then
	mapfile -t tests < <(awk -v kind="$kind" -v dialect="$dialect" '
		/^#/ || (dialect && $1 ~ /\./) { next }
		!kind || $2 == "both" || kind == ($2 ? $2 : "sanitized") { print $1 dialect }' "$here/TESTS")
	set -- "${tests[@]}"
fi
printf '%s\n' "$@" |
	xargs -P "$jobs" -I NAME bash "$0" -b "$E2E_BUILD" -t "$limit" -1 NAME |
	awk '/^(not )?ok /{ n++; if (/^not/) bad = 1; sub(/ok /, "ok " n " "); print; next } { print }
	     END { print "1.." n; exit bad }'

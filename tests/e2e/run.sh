#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs end-to-end tests and reports them in one TAP stream.
#
# usage: run.sh [-n] [-b BUILD_DIR] [-j JOBS] [-t SECONDS] [-d DIALECT] [-k KIND] [TEST...]
#        TEST is a name such as bulk_data, bulk_data.v2 (the same with version two between the proxies) or
#        bulk_data.draft03 (with all extras of the draft of version one). By default run.sh runs all of TESTS.
#        -d DIALECT runs each test once in this dialect. -k KIND runs those of a kind: plain (for a build
#        without sanitizers) or sanitized. Both also apply to given tests. -n prints the names and runs nothing.
#        A test is killed if it prints nothing for SECONDS (of an idle machine).

set -u
here=$(cd "$(dirname "$0")" && pwd)
jobs=1 limit=300 only='' dialect='' kind='' names_only=''

# refuse WHY: reports an error before any test
refuse() { echo "run.sh: $*" >&2; exit 2; }

while getopts nb:j:t:d:k:1:h option; do
	case $option in
	n) names_only=yes ;;
	b) E2E_BUILD=$OPTARG; [ -d "$OPTARG" ] || refuse "-b $OPTARG: there is no such directory" ;;
	j) jobs=$OPTARG; [[ $jobs =~ ^[1-9][0-9]*$ ]] || refuse "-j $jobs: it must be a positive number" ;;
	t) limit=$OPTARG; [[ $limit =~ ^[0-9]+(\.[0-9]+)?$ && $limit =~ [1-9] ]] || refuse "-t $limit: it must be a positive number" ;;
	d) dialect=.$OPTARG; [[ $OPTARG =~ ^(v2|draft03)$ ]] || refuse "-d $OPTARG: it must be v2 or draft03" ;;
	k) kind=$OPTARG; [[ $kind =~ ^(plain|sanitized)$ ]] || refuse "-k $kind: it must be plain or sanitized" ;;
	1) only=$OPTARG ;; # how this script runs itself: this test's part of the stream
	h) sed -n '3,11s/^# \?//p' "$0"; exit 0 ;;
	*) exit 2 ;; # getopts has said why
	esac
done
shift $((OPTIND - 1))
export E2E_BUILD=${E2E_BUILD:-$here/../../build}
TIME_LIMIT=${E2E_PROGRAMS:-$E2E_BUILD}/tests/lib/time_limit
. "$here/../lib/time_limit.sh"
exec {pause_fd}<&- # nothing waits here, and tests would inherit it

# one TEST: prints its TAP without numbers, with the test's name in each case; a test that crashes is a failed case
one() {
	local name=$1 script=${1%%.*} out begin=$SECONDS status planned seen

	case $name in
	*.v2) export E2E_VERSION=2 ;;
	*.draft03) export E2E_COMPAT=draft03 ;;
	esac
	# Both streams use one pipe, so that their order is kept.
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

# check_list: checks that each line of TESTS has a name and a valid second column
check_list() {
	local line

	line=$(awk '!/^#/ && NF && (NF > 2 || $2 !~ /^(plain|both|all)?$/) { print FNR ": " $0; exit }' "$here/TESTS")
	[ -z "$line" ] || refuse "TESTS:$line: the name is followed by nothing, plain, both or all"
}

# check_name NAME: this test exists
check_name() {
	local name=$1 script=${1%%.*}

	[ -e "$here/$script.sh" ] &&
		awk -v script="$script" '!/^#/ { sub(/\..*/, "", $1) } $1 == script { found = 1 } END { exit !found }' "$here/TESTS" ||
		refuse "there is no test $name"
	[[ $name = "$script" || $name =~ ^[^.]*\.(v2|draft03)$ ]] || refuse "$name: behind the dot stands v2 or draft03"
	[[ -z $dialect || $name = "$script" ]] || refuse "$name has its dialect already: -d is for others"
}

# choose NAME...: prints the tests of the kind, in the dialect
choose() {
	[ $# = 0 ] || printf '%s\n' "$@" | awk -v kind="$kind" -v dialect="$dialect" '
		{ script = $1; sub(/\..*/, "", script) }
		NR == FNR && /^#/ { next }
		NR == FNR {
			kinds[$1] = $2 ? $2 : "sanitized"
			if (!(script in kinds)) kinds[script] = kinds[$1]
			next
		}
		{ found = $1 in kinds ? kinds[$1] : kinds[script] }
		!kind || found == "both" || found == kind { print $1 dialect }' "$here/TESTS" -
}

check_list
if [ $# = 0 ]; then
	mapfile -t tests < <(awk -v dialect="$dialect" '!/^#/ && NF && !(dialect && $1 ~ /\./) { print $1 }' "$here/TESTS")
	set -- "${tests[@]}"
fi
for name; do check_name "$name"; done
mapfile -t tests < <(choose "$@")
if [ -n "$names_only" ]; then
	[ ${#tests[@]} = 0 ] || printf '%s\n' "${tests[@]}"
	exit 0
fi
[ -d "$E2E_BUILD" ] || refuse "$E2E_BUILD: there is no such directory"
printf '%s\n' "${tests[@]}" |
	xargs -P "$jobs" -I NAME bash "$0" -b "$E2E_BUILD" -t "$limit" -1 NAME |
	awk '/^(not )?ok /{ n++; if (/^not/) bad = 1; sub(/ok /, "ok " n " "); print; next } { print }
	     END { print "1.." n + 0; exit bad || !n }'

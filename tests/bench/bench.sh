#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares the proxy with other programs that can replace it: ratios within one run.
#
# usage: bench.sh [OPTION...], or ./dev bench [OPTION...]
#    --quick            five contenders, six rows, three rounds of a second
#    --rounds N         how often each row is measured (5)
#    --seconds S        length of a measurement, after 0.3 s that do not count (2)
#    --rows REGEX       only rows whose SERIES/NAME matches: --rows '^lo/getattr'
#    --contenders REGEX only contenders that match as a whole: --contenders 'haproxy2|chain.*'
#    --list             prints the rows and their contenders, and measures nothing
#    --beside BUILD     also another build of the proxy: contenders tcp-beside and chain-beside
#    -o DIR             directory of the results: samples.csv and other tables, table.txt, page.html (BUILD/bench)
#    -b BUILD           the build whose proxy is measured (build/)
#    -l BUILD           the build that has the load generator: `make bench-programs` there (build/)
#
# Exits with 77 if something that it needs is missing, and with 1 if a byte was wrong or a Call had no Reply.

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
given=("$@")
rounds= seconds= quick= rows_wanted=. contenders_wanted='.*' list= beside= out= load_build=$bench/../../build
usage() { sed -n '3,18s/^# \?//p' "$0"; exit "$1"; }
missing() { echo "bench.sh: $*" >&2; exit 77; }
die() { echo "bench.sh: $*" >&2; show_logs >&2; exit 1; }

while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 ;;
	--list) list=1 ;;
	-h | --help) usage 0 ;;
	--rounds | --seconds | --rows | --contenders | --beside | -o | -b | -l)
		[ $# -gt 1 ] || usage 2 >&2
		case $1 in
		--rounds) rounds=$2 ;;
		--seconds) seconds=$2 ;;
		--rows) rows_wanted=$2 ;;
		--contenders) contenders_wanted=$2 ;;
		--beside) beside=$2 ;;
		-o) out=$2 ;;
		-b) E2E_BUILD=$2 ;;
		-l) load_build=$2 ;;
		esac
		shift
		;;
	*) usage 2 >&2 ;;
	esac
	shift
done
rounds=${rounds:-${quick:+3}} rounds=${rounds:-5}
seconds=${seconds:-${quick:+1}} seconds=${seconds:-2}
[[ $rounds =~ ^[1-9][0-9]*$ ]] || { echo "bench.sh: --rounds $rounds is no number of rounds" >&2; exit 2; }
[[ $seconds =~ ^([0-9]+(\.[0-9]+)?|\.[0-9]+)$ && $seconds =~ [1-9] ]] || { echo "bench.sh: --seconds $seconds is no time" >&2; exit 2; }

. "$bench/../e2e/lib.sh"
. "$bench/../e2e/hosts.sh"
. "$bench/contenders.sh"
. "$bench/rows.sh"
. "$bench/load.sh"
. "$bench/sampling.sh"
. "$bench/machine.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }

if [ -n "$list" ]; then
	list_rows
	exit 0
fi
BENCH=$(cd "$load_build" && pwd)/tests/bench || exit 77
for program in nfs_load nfs_serve copy_proxy; do
	[ -x "$BENCH/$program" ] || missing "$BENCH/$program is not built: make bench-programs"
done
[ -x "$PROXY" ] || missing "$PROXY is not built"
[ -z "$beside" ] || BESIDE=$(cd "$beside" && pwd)/daemon/rpcrdma-proxy
[ -z "$beside" ] || [ -x "$BESIDE" ] || missing "$BESIDE is not built"
PATH=$PATH:/usr/sbin:/sbin
for program in haproxy socat jq python3 ip ss; do
	command -v $program >/dev/null || missing "$program is not installed"
done
out=${out:-$E2E_BUILD/bench}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
[ -n "${E2E_INSIDE:-}" ] || tell_load
enter "${given[@]}"
ulimit -n "$(ulimit -Hn)"
way_to[near]= way_to[far]=
tune near
begin_samples
tell_machine >"$out/machine.csv"
name_series >"$out/series.csv"
name_rows >"$out/rows.csv"
name_contenders >"$out/contenders.csv"

for series in $(all_series); do
	mapfile -t names < <(wanted_rows $series)
	[ ${#names[@]} = 0 ] || "series_$series" "${names[@]}"
done
[ "$samples" != 0 ] || missing "no row and contender matches"
fact "load at the end" "$(cut -d' ' -f1-3 /proc/loadavg)" >>"$out/machine.csv"
python3 -B "$bench/report" "$out" | tee "$out/table.txt"
[ "${PIPESTATUS[0]}" = 0 ] || die "the report could not be written"
echo "the page is $out/page.html, each sample a line of $out/samples.csv"

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the cost of a scrape every second with 9,500 connections; it is not judged, because it depends on the machine.
# The test checks that the metrics have all connections, and that Calls are answered during scrapes.
ONE_PORT=12050 HELD=9500
# shellcheck disable=SC2034
A_MORE=more_a A_GLOBAL='http_listen = "127.0.0.1:9180";'
. "$(dirname "$0")/lib.sh"
. "$E2E_SRC/../bench/load.sh"
enter "$@"
needs_proxies
not_sanitized
command -v curl >/dev/null || skip_all "curl is not installed"
ulimit -n 20000 2>/dev/null || skip_all "there are not descriptors enough"
# shellcheck disable=SC2034
BENCH=$E2E_BUILD/tests/bench
more_a() { service one "tcp://127.0.0.1:$ONE_PORT" "tcp://127.0.0.1:$NFS_PORT" 'max_connections = 10000; source_port = "any";'; }
start_proxy a
server_start serve $NFS_PORT

# cpu_us: prints the CPU time of the proxy
cpu_us() { cat /proc/"${pid_of[a]}"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum / 1000 }'; }
scrape() { with_limit 10 curl -s -o $T/scrape -w '%{time_total}\n' http://127.0.0.1:9180/metrics >>$T/times; }
shown() { sed -n 's/^rpcrdma_proxy_connections{service="one",fabric="[a-z]*"} //p' $T/scrape | awk '{ sum += $1 } END { print sum }'; }
is_shown() { scrape && [ "$(shown)" = $HELD ]; }
# spent SECONDS [COMMAND]: prints CPU microseconds per second, with COMMAND once a second
spent() {
	local seconds=$1 before i

	shift
	before=$(cpu_us)
	for ((i = 0; i < seconds; i++)); do
		[ $# = 0 ] || "$@"
		pause 1
	done
	echo $((($(cpu_us) - before) / seconds))
}

hold held 127.0.0.1 $ONE_PORT $HELD || bail "the connections are not all held"
check "each of 9,500 connections is in the metrics" wait_for 20 is_shown
: >$T/times
page() { with_limit 10 curl -s -o $T/json http://127.0.0.1:9180/api/connections.json; }
# New connections still have setup work for a while.
spent 15 >/dev/null
: >$T/times
before=$(spent 10) scraped=$(spent 10 scrape) polled=$(spent 10 page) after=$(spent 10)
idle=$(((before + after) / 2))
# part MICROSECONDS: prints the part of a core, in percent
part() { awk -v us="$1" -v idle=$idle 'BEGIN { printf "%.2f %%\n", (us - idle) / 1e4 }'; }
note "without: $before and $after us a second; scraped each second: $(part "$scraped") of a core more;" \
	"a scrape takes $(sort -n $T/times | awk '{ t[NR] = $1 } END { printf "%.1f ms, at most %.1f\n", t[int((NR + 1) / 2)] * 1000, t[NR] * 1000 }')"
note "the page's connections, polled each second: $(part "$polled") of a core more, $(wc -c <$T/json) bytes"
check "they are fifty" eval "jq -e '.connections | length == 50' $T/json"
check "others have their Calls answered" eval '"$BENCH/nfs_load" -w crowd -k 50 -W 60 127.0.0.1 $ONE_PORT >$T/crowd.json'
load_ends held || true
finish

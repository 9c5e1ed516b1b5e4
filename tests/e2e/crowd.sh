#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# 1,000 clients that connect together each get a Reply, even if there are too few reserved ports for them. The reserved
# ports are free again when the clients have disconnected. The test prints the time; the rows crowd and crowd-held of
# ./dev bench compare it.
ONE_PORT=12050
# shellcheck disable=SC2034
A_SERVICE='max_connections = 4096;' B_SERVICE='max_connections = 4096;' A_MORE=more_a
. "$(dirname "$0")/lib.sh"
. "$E2E_SRC/../bench/load.sh"
enter "$@"
needs_proxies
# shellcheck disable=SC2034
BENCH=$E2E_PROGRAMS/tests/bench
more_a() { service one "tcp://127.0.0.1:$ONE_PORT" "tcp://127.0.0.1:$NFS_PORT" "$A_SERVICE"; }
start_chain

# come PORT CLIENTS HELD: starts the clients, and a server that ends when they have disconnected. Clients from
# privileged ports use those of the proxies, from new addresses.
from=0
come() {
	local status

	from=$((from + 10))
	server_start serve "$NFS_PORT"
	crowd "$@" $from >crowd.json
	status=$?
	server_end serve
	return $status
}
# all_come PORT CLIENTS HELD: a connection setup has 10 s. If only setups failed by that, all clients connect once more
all_come() {
	local late failed

	late=$(counter a closes timeout)
	failed=$(counter a rdma connect_failures)
	come "$@" && return
	late=$(($(counter a closes timeout) - late))
	failed=$(($(counter a rdma connect_failures) - failed))
	echo "$failed set-ups failed, $late of them since they took too long"
	((late > 0 && failed <= late)) && come "$@"
}
gone() { no_connections a && no_connections b; }
all_reserved() { come "$1" 300 0 && jq -e '.connections == 300 and .unprivileged == 0' serve.json; }
tell() {
	note "$(jq -r '"\(.connections) clients: median \(.p50_us | round) us, last \(.max_us | round) us"' crowd.json)," \
		"$(jq -r '"\(.unprivileged) of \(.connections) connections from ports above 1023"' serve.json)"
}

# crowds WHAT PORT: runs the cases for one service
crowds() {
	check "$1: 1,000 clients at once each have a reply" all_come "$2" 1000 0
	tell
	check "$1: they leave nothing behind" wait_for 20 gone
	check "$1: so have 1,000 more when no reserved port is left" all_come "$2" 1000 400
	tell
	check "$1: they leave nothing behind" wait_for 20 gone
	check "$1: reserved ports are used again" all_reserved "$2"
	tell
	check "$1: they leave nothing behind" wait_for 20 gone
}

# counted SERVICE: each Call was counted with its duration, although the clients closed immediately
counted() {
	ctl a -j latency "$1" | jq -e '[.services[].operations[]] | (map(.calls) | add) >= 2300 and all(.calls == .whole.count)'
}

crowds "one proxy" $ONE_PORT
check "one proxy: every Call was counted, and timed" wait_for 10 counted one
crowds "two proxies" "$FRONT_PORT"
check "two proxies: every Call was counted, and timed" wait_for 10 counted nfs
finish

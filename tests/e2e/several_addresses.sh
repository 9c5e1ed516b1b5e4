#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server name with several addresses: the proxy connects to the address that answers, over RDMA and over TCP.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
printf '127.0.0.%s filer\n' 9 8 7 1 >hosts
mount --bind hosts /etc/hosts || bail "/etc/hosts cannot be replaced"
# An address that refuses comes before the one that answers, in any order of the resolver.
last=$(getent ahosts filer | awk '$2 == "STREAM" { last = $1 } END { print last }')

# service NAME LISTEN CONNECT [MORE]: prints a service that uses the server by its name, and listens on its last address
service() {
	local listen=$2 connect=${3/127.0.0.1/filer}

	[[ $listen != iwarp://* ]] || listen=${listen/127.0.0.1/$last}
	printf '  { name = "%s"; listen = "%s"; connect = "%s"; require_privileged_port = false; %s }' \
		"$1" "$listen" "$connect" "${4:-}"
}

start_chain
ctl a log debug >/dev/null
check "Calls pass" rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 flow 5 8 1000 0 resume
check "the addresses before it were tried" wait_for 10 grep -q 'trying its next address' a.log
finish

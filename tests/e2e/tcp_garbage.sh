#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# TCP clients and servers that send garbage get an answer, and other connections are not affected.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_chain

check "nonsense from clients" rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 garbage
check "no connection is left at proxy a" wait_for 20 no_connections a
check "no connection is left at proxy b" wait_for 20 no_connections b
check "nonsense from servers" rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 bad-server
check "no connection is left at proxy a" wait_for 20 no_connections a
check "no connection is left at proxy b" wait_for 20 no_connections b
finish

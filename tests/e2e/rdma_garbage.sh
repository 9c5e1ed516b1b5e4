#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# RDMA peers that speak nonsense, at each layer of iWARP and in RPC-over-RDMA, get the answer that the
# documents ask for, and nobody else is disturbed.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_chain

check "each kind of nonsense gets its answer" mpa_peer "$FRONT_PORT" "$FABRIC_PORT" "$BACK_PORT"
check "no connection is left at proxy a" wait_for 20 no_connections a
check "no connection is left at proxy b" wait_for 20 no_connections b
finish

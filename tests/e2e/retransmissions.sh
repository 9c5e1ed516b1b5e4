#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A Call that is sent twice on a live connection reaches the server once. Another Call with an XID in flight closes the
# connection.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_chain

check "one of two equal Calls reaches the server, each Call gets one Reply" \
	rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 retransmit
finish

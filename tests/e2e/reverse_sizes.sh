#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reverse Calls and their Replies pass two proxies inline, up to the Send size that both have agreed on.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

# chain BYTES: restarts the chain, with this maximum size of Sends
chain() {
	stop_proxy a
	stop_proxy b
	A_SERVICE="inline_threshold_bytes = $1;" B_SERVICE="inline_threshold_bytes = $1;"
	start_chain
}

# reverse passes|fails BYTES...: makes reverse Calls of these sizes
reverse() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 reverse "$@"; }

# The size that TCP clients announce: 4096 bytes of a callback, and the headers.
chain 8192
check "a callback of 4096 bytes passes where Sends are twice as long" reverse passes 4 3900 4096 8000
check "one that is longer than a Send gets SYSTEM_ERR" reverse fails 8192 20000 2000000
check "each is counted" eval 'counter_is b rdma reverse_refused -eq 400 && counter_is b tcp reverse_refused -eq 200'
stop_proxy a
stop_proxy b
check "and was said once a connection" logged_lines b 2 "is longer than this client accepts"

chain 262144
check "with Sends of 256 KiB one of 200,000 bytes passes" reverse passes 4 4096 20000 200000 262000
check "no memory is lent for that" counter_is b rdma keys_lent -eq 0

chain 4096
check "with Sends of 4 KiB a callback of 4096 bytes gets SYSTEM_ERR" reverse fails 4096
finish

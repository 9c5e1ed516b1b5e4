#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# With a memory limit of each service's guarantee and one large RPC, 50 clients get slow, but none is disconnected and
# nothing locks up, even if clients stop reading.
BACK_PORT=3049 WORKERS=1
A_GLOBAL='memory_limit_mib = 6;' B_GLOBAL=$A_GLOBAL
# No reverse Call times out, although a client reads nothing for long.
REVERSE='reverse_timeout_s = 3600;'
A_SERVICE='max_message_bytes = 1048576; stall_timeout_s = 60;' B_SERVICE="$A_SERVICE $REVERSE"
. "$(dirname "$0")/lib.sh"
enter "$@"
echo 4096 65536 131072 >/proc/sys/net/ipv4/tcp_wmem # so that a reply which is not read stays with the proxy
start_chain

flow() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 flow "$@"; }

check "50 clients, 500 KB each way" flow 50 8 500000 0 resume
check "50 clients, messages within the inline threshold" flow 50 200 1000 0 resume
check "50 clients, 10 of which stop reading and go on" flow 50 6 400000 10 resume
if [ "$E2E_CHAIN" = proxies ]; then
	check "proxy a has closed no client" counter_is a closes reply_stalled = 0
	stop_proxy a
	stop_proxy b
	# Clients that read, all in one program, have that time, too.
	A_SERVICE="max_message_bytes = 1048576; stall_timeout_s = $(limit_s 2);" B_SERVICE="$A_SERVICE $REVERSE"
	start_chain
fi
check "50 clients, 10 of which never go on" flow 50 6 400000 10 "$([ "$E2E_CHAIN" = direct ] && echo never || echo dropped)"
[ "$E2E_CHAIN" = direct ] ||
	check "clients that read no Replies were closed for that" counter_is a closes reply_stalled -gt 0
check "then 50 clients as before" flow 50 8 500000 0 resume
finish

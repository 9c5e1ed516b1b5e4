#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages of every size pass, the server calls its clients back, and a half-closed client gets its Replies.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
start_chain

check "every size of Call and Reply, reverse Calls, a half-close" \
	rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 both-ways
finish

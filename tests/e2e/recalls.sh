#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server's Call is answered in less than two seconds, independent of the number of the client's Calls that wait for a
# credit.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
# One Call is at the server, which does not answer it. 256 others are queued. The proxy does not read the Calls after
# them, except for the reverse Reply that follows them. All Calls have memory for the longest possible Reply.
A_SERVICE="credits = 1; max_message_bytes = 65536;"
start_chain

said() { [ "$(grep -c "$1" said)" = "$2" ]; }

mkfifo tell
for calls in 257 600; do
	rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 recall $calls <tell >said 2>&1 &
	peer=$!
	exec {in}>tell
	check "a client sends $calls Calls" wait_for 20 said '^sent$' 1
	check "256 of them wait for a credit" wait_for 20 nfs_leg_is a upstream calls_held 256
	times=0
	for bytes in 4 800 3800; do
		times=$((times + 1))
		echo $bytes >&"$in"
		check "the server's Call of $bytes bytes is answered in time" wait_for 20 said ' ms$' $times
		check "256 still wait for a credit" nfs_leg_is a upstream calls_held 256
	done
	exec {in}>&-
	check "each Call is answered, once the server does" wait $peer
	note "$(cat said)"
	wait_for 10 no_connections a
done
check "they did wait" counter_is a rdma credit_waits -ge 512
finish

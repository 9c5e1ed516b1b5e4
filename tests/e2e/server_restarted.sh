#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server is killed under load and started again: NFSv3 clients go on where they were, bit for bit.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain

at_least() { [ "$(stat -c %s "$1")" -ge "$2" ]; }

for round in 1 2 3; do
	start writer nfs_client "$V3" write "file-$round" 400m $round 128k
	wait_for 30 at_least "export/file-$round" $((round * 20000000))
	check "a client is writing" alive writer
	stop ganesha KILL
	check "a new client is turned away while the server is down" not timeout 30 "$BIN/nfs_client" "$V3" max
	start_ganesha
	wait "${pid_of[writer]}"
	check "the client that was writing finishes" [ $? = 0 ]
	unset "pid_of[writer]"
	check "what it wrote is there" nfs_client "$V3" verify "file-$round" 400m $round
	rm -f "export/file-$round"
done
check "NFSv4.0 clients are served" nfs_client "$V4" mixed four 8m 4
finish

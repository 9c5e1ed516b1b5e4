#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server is killed under load and restarted. NFSv3 clients continue where they were, and all data are correct.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain


# The client ends by itself; a killed one would have another status.
turned_away() { with_limit 30 "$BIN/nfs_client" "$V3" max; [ $? = 1 ]; }

for round in 1 2 3; do
	start writer nfs_client "$V3" write "file-$round" 400m $round 128k
	wait_for_growth 30 "export/file-$round" $((round * 20000000))
	check "a client is writing" alive writer
	stop ganesha KILL
	check "a new client is turned away while the server is down" turned_away
	start_ganesha
	ends_well writer "the client that was writing finishes"
	check "what it wrote is there" nfs_client "$V3" verify "file-$round" 400m $round
	rm -f "export/file-$round"
done
check "NFSv4.0 clients are served" nfs_client "$V4" mixed four 8m 4
finish

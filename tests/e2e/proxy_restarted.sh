#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Either proxy is killed under load and restarted. Clients continue where they were, and all data are correct.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
start_chain


round=0
for side in a b a b; do
	round=$((round + 1))
	three=three-$round four=four-$round
	start three nfs_client "$V3" write $three 300m 3 128k
	start four nfs_client "$V4" write $four 300m 4 128k
	wait_for_growth 30 export/$three 30000000
	wait_for_growth 30 export/$four 30000000
	check "clients are writing" eval "alive three || alive four"
	stop $side KILL
	start_proxy $side
	for version in three four; do
		ends_well $version "proxy $side was killed: the client $version finishes"
	done
	check "what NFSv3 wrote is there" nfs_client "$V3" verify $three 300m 3
	check "what NFSv4.0 wrote is there" nfs_client "$V4" verify $four 300m 4
done
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A proxy is killed at any moment, during work and while it starts. Nothing that it leaves prevents the next start.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

RANDOM=${SEED:=$SRANDOM}
note "SEED=$SEED"
moment() { pause "0.$(printf %03d $((RANDOM % ($1 * 10))))"; }
answers() { ctl "$1" status; }

start_ganesha
start_chain

start writer nfs_client "$V3" write file 300m 3 128k
wait_for_growth 30 export/file 10000000
check "a client is writing" alive writer
ended=0
for round in {1..16}; do
	side=a
	((round % 3)) || side=b
	moment $((round % 4 ? 30 : 3))
	stop $side KILL
	[ "$exit_status" = 137 ] || { ended=$((ended + 1)); note "round $round: $side ended with $exit_status"; }
	start $side "$PROXY" -c $T/$side.conf
	# Every fourth one is killed before or just when it is ready.
	((round % 4 == 3)) || serves $side $([ $side = a ] && echo $FRONT_PORT $FRONT_MNT || echo $FABRIC_PORT $FABRIC_MNT) ||
		note "round $round: $side is not up"
done
check "none has ended by itself" [ $ended = 0 ]
for side in a b; do check "proxy $side answers" wait_for 20 answers $side; done
ends_well writer "the client finishes"
check "what it wrote is there" nfs_client "$V3" verify file 300m 3
finish

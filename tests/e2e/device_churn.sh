#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Connections over verbs open and close while others make Calls on the same completion queue, where the device supports
# sharing. Each byte that they read is correct, no connection closes, and all device resources are freed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/standin.sh"
enter "$@"
needs_proxies
chooses_dialect
BENCH=$E2E_PROGRAMS/tests/bench
. "$E2E_SRC/../bench/load.sh"

# loads NAME ARGS...: starts nfs_load; its line of JSON is in NAME.json
loads() {
	local name=$1

	shift
	with_limit 60 "$BENCH/nfs_load" -d 0 "$@" 127.0.0.1 $FRONT_PORT >$T/$name.json 2>$T/$name.err
}

# both: some clients stay; others repeatedly connect, make a Call and close
both() {
	local stays
	loads stay -w read:4000 -k 12 -n 4 -t "$(limit_s 1 1)" &
	stays=$!
	loads come -w connect -n 8 -t "$(limit_s 1 1)" && wait $stays
}

# told NAME FILTER: FILTER holds for the printed results
told() { jq -e "$2" $T/$1.json || { cat $T/$1.json $T/$1.err; false; }; }

# churns KIND PROFILE: runs the cases on that device
churns() {
	stand_in "$1" "$2"
	start_device
	check "$2, $1: some connections stay, and others come and go" both
	check "$2, $1: those that stay have the right data, and are all there at the end" told stay \
		'.errors == 0 and .mismatches == 0 and .opened == 12 and .least_ops > 0'
	check "$2, $1: none of those that come and go has failed" told come '.errors == 0 and .opened > 8'
	check "$2, $1: all have ended" wait_for 20 no_connections a
	stop_proxy a
	check "$2, $1: the device has had everything back" nothing_left
	mv $T/a.log "$T/$2-$1.log"
}

server_start serve $NFS_PORT
churns roce mlx5
churns roce qedr
churns iwarp irdma
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# RPCs over verbs on in-memory devices that behave like those of many drivers (tests/standin). A proxy on one device has
# a service for clients, and another service that is the server of the first.
BACK_PORT=3049
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/standin.sh"
enter "$@"
needs_proxies
chooses_dialect

# works KIND NAME KEYS: KEYS is the counter of the method by which memory is exposed
works() {
	stand_in "$1" "$2"
	start_device
	check "$2, $1: every size of Call and Reply, reverse Calls, a half-close" \
		rpc_peer $FRONT_PORT $BACK_PORT 0 0 both-ways
	check "$2, $1: $3" counter_is a verbs "$3" -gt 0
	check "$2, $1: one log line has the method by which memory is exposed" logged_lines a 1 "the memory of"
	stop_proxy a
	check "$2, $1: the device has had everything back" nothing_left
	mv $T/a.log "$T/$2-$1.log"
}

works roce mlx5 windows_bound
works roce mlx4 windows_bound
works roce irdma regions_lent
works roce bnxt_re regions_lent
works roce hns regions_lent
works roce qedr regions_lent
works iwarp irdma regions_lent
works iwarp cxgb4 regions_lent
works iwarp qedr regions_lent
finish

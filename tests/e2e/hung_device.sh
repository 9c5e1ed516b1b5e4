#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A call of a device hangs. Its connection waits for it, and the same worker serves all other clients.
WORKERS=1
OTHER_PORT=13051
OTHER_BACK=3051
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/standin.sh"
enter "$@"
needs_proxies
chooses_dialect

hangs() { grep -qE "^standin: $1 [0-9]+: hang" $T/a.log; }
device_more() { service other "tcp://127.0.0.1:$OTHER_PORT" "tcp://127.0.0.1:$OTHER_BACK"; }

# others_are_served: the only worker serves other clients
others_are_served() {
	local i
	for i in 1 2 3 4 5; do
		asks beside $OTHER_PORT || return
		stop beside
	done
}

# hung KIND PROFILE VERB CALL: that call hangs until others were served
hung() {
	local what="$2, $1, $3 $4"

	rm -f $T/release $T/client.log
	stand_in "$1" "$2" "$3:$4=hang"
	export STANDIN_RELEASE=$T/release
	start_device
	start client "$BIN/held_call" ask 127.0.0.1 $FRONT_PORT idle
	case $3 in
	destroy_* | dereg_mr)
		check "$what: a client is served" wait_for 20 grep -q ready $T/client.log
		stop client
		;;
	esac
	check "$what: the call hangs" wait_for 20 hangs "$3"
	check "$what: another service is served meanwhile" others_are_served
	touch $T/release
	case $3 in
	destroy_* | dereg_mr) ;;
	*)
		check "$what: the client is served when it has come back" wait_for 20 grep -q ready $T/client.log
		stop client
		;;
	esac
	check "$what: the connection has ended" wait_for 20 no_connections a
	stop_proxy a
	check "$what: the worker has not stood still" logged_lines a 0 "event loop is stuck"
	check "$what: the device has had everything back" nothing_left
	mv $T/a.log "$T/$((++runs)).log"
}
declare -i runs=0

gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status"; }

# hung_stop VERB: that call hangs while the proxy stops; the proxy still ends
hung_stop() {
	local what="stop, $1" pid

	rm -f $T/release $T/client.log
	stand_in roce mlx5 "$1:1=hang"
	export STANDIN_RELEASE=$T/release
	start_device
	start client "$BIN/held_call" ask 127.0.0.1 $FRONT_PORT idle
	check "$what: a client is served" wait_for 20 grep -q ready $T/client.log
	stop client
	check "$what: the call hangs" wait_for 20 hangs "$1"
	pid=${pid_of[a]}
	kill -TERM "$pid"
	check "$what: the proxy ends" wait_for 60 gone "$pid"
	check "$what: it says why it does not wait" logged_lines a 1 \
		'1 worker did not end: an RDMA device has not executed a command'
	check "$what: it has ended well" logged_lines a 1 stopped
	stop a
	check "$what: its status is 0" is "$exit_status" 0
	mv $T/a.log "$T/$((++runs)).log"
}

start other "$BIN/held_call" serve 127.0.0.1 $OTHER_BACK
start server "$BIN/held_call" serve 127.0.0.1 $NFS_PORT
# The first calls of other verbs belong to the check of locked memory at the start.
for verb in create_cq create_qp reg_mr modify_qp destroy_qp dereg_mr destroy_cq; do
	hung roce mlx5 $verb 1
done
hung roce mlx5 destroy_id 1
hung roce bnxt_re connect 1
for verb in create_qp destroy_qp destroy_id; do hung iwarp cxgb4 $verb 1; done
DRAIN_S=2
hung_stop destroy_qp
finish

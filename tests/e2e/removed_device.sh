#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A device is removed at each call of an endpoint's life, as its driver and the kernel do that, or fails completely. Its
# connections close, and the same worker serves all other clients, including those on another device. When the device
# returns it is used again, and nothing was leaked.
WORKERS=1
OTHER_PORT=13051
OTHER_BACK=3051
SECOND_PORT=14051
BYTES=1m
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/standin.sh"
enter "$@"
needs_proxies
chooses_dialect

# In addition to the two services on the removed device: one over TCP only, and two on a second device.
device_more() {
	service other "tcp://127.0.0.1:$OTHER_PORT" "tcp://127.0.0.1:$OTHER_BACK"
	echo ,
	service second "tcp://127.0.0.1:$SECOND_PORT" "verbs://127.0.1.3:$FABRIC_PORT"
	echo ,
	service second-back "verbs://127.0.1.2:$FABRIC_PORT" "tcp://127.0.0.1:$OTHER_BACK"
}

removed() { grep -qE '^standin: [a-z_]+ [0-9]+: (remove|fatal)$' $T/a.log; }
is_back() { grep -q '^standin: device memory0 is back' $T/a.log; }
# told: the log has the end of an open connection, or of one that was being made
told() { grep -qE 'the device (was removed|failed)|Input/output error|No such device' $T/a.log; }
counted() { counter_is a verbs device_removals -gt 0; }

# serves_on PORT: the only worker serves it
serves_on() {
	asks beside "$1" || return
	stop beside
}

# copies: a client writes a file and reads it, and starts again until it has finished
copies() {
	until nfs_client "$V4" write file $BYTES 4 128k && nfs_client "$V4" verify file $BYTES 4; do
		pause 0.1
	done
}

# removal KIND PROFILE FAULT: removes the device by that fault
removal() {
	local what="$2, $1, $3"

	rm -f $T/release $T/*.log
	export STANDIN_RELEASE=$T/release STANDIN_DEVICES=2
	stand_in "$1" "$2" "$3"
	start_device
	asks second $SECOND_PORT || bail "no client of the second device"
	start copier copies
	check "$what: the device is removed" wait_for 20 removed
	check "$what: the log has a connection that it ended" wait_for 20 told
	case $3 in
	post_* | poll_* | *=fatal) check "$what: the connections are counted" wait_for 20 counted ;;
	esac
	check "$what: another service is served meanwhile" serves_on $OTHER_PORT
	check "$what: a client of the second device has kept its connection" alive second
	check "$what: the second device serves one more" serves_on $SECOND_PORT
	touch $T/release
	check "$what: it comes back" wait_for 20 is_back
	check "$what: a client that asks again has what it wrote" wait_for 60 has_ended copier
	stop copier
	stop second
	check "$what: every connection has ended" wait_for 20 no_connections a
	stop_proxy a
	check "$what: the worker has not stood still" logged_lines a 0 "event loop is stuck"
	check "$what: the device has had everything back" nothing_left
	mv $T/a.log "$T/$((++runs)).removed"
}
declare -i runs=0

start other "$BIN/held_call" serve 127.0.0.1 $OTHER_BACK
start_ganesha
V4="nfs://127.0.0.1/export?version=4&nfsport=$FRONT_PORT"
# The first connections belong to the second device. The others have both ends on the removed device, each in another
# state.
removals() {
	local fault
	for fault in ${FAULTS:-"${@:3}"}; do removal "$1" "$2" "$fault"; done
}
removals roce mlx5 create_cq:3=remove create_qp:4=remove modify_qp:10=remove connect:2=remove accept:2=remove \
	establish:2=remove reg_mr:5=remove post_recv:30=remove post_send:10=remove poll_cq:100=remove \
	post_send:20=fatal accept:2=fatal
removals roce bnxt_re accept:2=remove post_send:20=remove
removals iwarp irdma accept:2=remove post_send:20=remove
removals iwarp cxgb4 connect:2=remove post_send:20=remove post_send:20=fatal
finish

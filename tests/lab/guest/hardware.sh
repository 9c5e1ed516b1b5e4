#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs ./dev hardware on siw and on rxe, in its short form, with all permitted changes of the host that these devices
# support. A row fails if a result differs from the known result of the device.
# shellcheck disable=SC1010,SC1091,SC2015,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"

# expected DEVICE: prints extended regular expressions, one for each result line
expected() {
	cat <<-END
	result 1: ok( .*)?
	result 2: ok
	result 3: ok
	result 4: ok( .*)?
	result 5: ok( .*)?
	result 6: ok
	result 7: ok( .*)?
	result 8: ok
	result 9: $1
	result 10: ok \(cannot run here: function reset: a device in software has none\)
	result 11: ok( .*)?
	result 12: ok
	END
}

# results_said DEVICE: reports each result when it arrives, so that the host does not consider the guest silent
results_said() {
	local line
	while IFS= read -r line; do
		echo "$line"
		case $line in
		"result "*) say "# $1: $line" ;;
		esac
	done
}

# hardware DEVICE EXPECTED_9 OPTIONS...: runs the program
hardware() {
	local device=$1 nine=$2 status=0 n=0 line text=/run/share/hardware-$1.txt
	shift 2
	"$lab/../hardware/hardware.sh" --build "$LAB_BUILD" --quick --device "$device" --dir /mnt/hardware --output "$text" \
		--may-cut --may-reset --may-configure "$@" </dev/null | results_said "$device"
	status=${PIPESTATUS[0]}
	while read -r line; do
		n=$((n + 1))
		grep -qxE "$line" "$text" || fail "result $n: $(grep "^result $n:" "$text" || echo none)"
	done < <(expected "$nine")
	[ "$status" = 0 ] || fail "status $status"
	# The program has undone its changes, and the report has no names or addresses.
	[ ! -e "$LAB_BUILD/hardware/undo" ] || fail "not undone: $(cat "$LAB_BUILD/hardware/undo")"
	[ -z "$(ip -o link show type vlan)$(ip -o link show type veth)" ] || fail "interfaces are left: $(ip -o link show)"
	! tc qdisc show | grep -q netem || fail "packets are still dropped"
	[ -z "$(left_behind)" ] || fail "processes are left: $(left_behind)"
	[ -z "$(find /tmp -name 'rpcrdma-hardware.*')" ] || fail "files are left in /tmp"
	! grep -E '10\.(0|9)\.[0-9]|fd00:|[0-9a-f]{2}(:[0-9a-f]{2}){5}' "$text" || fail "the report has an address"
}

left_behind() { pgrep -a 'rpcrdma-|nfs_|ganesha|rping'; }

# interrupted: ends the program while it drops packets; it must undo this
interrupted() {
	local pid
	"$lab/../hardware/hardware.sh" --build "$LAB_BUILD" --quick --device siw0 --only 9 --may-drop=lo --output /run/interrupted.txt </dev/null &
	pid=$!
	wait_for 120 has_netem || fail "no packets are dropped"
	kill -TERM $pid
	wait $pid && fail "it says that all is well"
	! has_netem || fail "packets are still dropped"
	[ ! -e "$LAB_BUILD/hardware/undo" ] || fail "not undone: $(cat "$LAB_BUILD/hardware/undo")"
	[ -z "$(left_behind)" ] || fail "processes are left: $(left_behind)"
	grep -q '^interrupted' /run/interrupted.txt || fail "there is no report"
}
has_netem() { tc qdisc show dev lo | grep -q netem; }

# A row has twelve checks.
guest_start
LAB_ROW_S=1500
guest_rxe
modprobe -a sch_netem 8021q veth
# NFS-Ganesha opens files by handle, which an overlay does not support.
mkdir -p /mnt/hardware
mount -t tmpfs tmpfs /mnt/hardware
row "hardware: interrupted, it undoes what it did" interrupted
row "hardware: twelve checks on siw" hardware siw0 'ok' --may-drop=lo
row "hardware: twelve checks on rxe" hardware rxe0 'cannot run here: .* none of 5 loads passed the queue of .*' --may-drop
say done

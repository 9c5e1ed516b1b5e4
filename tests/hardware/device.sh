# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# The device of this host, and the checks that need no proxy: 1 and 2.

devices() { ls /sys/class/infiniband 2>/dev/null; }

# port_of DEVICE: prints its first active port
port_of() {
	local state
	for state in "/sys/class/infiniband/$1"/ports/*/state; do
		grep -q ACTIVE "$state" 2>/dev/null && basename "$(dirname "$state")" && return
	done
	return 1
}

# netdev_of DEVICE PORT: prints its interface; for a port of a bond the bond
netdev_of() {
	local name
	name=$(rdma link show "$1/$2" 2>/dev/null | sed -n 's/.* netdev \([^ ]*\).*/\1/p')
	[ -n "$name" ] || name=$(cat "/sys/class/infiniband/$1/ports/$2"/gid_attrs/ndevs/* 2>/dev/null | head -n 1)
	# InfiniBand has no interface without IPoIB.
	[ -n "$name" ] || name=$(find "/sys/class/infiniband/$1/device/net" -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | sort | head -n 1)
	[ -n "$name" ] || return 1
	[ ! -e "/sys/class/net/$name/master" ] || name=$(basename "$(readlink "/sys/class/net/$name/master")")
	echo "$name"
}

# address_of NETDEV 4|6 [SCOPE]: prints its first address
address_of() {
	ip -o "-$2" addr show dev "$1" scope "${3:-global}" 2>/dev/null | awk '!/ tentative/ { sub(/\/.*/, "", $4); print $4; exit }'
}

# device_find: sets device, port, netdev and address to the requested ones, or to the first that is active and has an
# address. Otherwise prints why there is none.
device_find() {
	local name wanted=${device:-$(devices)}
	for name in $wanted; do
		[ -e "/sys/class/infiniband/$name" ] || { echo "there is no RDMA device $name: there is $(devices | paste -sd ' ')"; return 1; }
		port=$(port_of "$name") || continue
		netdev=$(netdev_of "$name" "$port") || continue
		address=$(address_of "$netdev" 4)
		address=${address:-$(address_of "$netdev" 6)}
		[ -n "$address" ] || continue
		device=$name
		return
	done
	[ -n "$wanted" ] || { echo "this host has no RDMA device: /sys/class/infiniband is empty"; return 1; }
	echo "no RDMA device of $(paste -sd ' ' <<<"$wanted") has an active port and an interface with an address"
	return 1
}

is_iwarp() { grep -q RNIC "/sys/class/infiniband/$device/node_type"; }
is_software() { [ ! -e "/sys/class/infiniband/$device/device/driver" ]; }
driver_of() { if is_software; then echo software; else basename "$(readlink "/sys/class/infiniband/$device/device/driver")"; fi; }

# ---------------------------------------------------------------- 1

# Prints facts about a device, without GUIDs, GIDs and addresses. The scrubber would also remove these.
device_facts() {
	say "   Linux $(uname -r), $(uname -m), $(nproc) processors, $(free -g | awk '/^Mem/ { print $2 }') GiB"
	[ ! -r /etc/os-release ] || fact "$(. /etc/os-release && echo "$PRETTY_NAME")"
	fact "rdma-core $(dpkg-query -W -f='${Version}' libibverbs1 2>/dev/null || rpm -q --qf '%{version}-%{release}' libibverbs 2>/dev/null || echo unknown)"
	fact "device $device port $port, driver $(driver_of), $(cat "/sys/class/infiniband/$device/ports/$port/link_layer"), $(cat "/sys/class/infiniband/$device/ports/$port/rate")"
	fact "interface of kind $(interface_kind), MTU $(cat "/sys/class/net/$netdev/mtu")"
	fact "firmware: $(cat "/sys/class/infiniband/$device/fw_ver" 2>/dev/null)"
	fact "board_id: $(cat "/sys/class/infiniband/$device/board_id" 2>/dev/null)"
	fact "GIDs: $(cat "/sys/class/infiniband/$device/ports/$port"/gid_attrs/types/* 2>/dev/null | sort | uniq -c | awk '{ $1 = $1 } 1' | paste -sd ,)"
	fact "resources: $(resources)"
}
interface_kind() {
	ip -d link show dev "$netdev" | awk '$1 ~ /^(bond|vlan|dummy|ipoib|veth|bridge)$/ { print $1; found = 1; exit } END { if (!found) print "ethernet or other" }'
}
device_attributes() {
	command -v ibv_devinfo >/dev/null || { absent "attributes: ibv_devinfo is not installed (ibverbs-utils)"; return; }
	with_limit 30 ibv_devinfo -v -d "$device" >"$T/devinfo" 2>&1 || { failed "ibv_devinfo: $(tail -n 1 "$T/devinfo")"; return; }
	grep -E '^[[:space:]]*(transport|fw_ver|vendor_id|vendor_part_id|hw_ver|board_id|max_(qp|qp_wr|sge|sge_rd|cq|cqe|mr|mr_size|pd|mw|qp_rd_atom|res_rd_atom|qp_init_rd_atom|srq|ah):|max_mw|phys_port_cnt|state|max_mtu|active_mtu|link_layer|active_(width|speed)|device_cap_flags|[[:space:]]*MEM_WINDOW|[[:space:]]*MEM_MGT|[[:space:]]*(MEM|UD|BAD|PORT_ACTIVE|SYS|RC)_|general_odp_caps|completion_timestamp)|MEM_WINDOW|MEM_MGT' "$T/devinfo" |
		sed 's/[[:space:]]\+/ /g' | show
	passed "attributes"
}

# Prints a GID index for RoCE: version two with the interface's IPv4 address, if there is one.
gid_index() {
	local dir=/sys/class/infiniband/$device/ports/$port type
	for type in "$dir"/gid_attrs/types/*; do
		grep -qs v2 "$type" && grep -qs ':ffff:' "$dir/gids/$(basename "$type")" && basename "$type" && return
	done
	echo 0
}

# Both ends are on this host, so nothing else is needed.
pingpong() {
	local arguments status=0
	! is_iwarp || { absent "ibv_rc_pingpong: iWARP connects by rdma_cm only"; return; }
	command -v ibv_rc_pingpong >/dev/null || { absent "ibv_rc_pingpong is not installed (ibverbs-utils)"; return; }
	arguments=(-d "$device" -i "$port" -g "$(gid_index)" -n $((quick ? 200 : 100000)) -c)
	start pingpong with_limit 300 ibv_rc_pingpong "${arguments[@]}"
	wait_for 20 pingpong_listens
	with_limit 300 ibv_rc_pingpong "${arguments[@]}" 127.0.0.1 >"$T/pingpong.out" 2>&1 || status=$?
	stop pingpong
	[ $status = 0 ] || { failed "ibv_rc_pingpong: $(tail -n 1 "$T/pingpong.out")"; return; }
	passed "ibv_rc_pingpong: $(tail -n 1 "$T/pingpong.out")"
}
pingpong_listens() { ss -Hltn "sport = :18515" | grep -q .; }

# rdma-core's own tests of memory regions and windows, queue pairs and completion queues. Debian packages only some of
# their files.
own_tests() {
	local from=/usr/share/doc/rdma-core/tests names status=0 summary
	[ -e "$from/run_tests.py" ] || from=/usr/share/doc/rdma-core-"$(rpm -q --qf '%{version}' rdma-core 2>/dev/null)"/tests
	[ -e "$from/run_tests.py" ] || { absent "rdma-core's own tests: not installed (python3-pyverbs)"; return; }
	mkdir -p "$T/rdma-core" && cp -rL "$from" "$T/rdma-core/tests" && find "$T/rdma-core/tests" -name '*.gz' -exec gunzip -f {} + ||
		{ absent "rdma-core's own tests cannot be copied"; return; }
	names=(tests.test_mr.MRTest tests.test_mr.MWTest)
	((quick)) || names+=(tests.test_qp.QPTest tests.test_cq.CQTest tests.test_cq_events tests.test_rdmacm)
	(cd "$T/rdma-core" && with_limit 900 python3 tests/run_tests.py --dev "$device" --port "$port" -v "${names[@]}") \
		>"$T/own_tests" 2>&1 || status=$?
	sed -n 's/^\(test_[^ ]*\) .*\.\.\. \(ok\|FAIL\|ERROR\|skipped.*\)$/\1: \2/p' "$T/own_tests" | show
	summary=$(grep -E '^Ran |^OK|^FAILED' "$T/own_tests" | paste -sd ' ')
	[ -n "$summary" ] || { absent "rdma-core's own tests: $(tail -n 1 "$T/own_tests")"; return; }
	if [[ $summary =~ ^Ran\ ([0-9]+)\ .*skipped=([0-9]+) ]] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]; then
		absent "rdma-core's own tests: all were skipped"
	elif [ $status = 0 ]; then passed "rdma-core's own tests: $summary"; else failed "rdma-core's own tests: $summary"; fi
}

check_1() {
	device_facts
	device_attributes
	pingpong
	own_tests
}

# ---------------------------------------------------------------- 2

rping_waits() { ! has_ended "${pid_of[rping]}" && [ "$(resource cm_id)" -gt "$1" ]; }

check_2() {
	local count=$((quick ? 100 : 10000)) before
	command -v rping >/dev/null || { absent "rping is not installed (rdmacm-utils)"; return; }
	before=$(resource cm_id)
	if [ ${#peers[@]} = 0 ]; then
		start rping rping -s -a "$address" -p "$rping_port" -P
		wait_for 20 rping_waits "${before:-0}"
	fi
	if with_limit 300 rping -c -a "$to" -p "$rping_port" -C "$count" -S 4096 -V >"$T/rping.out" 2>&1; then
		passed "$count pings of 4096 bytes, each compared"
	else
		failed "rping: $(tail -n 1 "$T/rping.out")"
	fi
	stop rping KILL
}

# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# Check 11: the device behind a bond, on a VLAN, and by IPv6.

# through ADDRESS WHAT: runs a load through a proxy that connects to that address. With one host another proxy listens
# there. Sets load_error if it fails.
through() {
	local said status=0
	if [ ${#peers[@]} = 0 ]; then
		said=$(proxy_start extra-server "$(url "$1" "$extra_server_port")" "tcp://127.0.0.1:$serve_port") ||
			{ load_error=$(tail -n 1 <<<"$said"); show_log extra-server; proxy_stop extra-server KILL; return 1; }
	fi
	said=$(proxy_start extra "tcp://127.0.0.1:$extra_port" \
		"$(url "$1" $((${#peers[@]} ? load_server_port : extra_server_port)))") || { load_error=$(tail -n 1 <<<"$said"); status=1; }
	[ $status != 0 ] || load "$extra_port" -w write:65536 -n 8 -k 4 -t $((quick ? 2 : 20)) || status=1
	[ $status != 0 ] || grep -q 'over verbs' "$proxy_dir/extra.log" || { load_error="no connection went over verbs"; status=1; }
	[ $status = 0 ] || show_log extra
	proxy_stop extra KILL
	proxy_stop extra-server KILL
	return $status
}

ipv6() {
	local target
	if [ ${#peers[@]} = 0 ]; then
		target=$(address_of "$netdev" 6)
		[ -n "$target" ] || { target=$(address_of "$netdev" 6 link) && target=${target:+$target%$netdev}; }
		[ -n "$target" ] || { absent "IPv6: $netdev has no address of it"; return; }
		if through "$target"; then passed "IPv6"; else failed "IPv6: $load_error"; fi
		return
	fi
	for target in "${peers[@]:1}"; do
		if through "$target"; then passed "another address of the peer"; else failed "another address of the peer: $load_error"; fi
	done
	[ ${#peers[@]} != 1 ] || absent "IPv6: no further --peer ADDRESS names one"
}

vlan_delete() { [ ! -e "/sys/class/net/$1" ] || ip link delete "$1"; }

vlan() {
	local name=rpcrdma-vlan
	((may_configure)) || { absent "VLAN: --may-configure was not given"; return; }
	[ ${#peers[@]} = 0 ] || { absent "VLAN: with two hosts make one on both, and name its address by a further --peer"; return; }
	modprobe -q 8021q
	undo_add vlan_delete $name
	if ! ip link add link "$netdev" name $name type vlan id 3999 2>"$T/vlan"; then
		absent "VLAN: $netdev takes none: $(tail -n 1 "$T/vlan")"
	elif ! { ip addr add 198.18.1.1/30 dev $name && ip link set $name up; }; then
		failed "VLAN: the interface cannot be set up"
	elif ! wait_for 10 vlan_is_of_device 198.18.1.1; then
		absent "VLAN: the device takes no address of it"
	elif through 198.18.1.1; then
		passed "VLAN"
	else
		failed "VLAN: $load_error"
	fi
	undo_done vlan_delete $name
}
# On RoCE the address becomes a GID; iWARP has no GIDs.
vlan_is_of_device() { is_iwarp || grep -qs 'c612:0101' "/sys/class/infiniband/$device/ports/$port"/gids/*; }

# The other interface of a bond becomes active, under load.
bond_other() {
	local now slave
	now=$(cat "/sys/class/net/$netdev/bonding/active_slave")
	tr ' ' '\n' <"/sys/class/net/$netdev/bonding/slaves" | grep -vxF -m 1 -e "$now"
}
bond_choose() { ip link set "$1" type bond active_slave "$2"; }
bonding() {
	local first other
	[ -e "/sys/class/net/$netdev/bonding" ] || { absent "bonding: $netdev is no bond"; return; }
	((may_configure)) || { absent "bonding: --may-configure was not given"; return; }
	first=$(cat "/sys/class/net/$netdev/bonding/active_slave")
	other=$(bond_other)
	[ -n "$first" ] && [ -n "$other" ] || { absent "bonding: there is no second interface to become the active one"; return; }
	mark $(proxies load load-server)
	mark_logs
	load_start bond 127.0.0.1 "$load_port" -w write:65536 -n 4 -k 4 -t $((quick ? 5 : 30)) -W 60 -g && load_goes_on bond || { failed "bonding: a load does not begin"; return; }
	pause 1
	undo_add bond_choose "$netdev" "$first"
	bond_choose "$netdev" "$other" || failed "bonding: the active interface cannot be changed"
	load_ended bond
	figure_line load address_changes connections_opened
	told 'address|lost|listens'
	if goes_on bonding; then passed "bonding: the active interface changed under load, and all is served"; fi
	undo_done bond_choose "$netdev" "$first"
	goes_on "bonding, back" || true
}

check_11() {
	bonding
	vlan
	ipv6
}

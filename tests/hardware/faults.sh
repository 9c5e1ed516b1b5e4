# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# The checks with faults: 8 (an idle hour and a pulled cable), 9 (lost packets), 10 (reset and reload). They change this
# host only with an option that permits it, and undo their changes.

# goes_on WHAT: after the time in which all ends notice a fault, a new connection is served, and all earlier ones have
# ended
goes_on() {
	local name
	for name in $(proxies load load-server); do
		proxy_lives "$name" || { failed "$1: the proxy $name has died"; show_log "$name"; return 1; }
	done
	if ! wait_for 180 load "$load_port" -w write:65536 -n 4 -t 1; then
		failed "$1: nothing is served afterwards: $load_error"
		show_log load
		return 1
	fi
	drained $(proxies load load-server)
}

# told PATTERN: prints the first lines of the proxies' logs since mark_logs that match
mark_logs() { for name in $(proxies load load-server); do wc -l <"$proxy_dir/$name.log" >"$T/$name.lines"; done; }
told() {
	local name
	for name in $(proxies load load-server); do
		tail -n +$(($(cat "$T/$name.lines") + 1)) "$proxy_dir/$name.log" | grep -E "$1" | head -n 4 | cut -c1-200 | sed "s/^/$name: /"
	done | show
}

# load_ended NAME: prints whether a load ended successfully, which is not required
load_ended() {
	load_says "$1"
	if load_ends "$1"; then fact "its connections stayed"; else fact "its connections ended: $(tail -n 1 "$T/$1.err")"; fi
}

# ---------------------------------------------------------------- 8

idle() {
	local seconds=$((quick ? 20 : minutes * 60)) begin=$SECONDS said_at=0 probes
	mark $(proxies load load-server)
	load_start idle 127.0.0.1 "$load_port" -w getattr -k 8 -t 2 -d 0 -W 60 -g || { failed "8 connections: $(tail -n 1 "$T/idle.err")"; return; }
	while ((SECONDS - begin < seconds)); do
		pause 1
		((SECONDS - begin - said_at < 600)) || { said_at=$((SECONDS - begin)); printf '   %d of %d minutes\n' $((said_at / 60)) $((seconds / 60)); }
	done
	probes=$(grown load probes)
	load_goes_on idle && load_says idle
	if load_ends idle; then
		passed "8 connections were idle for $seconds s, with $probes probes, and served afterwards"
	else
		failed "8 connections did not outlive $seconds s without Calls: $(tail -n 1 "$T/idle.err")"
		show_log load
	fi
	[ "$(grown load probes_unanswered)" = 0 ] || failed "probes were not answered"
}

# cable out|in: fails if there is nobody who can do it
cable() {
	if ((may_cut)); then
		if [ "$1" = out ]; then
			link_save "$netdev"
			undo_add link_restore "$netdev"
			ip link set dev "$netdev" down
		else
			undo_done link_restore "$netdev"
		fi
	elif [ "$1" = out ]; then
		ask "pull the cable of $netdev"
	else
		ask "plug it in again, wait until its light is on"
	fi
}

cut_cable() {
	local begin
	((may_cut)) || [ -t 0 ] || { absent "a pulled cable: nobody is there to pull it, and --may-cut was not given"; return; }
	mark_logs
	load_start cut 127.0.0.1 "$load_port" -w write:65536 -n 4 -k 4 -t 1000 -W 900 -g && load_goes_on cut || { failed "a load does not begin"; return; }
	cable out || { failed "the link cannot be set down"; return; }
	begin=$SECONDS
	# If the cable connected both ends, both have closed the connection by then.
	while ((SECONDS - begin < (quick ? 5 : 150))) && ! has_ended "${pid_of[cut]}"; do pause 1; done
	if has_ended "${pid_of[cut]}"; then
		fact "the load's connections ended $((SECONDS - begin)) s after the cut: $(tail -n 1 "$T/cut.err")"
		told 'closed|lost|not answer'
	else
		fact "after $((SECONDS - begin)) s the load goes on: within one host a device may need no cable"
		kill -KILL "${pid_of[cut]}"
	fi
	load_ends cut >/dev/null 2>&1
	cable in || { failed "the link cannot be set up"; return; }
	! goes_on "after the cut" || passed "the cable was out, and all is served again"
}

check_8() {
	idle
	cut_cable
}

# ---------------------------------------------------------------- 9

drop_end() { ! tc qdisc show dev "$1" | grep -q netem || tc qdisc del dev "$1" root; }
netem_dropped() { tc -s qdisc show dev "$1" | awk '/netem/ { on = 1 } on && /dropped/ { sub(/.*dropped /, ""); sub(/,.*/, ""); print; exit }'; }

check_9() {
	local loss=$((quick)) percent dropped=0 turn rate_without rate_with interface=${may_drop:-}
	percent=0.01%
	((loss == 0)) || percent=0.5%
	[ -n "$interface" ] || { absent "lost packets: --may-drop was not given"; return; }
	[ "$interface" != device ] || interface=$netdev
	load "$load_port" -w write:65536 -n 8 -t $((quick ? 2 : 10)) || { failed "without loss: $load_error"; return; }
	rate_without=$(load_figure ops_per_s)
	if tc qdisc show dev "$interface" | grep ' root ' | grep -qvE '^qdisc (noqueue|mq|fq_codel|fq|pfifo_fast|pfifo) '; then
		absent "lost packets: $interface has a queueing discipline of its own, which this would replace"
		return
	fi
	modprobe -q sch_netem
	undo_add drop_end "$interface"
	tc qdisc add dev "$interface" root netem limit 100000 loss $percent 2>"$T/tc" || tc qdisc replace dev "$interface" root netem limit 100000 loss $percent 2>"$T/tc" ||
		{ absent "lost packets: $(tail -n 1 "$T/tc")"; undo_forget drop_end "$interface"; return; }
	mark load
	for turn in 1 2 3 4 5; do
		load "$load_port" -w write:65536 -n 8 -k 4 -t $((quick ? 5 : 30)) || break
		dropped=$(netem_dropped "$interface")
		((dropped < 3)) || break
	done
	rate_with=$(load_figure ops_per_s)
	undo_done drop_end "$interface"
	if [ -z "$load_json" ]; then
		failed "with $percent loss: $load_error"
		show_log load
	elif ((dropped == 0)); then
		absent "lost packets: none of $turn loads passed the queue of $interface, as that of a device in hardware never does: have a switch drop them"
	else
		fact "$rate_without WRITEs of 64 KiB a second without, $rate_with with loss"
		passed "$dropped packets were dropped on $interface ($percent), and no connection was lost"
	fi
	drained $(proxies load load-server) || true
}

# ---------------------------------------------------------------- 10

# RDMA connections may close under load; those of the TCP service must not.
under_load_begin() {
	mark_logs
	load_start rdma 127.0.0.1 "$load_port" -w write:65536 -n 4 -k 4 -t 1000 -W 900 -g && load_goes_on rdma &&
		load_start beside 127.0.0.1 "$beside_port" -w getattr -n 4 -t $((quick ? 20 : 60)) -W 60 -g && load_goes_on beside || {
		failed "a load does not begin"
		return 1
	}
}
# under_load_end WHAT
under_load_end() {
	local left=${pid_of[rdma]}
	if has_ended "$left"; then fact "RDMA connections ended: $(tail -n 1 "$T/rdma.err")"; fi
	kill -KILL "$left" 2>/dev/null
	load_ends rdma >/dev/null 2>&1
	load_says beside
	if load_ends beside; then passed "$1: TCP connections of the same daemon went on"; else failed "$1: TCP connections beside: $(tail -n 1 "$T/beside.err")"; fi
	told 'lost|removed|listens|closed'
}

port_is_active() { grep -q ACTIVE "/sys/class/infiniband/$device/ports/$port/state" 2>/dev/null; }

function_reset() {
	local reset=/sys/class/infiniband/$device/device/reset
	[ -w "$reset" ] || { absent "function reset: this device has none"; return; }
	link_save "$netdev"
	undo_add link_restore "$netdev"
	under_load_begin || return
	if ! echo 1 >"$reset"; then
		absent "function reset: the kernel refuses it"
	elif ! wait_for 180 port_is_active; then
		failed "function reset: the port is not active afterwards"
	fi
	undo_done link_restore "$netdev"
	under_load_end "function reset"
	! goes_on "function reset" || passed "function reset: all is served again"
}

# A driver reload would destroy what uses the interface: VLANs, bridges, or a bond.
carries_others() { [ -e "/sys/class/net/$netdev/bonding" ] || compgen -G "/sys/class/net/$netdev/upper_*" >/dev/null; }

# driver_bind DRIVER FUNCTION: undoes an unbind
driver_bind() { [ -e "/sys/bus/pci/drivers/$1/$2" ] || echo "$2" >"/sys/bus/pci/drivers/$1/bind"; }

driver_reload() {
	local driver function
	driver=$(driver_of)
	function=$(basename "$(readlink "/sys/class/infiniband/$device/device")")
	[ -e "/sys/bus/pci/drivers/$driver/$function" ] || { absent "driver reload: $driver has no PCI function"; return; }
	! carries_others || { absent "driver reload: $netdev belongs to a bond, or carries VLANs or a bridge, which would be lost"; return; }
	link_save "$netdev"
	undo_add link_restore "$netdev"
	undo_add driver_bind "$driver" "$function"
	under_load_begin || return
	echo "$function" >"/sys/bus/pci/drivers/$driver/unbind" || failed "driver reload: unbind fails"
	pause $((quick ? 1 : 5))
	undo_done driver_bind "$driver" "$function"
	undo_done link_restore "$netdev" || failed "driver reload: the interface does not come back"
	wait_for 180 port_is_active || failed "driver reload: the port is not active afterwards"
	under_load_end "driver reload"
	! goes_on "driver reload" || passed "driver reload: all is served again"
}

# Removing a software device waits for every process that has it open. So proxies are stopped after they have closed its
# connections, and started again.
software_add() { [ -e "/sys/class/infiniband/$1" ] || rdma link add "$1" type "$2" netdev "$3"; }
# Runs while the loads end, so their input must be closed.
software_delete() {
	local fd
	for fd in "${load_in[@]}"; do exec {fd}>&-; done
	exec rdma link delete "$device"
}
load_connections() { proxy_says load -j connections | figures --count connections service=load; }
has_no_load() { [ "$(load_connections)" = 0 ]; }
software_reload() {
	local type removal name names
	case $device in
	siw*) type=siw ;;
	*) type=rxe ;;
	esac
	undo_add software_add "$device" "$type" "$netdev"
	under_load_begin || return
	software_delete &
	removal=$!
	if wait_for 60 has_no_load; then
		passed "removal: connections ended at once"
	else
		failed "removal: connections stay without a device"
	fi
	under_load_end removal
	names=$(proxies load-server files-server load plain files)
	for name in $names; do proxy_stop "$name" KILL; done
	wait $removal || failed "the device cannot be removed"
	undo_done software_add "$device" "$type" "$netdev"
	wait_for 60 port_is_active || failed "the port is not active afterwards"
	for name in $names; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			proxy_again "$name"
			proxy_ready "$name" && break
		done
	done
	! goes_on "removal" || passed "removal: all is served again by proxies that were started anew, as devices in software demand"
}

check_10() {
	((may_reset)) || { absent "reset and reload: --may-reset was not given"; return; }
	if is_software; then
		absent "function reset: a device in software has none"
		software_reload
	else
		function_reset
		driver_reload
	fi
}

# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# The checks that make many connections: 6 churn, 12 a thousand and ten thousand.

# in_use: prints the resources that connections could leak: queue pairs and connection ids of the device, descriptors of
# our proxies
in_use() {
	local name text
	text="qp $(resource qp), cm_id $(resource cm_id)"
	for name in $(proxies load load-server); do text+=", $name $(find "/proc/$(proxy_pid "$name")/fd" -mindepth 1 | wc -l) descriptors"; done
	echo "$text"
}
in_use_is() { [ "$(in_use)" = "$1" ]; }

check_6() {
	local seconds=$((quick ? 5 : 300)) before opened
	# Creates first what is created only once.
	load "$load_port" -w connect -n 16 -d 0 -t 1 && drained $(proxies load load-server) || { failed "${load_error:-connections stay}"; return; }
	before=$(in_use)
	mark $(proxies load load-server)
	if ! load "$load_port" -w connect -n 16 -t "$seconds"; then
		failed "connections that come and go: $load_error"
		show_log load
		return
	fi
	opened=$(load_figure opened)
	fact "$opened connections, $(load_figure connect_per_s) a second, 16 at once"
	drained $(proxies load load-server) || return
	if wait_for 30 in_use_is "$before"; then
		passed "$opened connections came and went, and left nothing: $before"
	else
		failed "$opened connections have left something: before $before; now $(in_use)"
	fi
}

# ---------------------------------------------------------------- 12

# locked NAME: prints the KiB that a proxy has locked and pinned
locked() { awk '/^Vm(Lck|Pin)/ { n += $2 } END { print n + 0 }' "/proc/$(proxy_pid "$1")/status"; }

# interrupts: prints the device's number of interrupts, by the names that drivers use: the driver, the interface or the
# PCI function. A device in software has none.
interrupts() {
	local function driver
	! is_software || { echo 0; return; }
	function=$(basename "$(readlink "/sys/class/infiniband/$device/device")")
	driver=$(driver_of)
	awk -v one="$function" -v two="${driver%%_*}" -v three="$netdev" 'NR == 1 { n = NF; next }
		index($0, one) || index($0, two) || index($0, three) { for (i = 2; i <= n + 1; i++) sum += $i } END { print sum + 0 }' /proc/interrupts
}

# enough_memory CONNECTIONS: there are 704 KiB per connection and side, as in the manual
enough_memory() {
	local sides=$((${#peers[@]} ? 1 : 2)) there
	needed_mib=$(($1 * 704 * sides / 1024))
	there=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
	((needed_mib < there * 3 / 4)) || { absent "$1 connections: they may need $needed_mib MiB, and $there MiB are available"; return 1; }
}

# many CONNECTIONS: opens them and checks them
many() {
	local count=$1 begin=$SECONDS before name
	enough_memory "$count" || return 0
	before=$(interrupts)
	fact "without: $(resources)"
	mark $(proxies load load-server)
	if ! load_start many 127.0.0.1 "$load_port" -w idle -k "$count" -W 300; then
		failed "$count connections: $(tail -n 1 "$T/many.err")"
		show_log load
		return
	fi
	fact "$count connections after $((SECONDS - begin)) s: $(resources)"
	for name in $(proxies load load-server); do
		fact "$name: $(locked "$name") KiB locked and pinned, $(awk '/^VmRSS/ { print $2 }' "/proc/$(proxy_pid "$name")/status") KiB resident"
	done
	fact "interrupts while they came: $(($(interrupts) - before)), events of completion queues: $(grown load completion_events)"
	if ! load "$load_port" -w getattr -n 8 -t $((quick ? 1 : 10)); then
		failed "beside $count connections: $load_error"
		load_ends many >/dev/null 2>&1
		return
	fi
	fact "beside them $(load_figure ops_per_s) GETATTRs a second, 99 % within $(load_figure p99_us) us"
	load_ends many || { failed "$count connections did not all stay: $(tail -n 1 "$T/many.err")"; return; }
	drained $(proxies load load-server) || return
	fact "after them: $(resources)"
	passed "$count connections came, stayed and went"
}

check_12() {
	local count
	for count in $( ((quick)) && echo 10 40 || echo 1000 10000); do many "$count"; done
}

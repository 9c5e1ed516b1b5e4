# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# The checks that move data: 3 (a Linux client), 4 and 5 (memory keys), 7 (deep WRITEs).

# ---------------------------------------------------------------- 3

has_nfs_rdma() { modprobe -q rpcrdma || [ -e /proc/net/rpc/svc_rdma ] || grep -qs '^rpcrdma ' /proc/modules; }

mount_end() { ! grep -q " $T/mnt " /proc/self/mounts || umount "$T/mnt" 2>/dev/null || umount -f -l "$T/mnt"; }

# mount_nfs PROTO ADDRESS PORT
mount_nfs() {
	mkdir -p "$T/mnt"
	[[ $2 != *:* ]] || set -- "$1" "[$2]" "$3"
	with_limit 120 mount -t nfs -o "vers=4.1,proto=$1,port=$3,hard,timeo=$(limit_s 300),retrans=3,retry=0" "$2:$nfs_path" "$T/mnt" \
		>"$T/mount.out" 2>&1
}

# files_round SEED BYTES MOUNT...: writes files, mounts again so that nothing is cached, and compares
files_round() {
	local seed=$1 bytes=$2 run=$T/mnt/rpcrdma-hardware.$1
	shift 2
	mount_nfs "$@" || { echo "mount: $(head -n 1 "$T/mount.out")"; return 1; }
	rm -rf "$run" "$T/journal"
	mkdir "$run" && with_limit -o 300 "$build/tests/lab/lab_work" load "$run" "$seed" "$bytes" "$T/journal" 8 >"$T/work.out" 2>&1 ||
		{ echo "writing: $(tail -n 1 "$T/work.out")"; return 1; }
	umount "$T/mnt" && mount_nfs "$@" || { echo "mounting again: $(head -n 1 "$T/mount.out")"; return 1; }
	with_limit 3600 "$build/tests/lab/lab_work" verify "$run" "$seed" "$T/journal" >"$T/work.out" 2>&1 ||
		{ echo "comparing: $(tail -n 1 "$T/work.out")"; return 1; }
	rm -r "$run"
	umount "$T/mnt" || { echo "umount fails"; return 1; }
}

# files_compared WHAT PROXY MIB MOUNT...: writes and compares in rounds of at most 1 GiB, to limit the server's disk
# space. Without PROXY the proxy is on the second host, and its bytes are not counted.
files_compared() {
	local what=$1 proxy=$2 left=$3 mib=$3 round=0 said before after
	shift 3
	before=$([ -z "$proxy" ] || proxy_bytes "$proxy")
	while ((left > 0)); do
		round=$((round + 1))
		if ! said=$(files_round $((100 + round)) $((left < 1024 ? left << 20 : 1 << 30)) "$@"); then
			failed "$what: $said"
			[ -z "$proxy" ] || show_log "$proxy"
			mount_end
			return
		fi
		left=$((left - 1024))
	done
	after=$([ -z "$proxy" ] || proxy_bytes "$proxy")
	if [ -n "$proxy" ] && ((after - before < mib << 21)); then
		failed "$what: only $((after - before)) bytes went through the proxy"
	else
		passed "$what: $mib MiB written, read back and compared"
	fi
}

check_3() {
	local mib=$((quick ? 4 : 5120)) proxy
	[ -z "$files_missing" ] || { absent "$files_missing"; return; }
	command -v mount.nfs >/dev/null || { absent "mount.nfs is not installed (nfs-common)"; return; }
	modprobe -q nfs
	files_compared "a client over TCP, the proxies' RDMA" files $mib tcp 127.0.0.1 "$files_port"
	proxy=$(proxies files-server)
	if ! has_nfs_rdma; then
		absent "a client over RDMA: this kernel has no module rpcrdma"
	else
		files_compared "a client over Linux's own RDMA" "$proxy" $mib rdma "$to" "$files_server_port"
	fi
}

# ---------------------------------------------------------------- 4 and 5

calls_in_flight=$((quick ? 4 : 16))

# keys_lent PROXY: prints the RPCs with exposed memory, by either method
keys_lent() { echo $(($(grown "$1" windows_bound) + $(grown "$1" regions_lent))); }

# rpcs_with_chunks PROXY PORT COUNT: makes READs and WRITEs in equal parts, with 8 KiB in a chunk each
rpcs_with_chunks() {
	mark "$1"
	rpcs "$2" $(($3 / 2)) read:8192 $calls_in_flight || return 1
	chunks_done=$rpcs_done
	rpcs "$2" $(($3 / 2)) write:8192 $calls_in_flight || return 1
	chunks_done=$((chunks_done + rpcs_done))
	figure_line "$1" windows_bound regions_lent peer_invalidations connections_opened
	(($(keys_lent "$1") >= chunks_done / 2)) || { load_error="of $chunks_done RPCs only $(keys_lent "$1") lent memory"; return 1; }
}

check_4() {
	local count=$((quick ? 2000 : 1000000)) bound
	fact "what this is for: binding a memory window again after we invalidated it ourselves. On mlx5 nobody has seen whether the"
	fact "device accepts the next variant of the key then (doc/peer-quirks.md, \"To be tried first on mlx5\"); if it does not, the second RPC"
	fact "on a window ends the connection with a memory bind or protection error, and memory_windows = \"off\" is the way out"
	if ! rpcs_with_chunks plain "$plain_port" "$count"; then
		failed "$load_error"
		show_log plain
		return
	fi
	bound=$(grown plain windows_bound)
	[ "$(grown plain peer_invalidations)" = 0 ] || failed "the server invalidated keys, although that was not offered"
	found_line plain
	if ! has_windows plain; then
		passed "$chunks_done RPCs, each compared, with registrations"
		absent "binding windows again: the device has no memory windows"
	elif ((bound / calls_in_flight < 256)); then
		failed "$bound bindings are fewer than 256 of each of $calls_in_flight windows"
	else
		passed "$chunks_done RPCs, each compared; $bound bindings of no more than $calls_in_flight windows at once: $((bound / calls_in_flight)) each"
	fi
}

check_5() {
	local count=$((quick ? 1000 : 200000)) taken
	if rpcs_with_chunks plain "$plain_port" "$count"; then
		passed "without: $chunks_done RPCs, each compared; we invalidated all keys"
	else
		failed "without remote invalidation: $load_error"
		show_log plain
	fi
	if ! rpcs_with_chunks load "$load_port" "$count"; then
		failed "with remote invalidation: $load_error"
		show_log load
		return
	fi
	taken=$(grown load remote_invalidations_received)
	if ((taken * 2 >= chunks_done)); then
		passed "with: $chunks_done RPCs, each compared; the server invalidated $taken keys"
	elif ((taken == 0)) && ! has_windows load; then
		absent "with: without memory windows no key is offered for invalidation"
	else
		failed "with remote invalidation: the server invalidated $taken keys of $chunks_done RPCs"
	fi
}

# ---------------------------------------------------------------- 7

# Prints the seconds until each of these buffers has been used six times, at most 100.
deep_seconds() {
	local rate
	load "$load_port" -w write:1048576 -n "$1" -t 2 || return 1
	rate=$(($(load_figure bytes_per_s) >> 20))
	deep_s=$((6 * $1 / (rate > 0 ? rate : 1)))
	((deep_s >= (quick ? 4 : 80))) || deep_s=$((quick ? 4 : 80))
	((deep_s <= 100)) || deep_s=100
}

check_7() {
	local depth=$((quick ? 32 : 64)) deep_s registered grown_by proxy
	deep_seconds $depth || { failed "deep WRITEs: $load_error"; return; }
	# First registrations do not matter; the second half must register nothing.
	load_start deep 127.0.0.1 "$load_port" -w write:1048576 -n $depth -t "$deep_s" -d $((deep_s * 500)) -g -W 60 &&
		mark $(proxies load load-server) && load_goes_on deep || { failed "deep WRITEs: $(tail -n 1 "$T/deep.err")"; return; }
	pause $((deep_s * 3 / 4))
	registered=$(proxy_count load slabs_registered)
	load_json=
	load_says deep && load_json=$said
	grown_by=$(($(proxy_count load slabs_registered) - registered))
	if ! load_ends deep; then
		failed "deep WRITEs: $(tail -n 1 "$T/deep.err")"
		show_log load
		return
	fi
	for proxy in $(proxies load load-server); do figure_line "$proxy" slabs_registered reads_waited sends_waited key_waits memory_waits; done
	fact "$(($(load_figure bytes_per_s) >> 20)) MiB a second with $depth WRITEs of 1 MiB in flight"
	if [ $grown_by = 0 ]; then
		passed "slabs_registered stayed at $registered"
	else
		failed "slabs_registered has grown by $grown_by in the second half, from $registered"
	fi
	[ -z "$(proxies load-server)" ] || ord_limit
}

# The server Reads the data: it needs more concurrent Reads than the client permits (IRD and ORD).
ord_limit() {
	if [ "$(grown load-server reads_waited)" -gt 0 ]; then
		passed "RDMA Reads waited at the ORD limit"
	else
		absent "the ORD limit was not reached: no RDMA Read waited"
	fi
}

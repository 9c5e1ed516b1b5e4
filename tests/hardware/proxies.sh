# shellcheck shell=bash disable=SC1090,SC1091,SC2015,SC2016,SC2034,SC2046,SC2154 # hardware.sh sources it and sets what it uses
# SPDX-License-Identifier: BSD-3-Clause
# The proxies that the checks use, and the servers behind them.
#
#	nfs_load, mount ──TCP──▶ load, plain, files ══verbs══▶ load-server, files-server ──TCP──▶ nfs_serve, NFS server
#
# With one host all programs run on it, and the verbs traffic passes its device twice. With two hosts the servers' side
# runs on the second one (./dev hardware --serve). "plain" does not permit remote invalidation, like a client of
# Solaris.

# Ports, from --port on.
ports_set() {
	load_server_port=$1 files_server_port=$(($1 + 1)) serve_port=$(($1 + 2))
	load_port=$(($1 + 3)) files_port=$(($1 + 4)) plain_port=$(($1 + 5)) beside_port=$(($1 + 6))
	rping_port=$(($1 + 7)) extra_port=$(($1 + 8)) extra_server_port=$(($1 + 9))
}

# The NFS server behind files-server: that of --nfs, or an NFS-Ganesha in a separate network namespace, which ends with
# it.
files_server_start() {
	if [ -n "$nfs" ]; then
		nfs_path=${nfs#*:/} nfs_path=/$nfs_path
		proxy_start files-server "$(url "$1" "$files_server_port")" "tcp://${nfs%%:/*}:2049" "$server_keys"
		return
	fi
	nfs_path=/export
	command -v ganesha.nfsd >/dev/null || { echo "NFS-Ganesha is not installed"; return 1; }
	mkdir -p "$dir/export" && chmod 777 "$dir/export" || return 1
	modprobe -q veth
	mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && ip netns add server &&
		ip link add rpcrdma-hw type veth peer name veth0 netns server &&
		ip addr add 198.18.0.1/30 dev rpcrdma-hw && ip link set rpcrdma-hw up &&
		ip -n server addr add 198.18.0.2/30 dev veth0 && ip -n server link set veth0 up ||
		{ echo "no network namespace for NFS-Ganesha can be made"; return 1; }
	start ganesha ip netns exec server bash "$here/nfs_server.sh" "$build" "$dir/export"
	wait_for 60 eval 'grep -q "^ready" "$T/ganesha.log" || has_ended "${pid_of[ganesha]}"'
	grep -q '^ready' "$T/ganesha.log" || { echo "NFS-Ganesha does not start: $(tail -n 1 "$T/ganesha.log")"; return 1; }
	proxy_start files-server "$(url "$1" "$files_server_port")" tcp://198.18.0.2:2049 "$server_keys"
}

# servers_start ADDRESS: starts the servers' side, which listens there. The server of files may be missing:
# files_missing has the reason.
servers_start() {
	local said
	server_start serve -a 127.0.0.1 "$serve_port" || return 1
	proxy_start load-server "$(url "$1" "$load_server_port")" "tcp://127.0.0.1:$serve_port" "$server_keys" >"$T/start.log" ||
		bail "$(tail -n 1 "$T/start.log")" || return 1
	files_missing=
	files_server_start "$1" >"$T/start.log" || files_missing=$(tail -n 1 "$T/start.log")
}

# clients_start ADDRESS: starts the clients' side, which connects there. load also has a service from TCP to TCP.
clients_start() {
	local said
	proxy_start load "tcp://127.0.0.1:$load_port" "$(url "$1" "$load_server_port")" \
		"max_connections = 10200; require_privileged_port = false; },
		  { name = \"beside\"; listen = \"tcp://127.0.0.1:$beside_port\"; connect = \"tcp://127.0.0.1:$serve_port\"; source_port = \"any\";" &&
		proxy_start plain "tcp://127.0.0.1:$plain_port" "$(url "$1" "$load_server_port")" 'peer = "solaris";' &&
		proxy_start files "tcp://127.0.0.1:$files_port" "$(url "$1" "$files_server_port")"
}

# all_start: starts both sides, or ours. Fails, with a failed part, if a proxy does not start.
all_start() {
	files_missing=
	if [ ${#peers[@]} = 0 ]; then
		servers_start "$address" || return 1
	else
		nfs_path=/export
		[ -z "$nfs" ] || nfs_path=/${nfs#*:/}
		server_start serve -a 127.0.0.1 "$serve_port" || return 1
	fi
	clients_start "$to" >"$T/start.log" || bail "$(tail -n 1 "$T/start.log")"
}

# proxies NAME...: prints those of them that run here
proxies() {
	local name
	for name; do [ ! -e "$proxy_dir/$name.pid" ] || echo "$name"; done
}

# has_windows NAME: the device has memory windows, as that proxy found with its first connection. found_line NAME:
# prints its log line
has_windows() { grep -q "device $device has memory windows" "$proxy_dir/$1.log"; }
found_line() { fact "$(grep -o "device $device .*memory windows.*" "$proxy_dir/$1.log" | head -n 1)"; }

# serve: runs the second host's part, until Ctrl-C
serve() {
	say "== the second host: $device"
	servers_start :: || return 1
	[ -z "$files_missing" ] || fact "check 3 will fail: $files_missing"
	if command -v rping >/dev/null; then
		start rping rping -s -P -a "$address" -p "$rping_port"
	else
		fact "check 2 will fail: rping is not installed (rdmacm-utils)"
	fi
	trap 'show_log load-server; show_log files-server; say "interrupted: the servers end"; exit 0' INT TERM HUP
	fact "the first host may begin: ./dev hardware --peer $address"
	fact "Ctrl-C ends this"
	while proxy_lives load-server; do pause 1; done
	failed "load-server has ended"
	show_log load-server
	return 1
}

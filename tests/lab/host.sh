# SPDX-License-Identifier: BSD-3-Clause
# The host's side of a boot, sourced by run.sh. It starts proxies and an NFS-Ganesha, which guests reach as 10.0.2.2,
# and runs commands for the guest (`host` in guest/lib.sh). Needs: here, out, build, tier.
LAB_BUILD=$build
. "$here/wait.sh"

# ganesha_config NFS_PORT MOUNT_PORT FOLDER NFSV4...: FOLDER keeps the state of its clients; NFSV4 is added to the NFSV4
# block
ganesha_config() {
	local dir=$out/ganesha
	cat <<-CONF
	NFS_CORE_PARAM { Protocols = 3, 4; NFS_Port = $1; MNT_Port = $2; Enable_NLM = false; Enable_RQUOTA = false;
		Enable_UDP = false; mount_path_pseudo = true; }
	NFSv4 { Minor_Versions = 0, 1, 2; RecoveryBackend = fs; RecoveryRoot = "$dir/$3"; ${*:4} }
	EXPORT { Export_Id = 1; Path = $dir/export; Pseudo = /export; Access_Type = RW; Squash = No_Root_Squash;
		SecType = sys; Transports = TCP; Protocols = 3, 4; PrivilegedPort = true; FSAL { Name = VFS; } }
	EXPORT { Export_Id = 2; Path = $dir/open; Pseudo = /open; Access_Type = RW; Squash = No_Root_Squash;
		SecType = sys; Transports = TCP; Protocols = 3, 4; PrivilegedPort = false; FSAL { Name = VFS; } }
	LOG { Default_Log_Level = EVENT; }
	CONF
}

ganesha_start() {
	local dir=$out/ganesha
	rm -rf "$dir"
	mkdir -p "$dir/export" "$dir/open" "$dir/recovery" "$dir/nodes"
	chmod 1777 "$dir/export" "$dir/open"
	ganesha_config 2149 20148 recovery "Graceless = true;" >"$dir/ganesha.conf"
	# Two servers with the same state, of which one runs at a time.
	ganesha_config 2151 20151 nodes "Grace_Period = 5; Lease_Lifetime = 10;" >"$dir/node1.conf"
	ganesha_config 2152 20152 nodes "Grace_Period = 5; Lease_Lifetime = 10;" >"$dir/node2.conf"
	[ $tier != full ] || "$LAB_BUILD/tests/lab/lab_work" make "$dir/export/ten-thousand" 10000
	pidof rpcbind >/dev/null || rpcbind -w
	node_start ganesha
}

# node_start NAME: starts NFS-Ganesha with NAME.conf, also after a kill, and waits until it listens.
node_start() {
	local dir=$out/ganesha port
	port=$(sed -n 's/.*NFS_Port = \([0-9]*\).*/\1/p' "$dir/$1.conf")
	ganesha.nfsd -F -L "$dir/$1.log" -f "$dir/$1.conf" -p "$dir/$1.lock" >/dev/null 2>&1 &
	echo $! >"$dir/$1.pid"
	disown
	wait_for 30 accepts "$port" || { echo "# NFS-Ganesha does not start: $(tail -1 "$dir/$1.log")"; return 1; }
}

is_dead() { ! grep -qs '^State:.[^ZX]' "/proc/$1/status"; }

node_kill() {
	local pid
	pid=$(cat "$out/ganesha/$1.pid" 2>/dev/null) || return 0
	kill -KILL "$pid" 2>/dev/null
	# Its parent may collect it later. A zombie has no socket.
	wait_for 60 is_dead "$pid" || { echo "NFS-Ganesha does not end"; return 1; }
	rm -f "$out/ganesha/$1.pid"
}

ganesha_restart() {
	node_kill ganesha
	node_start ganesha
}

# host_start SHARE: starts the servers that this guest needs, and the process that runs its commands.
host_start() {
	share=$1
	proxy_dir=$share/proxies
	mkdir -p "$proxy_dir" "$share/captures"
	. "$here/proxy.sh"
	capture_dir=$share/captures
	. "$here/judging.sh"
	. "$here/conformance.sh"
	case $boot in
	direct | krb5 | conformance | instructions) ;;
	*) ganesha_start ;;
	esac
	gateway_client=
	if [ "$boot" = reexport ]; then
		python3 "$here/gateway_client.py" 10.0.2.2 2390 >"$share/gateway_client.log" 2>&1 &
		gateway_client=$!
	fi
	host_answer &
	answerer=$!
}

host_stop() {
	local f
	kill $answerer $gateway_client 2>/dev/null
	[ ! -e "$capture_dir/pid" ] || kill "$(cat "$capture_dir/pid")" 2>/dev/null
	for f in "$proxy_dir"/*.pid; do
		[ -e "$f" ] && kill -KILL "$(cat "$f")" 2>/dev/null
	done
	for f in ganesha node1 node2; do node_kill $f; done
	wait 2>/dev/null
}

# The commands that a guest can run.
host_command() {
	case $1 in
	conformance_begin | conformance_end | conformance_verdict) "$@" ;;
	judge_begin | judge_end | judge_file | judge_verdicts) "$@" ;;
	proxy_start | proxy_stop | proxy_restart | proxy_bytes | proxy_count | proxy_crc_faults | proxy_held | proxy_drained | proxy_targets) "$@" ;;
	ganesha_restart | node_start | node_kill) "$@" ;;
	verify) "$LAB_BUILD/tests/lab/lab_work" verify "$out/ganesha/export/$2" "$3" "$share/$4" ;;
	null) "$LAB_BUILD/tests/lab/lab_work" null 10.0.2.2 "$2" "$3" "$4" ;;
	libnfs) libnfs_row "$2" "$3" "$4" ;;
	gateway_file) "$here/gateway_client.py" make "$out/ganesha/open/gateway" && chmod 666 "$out/ganesha/open/gateway" ;;
	*) echo "no such command: $*"; return 1 ;;
	esac
}

# Runs the guest's commands one at a time, until it is killed.
host_answer() {
	local call n
	cd "$share" || return
	while :; do
		for call in call.[0-9]*; do
			[ -e "$call" ] || continue
			n=${call#call.}
			host_command $(cat "$call") >"answer.tmp" 2>&1 3>&-
			echo $? >"status.$n"
			mv answer.tmp "answer.$n"
			rm -f "$call"
		done
		pause 0.1
	done
}

# libnfs_row VERSION NFSPORT MOUNTPORT: a libnfs client on the host copies files through the proxy and compares them.
# Over NFSv4 libnfs 4.0 can write only small files; large files are created directly on the server, and only read.
libnfs_row() {
	local version=$1 port=$2 mountport=$3 url name dir=$out/libnfs size
	mkdir -p "$dir"
	[ -e "$dir/seed" ] || dd if=/dev/urandom of="$dir/seed" bs=1M count=2 status=none
	for size in 1 1000 4097 70001 1048577; do
		name=libnfs.$version.$size
		url="nfs://10.0.2.2/open/$name?version=$version&nfsport=$port&mountport=$mountport"
		head -c $size "$dir/seed" >"$dir/in"
		rm -f "$dir/back"
		if [ "$version" = 3 ] || [ $size -le 1000 ]; then
			with_limit 30 nfs-cp "$dir/in" "$url" || return 1
		else
			cp "$dir/in" "$out/ganesha/open/$name" && chmod 644 "$out/ganesha/open/$name" || return 1
		fi
		with_limit 30 nfs-cp "$url" "$dir/back" || return 1
		cmp "$dir/in" "$dir/back" || return 1
	done
}

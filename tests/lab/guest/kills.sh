# SPDX-License-Identifier: BSD-3-Clause
# Kills processes under load, after an amount of work that depends on LAB_SEED. All other processes continue, all
# acknowledged data exist afterwards, and the proxy keeps nothing of the killed processes.

# How long a load may make no progress on an idle machine. This includes a server's grace period and a client's
# retransmission time.
LOAD_LIMIT_S=90

# load_start NAME DIR BYTES MOMENTS: starts a load in DIR. load_next reads its reports; its journal is
# /run/NAME.journal.
load_start() {
	local name=$1 dir=$2
	mkdir -p "$dir"
	[ -p "/run/$name.fifo" ] || mkfifo "/run/$name.fifo"
	"$LAB_BUILD/tests/lab/lab_work" load "$dir" "$LAB_SEED" "$3" "/run/$name.journal" "$4" >"/run/$name.fifo" &
	load_pid=$!
	exec {load_fd}<"/run/$name.fifo"
}

# load_next FD: reads the next report into load_line. Fails if the load ends without "done", or makes no progress.
load_next() {
	local begin=$SECONDS begun=
	until read -r -t 10 -u "$1" load_line; do
		[ $? -gt 128 ] && ! limit_passed "$begin" $LOAD_LIMIT_S || fail "the load stands still or ended without a word"
		begun+=$load_line
	done
	load_line=$begun$load_line
	case $load_line in
	"file "* | "moment "* | "done "*) ;;
	*) fail "$load_line" ;;
	esac
}

# load_passes FD COUNT: waits until it has completed COUNT more files.
load_passes() {
	local fd=$1 count=$2
	while read -r -t 0 -u "$fd"; do load_next "$fd"; done
	while [ "$count" -gt 0 ]; do
		load_next "$fd"
		[[ $load_line != "file "* ]] || count=$((count - 1))
	done
}

# load_verified NAME DIR: verifies the files of its journal through the mount.
load_verified() {
	"$LAB_BUILD/tests/lab/lab_work" verify "$2" "$LAB_SEED" "/run/$1.journal"
}

# server_verified NAME DIR: verifies them on the server's disk.
server_verified() {
	case ${SERVER:-knfsd} in
	knfsd) load_verified "$1" "/srv/export/$2" ;;
	ganesha)
		cp "/run/$1.journal" /run/share/
		host verify "$2" "$LAB_SEED" "$1.journal"
		;;
	esac
}

# has_open PROXY: it has a connection in the state open, so both ends are connected.
has_open() {
	[ "$(proxy_says "$1" -j connections | figures --count connections state=open)" -gt 0 ]
}
has_none_open() { ! has_open "$1"; }

# rxe_replug PROXY: removes the rxe device and adds it again. librdmacm keeps the device open, so the removal waits
# until all proxies have ended. Before that, PROXY must have closed its connections. siw's device is not removed: a
# thread of knfsd may wait forever for a Read on it.
rxe_replug() {
	local removal name names
	wait_for 90 has_open "$1"
	within 60 rdma link delete rxe0 &
	removal=$!
	wait_for 60 has_none_open "$1" || { echo "$1 keeps a connection without a device"; return 1; }
	grep -q 'lost its device' "$proxy_dir"/*.log || { echo "no listener noticed"; return 1; }
	names=$(basename -s .pid -a "$proxy_dir"/*.pid)
	for name in $names; do proxy_stop "$name" KILL; done
	wait $removal && rdma link add rxe0 type rxe netdev rx0 || return 1
	# The addresses of a device are known a little later.
	for name in $names; do
		for _ in $(seq 10); do
			proxy_again "$name"
			proxy_ready "$name" && break
		done
	done
}

# The bond under rxe fails over to its other interface.
rxe_move() {
	local now
	now=$(cat /sys/class/net/rx0/bonding/active_slave)
	ip link set rx0 type bond active_slave rx0.$((3 - ${now#rx0.}))
}

# kill_party PARTY SIDE PROXY: kills it and starts it again. "device" and "address" are those of rxe.
kill_party() {
	case $1 in
	proxy) restart "$2" "$3" ;;
	device) rxe_replug "$3" ;;
	address) rxe_move ;;
	server)
		case ${SERVER:-knfsd} in
		knfsd) server_restart ;;
		ganesha) host ganesha_restart ;;
		esac
		;;
	esac
}

# drained SIDE PROXY: waits until it has no connection and has released all memory.
drained() {
	case $1 in
	host) host proxy_drained "$2" ;;
	guest) proxy_drained "$2" ;;
	esac
}

# kills PARTY MOMENTS SIDE PROXY VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: kills PARTY (see kill_party) MOMENTS
# times during a load. The mount is hard, so the load recovers. A fresh mount must then find every file.
kills() {
	local party=$1 moments=$2 side=$3 proxy=$4 dir came connects before
	shift 4
	dir=kills.$party.$RANDOM
	nfs_mount "$@"
	[ "$(mount_kind)" = "$4" ] || fail "asked for $4, got $(mount_kind)"
	load_start kills "/mnt/n/$dir" $((moments << 20)) "$moments"
	load_line= came=0
	while [[ $load_line != "done "* ]]; do
		load_next "$load_fd"
		case $load_line in
		"moment "*)
			came=$((came + 1))
			echo "$load_line, at $SECONDS s: $party"
			kill_party "$party" "$side" "$proxy"
			;;
		esac
	done
	[ "$came" = "$moments" ] || fail "$came moments of $moments came"
	connects=$(mount_transport | cut -d' ' -f4)
	[ "$party" = server ] || [ "$connects" -gt "$mount_connects" ] || fail "nobody noticed: $connects connects"
	umount /mnt/n
	drained "$side" "$proxy"
	before=$(bytes "$side" "$proxy")
	nfs_mount "$@"
	load_verified kills "/mnt/n/$dir"
	server_verified kills "$dir"
	rm -r "/mnt/n/$dir"
	umount /mnt/n
	drained "$side" "$proxy"
	[ "$(bytes "$side" "$proxy")" -gt $((before + (moments << 19))) ] || fail "it was not read through $proxy"
}

# Victims have numbers from 10 on, each number once: their remains stay until clients_forgotten, and a check of their
# mounts would hang.
next_victim() {
	local n
	n=$(($(cat /run/victim 2>/dev/null || echo 9) + 1))
	echo $n >/run/victim
	echo $n
}

# kills_client MOMENTS SIDE PROXY VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: MOMENTS other clients of the same
# proxy vanish, each at the first moment of its load. One client continues, and verifies their acknowledged data
# afterwards. VICTIM is empty for clients in namespaces (client_mount), "rdma_" or "rxe_" for the kernel's RDMA client
# (rdma_client_mount).
kills_client() {
	local moments=$1 side=$2 proxy=$3 n dir first_pid first_fd victims=()
	shift 3
	dir=kills.client.$RANDOM
	nfs_mount "$@"
	load_start first "/mnt/n/$dir" $((512 << 20)) 0
	first_pid=$load_pid first_fd=$load_fd
	while [ ${#victims[@]} -lt "$moments" ]; do
		n=$(next_victim)
		victims+=("$n")
		"${VICTIM:-}client_mount" "$n" "$@"
		LAB_SEED=$((LAB_SEED + n)) load_start "victim$n" "/mnt/c$n/$dir.$n" $((16 << 20)) 16
		load_line=
		while [[ $load_line != "moment "* ]]; do load_next "$load_fd"; done
		echo "client $n: $load_line, at $SECONDS s"
		"${VICTIM:-}client_vanish" "$n" "$load_pid"
		exec {load_fd}<&-
		load_passes "$first_fd" 3
	done
	kill -TERM "$first_pid"
	while [[ $load_line != "done "* ]]; do load_next "$first_fd"; done
	umount /mnt/n
	nfs_mount "$@"
	load_verified first "/mnt/n/$dir"
	server_verified first "$dir"
	for n in "${victims[@]}"; do
		LAB_SEED=$((LAB_SEED + n)) load_verified "victim$n" "/mnt/n/$dir.$n"
		LAB_SEED=$((LAB_SEED + n)) server_verified "victim$n" "$dir.$n"
	done
	rm -r "/mnt/n/$dir"*
	umount /mnt/n
}

# clients_forgotten SIDE PROXY ...: the proxies have detected the vanished clients: those with a waiting Reply by a time
# limit, idle ones by keepalive.
clients_forgotten() {
	local n
	while [ $# -gt 0 ]; do
		for n in 1 2 3 4; do
			drained "$1" "$2" && break
			[ $n -lt 4 ] || return 1
		done
		shift 2
	done
	for n in /run/netns/c[1-9]?*; do
		[ ! -e "$n" ] || client_end "${n#/run/netns/c}"
	done
}

# export_consistent: checks the server's file system at the end.
export_consistent() {
	# If a thread of the server does not end, the file system is frozen and checked without unmounting.
	if server_stop; then
		exportfs -ua
		umount /srv/export
	else
		fsfreeze --freeze /srv/export
	fi
	e2fsck -f -n /run/export.img
}

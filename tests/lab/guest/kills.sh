# SPDX-License-Identifier: BSD-3-Clause
# Kills at seeded moments of a load: moments of work done, which LAB_SEED selects. The processes that are not killed
# continue, acknowledged data are there afterwards bit for bit, and the proxy keeps nothing of the killed ones.

# How long a load may stand still on an idle machine: a server's grace period and a client's patience are in it.
LOAD_LIMIT_S=90

# load_start NAME DIR BYTES MOMENTS: a load in DIR, whose reports load_next reads; its journal is /run/NAME.journal.
load_start() {
	local name=$1 dir=$2
	mkdir -p "$dir"
	[ -p "/run/$name.fifo" ] || mkfifo "/run/$name.fifo"
	"$LAB_BUILD/tests/lab/lab_work" load "$dir" "$LAB_SEED" "$3" "/run/$name.journal" "$4" >"/run/$name.fifo" &
	load_pid=$!
	exec {load_fd}<"/run/$name.fifo"
}

# load_next FD: its next report, in load_line. That it ends or stands still without "done" fails the row.
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

# load_passes FD COUNT: waits until it has done that many files more.
load_passes() {
	local fd=$1 count=$2
	while read -r -t 0 -u "$fd"; do load_next "$fd"; done
	while [ "$count" -gt 0 ]; do
		load_next "$fd"
		[[ $load_line != "file "* ]] || count=$((count - 1))
	done
}

# load_verified NAME DIR: what its journal says is there, through the mount.
load_verified() {
	"$LAB_BUILD/tests/lab/lab_work" verify "$2" "$LAB_SEED" "/run/$1.journal"
}

# server_verified NAME DIR: the same where the server keeps it, without a proxy or a client between.
server_verified() {
	case ${SERVER:-knfsd} in
	knfsd) load_verified "$1" "/srv/export/$2" ;;
	ganesha)
		cp "/run/$1.journal" /run/share/
		host verify "$2" "$LAB_SEED" "$1.journal"
		;;
	esac
}

# has_open PROXY: whether it has a connection whose both ends stand. A client's alone is open while its server is sought.
has_open() {
	[ "$(proxy_says "$1" -j connections | figures --count connections state=open)" -gt 0 ]
}
has_none_open() { ! has_open "$1"; }

# rxe_replug PROXY: the rxe device is taken away and comes back. Only when the proxies have ended: until then rxe waits, since
# librdmacm keeps it open; that PROXY has given its connections up is seen before. (With siw's device a thread of knfsd may
# wait for ever for a Read on it.)
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
	# The addresses of a device are known a little after it.
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

# kill_party PARTY SIDE PROXY: it dies, and starts again. Device and address are rxe's.
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

# drained SIDE PROXY: waits until no connection and no byte of the budget is left.
drained() {
	case $1 in
	host) host proxy_drained "$2" ;;
	guest) proxy_drained "$2" ;;
	esac
}

# kills PARTY MOMENTS SIDE PROXY VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: PARTY (see kill_party) dies at so
# many moments of a load. The mount is a hard one: the load recovers by itself. A fresh mount then finds every file.
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

# The clients that are to vanish are numbered from 10, and no number comes twice: what they leave behind stays until
# clients_forgotten, and to look at their mounts would wait for the dead.
next_victim() {
	local n
	n=$(($(cat /run/victim 2>/dev/null || echo 9) + 1))
	echo $n >/run/victim
	echo $n
}

# kills_client MOMENTS SIDE PROXY VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: so many other clients of the same proxy
# vanish, each at the first moment of its own load, while one goes on and finds afterwards what they had been promised.
# VICTIM is empty for clients in namespaces (client_mount), "rdma_" or "rxe_" for the kernel's over RDMA (rdma_client_mount).
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

# clients_forgotten SIDE PROXY ...: the proxies have noticed by themselves that clients vanished: what waited for them
# has, by the proxy's time limits, and what was idle, by its keepalive.
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

# export_consistent: the server's file system, when all is over.
export_consistent() {
	# Where a thread of the server does not end, the file system is made consistent without it.
	if server_stop; then
		exportfs -ua
		umount /srv/export
	else
		fsfreeze --freeze /srv/export
	fi
	e2fsck -f -n /run/export.img
}

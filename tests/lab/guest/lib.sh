# SPDX-License-Identifier: BSD-3-Clause
# Sourced first by every guest script: the script is the guest's init, brings the guest up, and reports.
#
# Reports leave by the second serial port, a line each (watch.sh converts them to TAP): "row ROW" at the start of a row
# and "over ROW" at its end; "ok ROW", "not ok ROW: why" and "skip ROW # SKIP why", of which a row can have several; "#
# remark"; and "done".
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
lab=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

. "$lab/wait.sh"
. "$lab/guest/mount.sh"

# The limits of guests were chosen in guests, where the work of time_limit takes so long on an idle host. Its own load is no
# measure: a client that waits for a Reply counts in it.
export TIME_LIMIT_WORK_S=0.11 TIME_LIMIT_LOAD=0

say() { printf '%s\n' "$*" >/dev/ttyS1; }

# Whatever happens, the guest goes down at once: the host must not wait for its time limit, and a sync would wait for mounts
# whose server is gone.
guest_end() {
	trap - EXIT
	echo o >/proc/sysrq-trigger
	sleep 60
}
trap guest_end EXIT

# The share, the network, the drivers. What a host address is to the guest stands in share/env.
guest_start() {
	ln -s /proc/self/fd /dev/fd
	mount -t tmpfs tmpfs /run
	mount -t tmpfs tmpfs /var/lib/nfs
	mkdir -p /run/share /run/rpcbind /run/lock /var/lib/nfs/{sm,sm.bak,v4recovery,rpc_pipefs,nfsdcltrack}
	mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none share /run/share
	. /run/share/env
	TIME_LIMIT=$LAB_BUILD/tests/lib/time_limit
	exec >>"/run/share/guest-$LAB_BOOT.log" 2>&1
	set -x
	hostname lab
	# What the kernel has to say comes to the console, with programs that crash (informational) and tasks that hang.
	echo 30 >/proc/sys/kernel/hung_task_timeout_secs
	echo 7 >/proc/sys/kernel/printk
	ulimit -l unlimited
	ip link set lo up
	ip link set eth0 up
	ip addr add 10.0.2.15/24 dev eth0
	# A kernel that was fetched, and not installed, has its modules elsewhere.
	if [ ! -e "/lib/modules/$(uname -r)" ]; then
		mkdir "/lib/modules/$(uname -r)"
		mount --bind "$(readlink -f "$LAB_CACHE/modules")" "/lib/modules/$(uname -r)"
	fi
	# In this order: a device that goes is taken from the youngest user first, and only rdma_cm tells programs.
	modprobe -a ib_core ib_uverbs iw_cm rdma_cm rdma_ucm libcrc32c crc32c_generic loop
	insmod "$LAB_CACHE/siw.ko"
	rdma link add siw0 type siw netdev eth0
	modprobe -a rpcrdma nfsd nfs
}

# rxe stands on an interface of its own, so that the address alone says which device serves it: a bond, since its
# failing over is what the connection manager calls a change of address.
guest_rxe() {
	local n
	modprobe -a rdma_rxe dummy bonding
	ip link add rx0 type bond mode active-backup fail_over_mac active
	for n in 1 2; do
		ip link add rx0.$n type dummy
		ip link set rx0.$n master rx0
	done
	ip link set rx0 up
	ip addr add 10.9.0.1/24 dev rx0
	ip addr add fd00:9::1/64 dev rx0 nodad
	rdma link add rxe0 type rxe netdev rx0
}

# Kernel server on every device and on TCP: one ext4 export (it takes user.* xattrs), with `secure`, so that
# a TCP client must come from a privileged port. EXPORT_SEC names its flavours of security, unless sys. Both grace
# periods, nfsd's and lockd's, are short.
server_start() {
	modprobe lockd
	echo 3 >/proc/sys/fs/nfs/nlm_timeout
	echo 3 >/proc/sys/fs/nfs/nlm_grace_period
	mount -t nfsd nfsd /proc/fs/nfsd
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	rpcbind -w
	wait_for 20 test -S /run/rpcbind.sock
	truncate -s 1G /run/export.img
	mkfs.ext4 -q -F -E lazy_itable_init=1 /run/export.img
	mkdir -p /srv/export
	mount -o loop,user_xattr,acl /run/export.img /srv/export
	chmod 1777 /srv/export
	echo "/srv/export *(rw,fsid=0,no_root_squash,secure,no_subtree_check,sec=${EXPORT_SEC:-sys})" >/etc/exports
	exportfs -ar
	rpc.mountd -p 20048
	rpc.nfsd --no-udp -V 3 -V 4 -V 4.1 -V 4.2 --rdma=20049 8
	[ "$LAB_TIER" != full ] || "$LAB_BUILD/tests/lab/lab_work" make /srv/export/ten-thousand 10000
}

# within SECONDS COMMAND...: runs it. A process that waits in the kernel cannot be killed: it is left alone then, within_limit is no, and the
# kernel's log shows where each task is. On a slow machine it has more time, at most the same again before the next check. The
# host is notified of that, and does not consider this guest silent.
within() {
	local limit=$1 begin=$SECONDS left=$1 pid timer first status
	shift
	within_limit=yes
	"$@" &
	pid=$!
	while ((left > 0)); do
		sleep "$left" &
		timer=$!
		status=0
		wait -n -p first $pid $timer || status=$?
		if [ "$first" = $pid ]; then
			kill $timer || true
			wait $timer || true
			return $status
		fi
		left=$(($(limit_s "$limit") - (SECONDS - begin)))
		((left <= 0)) || say "# the machine is slow: $limit s are not enough yet"
		((left <= limit)) || left=$limit
	done
	within_limit=no
	echo t >/proc/sysrq-trigger
	echo "this does not end: $*"
	return 1
}

# The server's threads end. Seldom one of 6.1 never does, with nothing left to answer on any connection; that is said, also to the
# kernel's log, where watch.sh looks.
server_stop() {
	within 60 rpc.nfsd 0 && return
	say "# knfsd of Linux $(uname -r): a thread does not end"
	echo "<3>lab: a thread of knfsd does not end" >/dev/kmsg
	return 1
}

# The same, and they start again; the clients reclaim what they hold. Behind a thread that does not end no server starts: the guest
# ends, and the row comes once more in another one.
server_restart() {
	if ! server_stop; then
		say_blocked
		guest_end
	fi
	rpc.nfsd --no-udp -V 3 -V 4 -V 4.1 -V 4.2 --rdma=20049 8
}

# host COMMAND ARGUMENTS...: has the host's side run a command (see host.sh) and prints what it says.
host() {
	local n=${EPOCHREALTIME/./} said status
	printf '%s\n' "$*" >"/run/share/call.tmp"
	mv /run/share/call.tmp "/run/share/call.$n"
	wait_for 240 test -e "/run/share/answer.$n" || { echo "the host does not answer: $*"; return 1; }
	said=$(<"/run/share/answer.$n")
	[ -z "$said" ] || printf '%s\n' "$said"
	read -r status <"/run/share/status.$n"
	return "$status"
}

# wanted NAME: whether a row is to run. With LAB_ROWS, only rows whose names match that extended regular expression; in a second
# boot, what was not over in the first.
wanted() {
	[[ $1 =~ ${LAB_ROWS:-} ]] && ! grep -qxF -e "$1" "$LAB_OVER"
}

# row NAME FUNCTION ARGUMENTS...: runs one row in a subshell and reports it; the mount is gone afterwards. VERDICT_DUE says
# that it is not over by that.
row() {
	local name=$1 log start=$SECONDS status=0
	shift
	wanted "$name" || return 0
	row_name=$name
	log=/run/share/row-${name//[^a-zA-Z0-9.]/_}.log
	say "row $name"
	within "$LAB_ROW_S" row_run "$log" "$@"
	status=$?
	[ $within_limit = yes ] || row_stuck "$name"
	if [ $status = 0 ]; then
		say "ok $name # $((SECONDS - start)) s"
	else
		say "not ok $name: $(tail -1 "$log" | cut -c1-200)"
	fi
	[ -n "${VERDICT_DUE:-}" ] || say "over $name"
}

row_run() {
	local log=$1 status
	shift
	(set +x -e; "$@") >"$log" 2>&1
	status=$?
	grep -q " /mnt/n " /proc/mounts && umount -f -l /mnt/n
	[ ! -e /run/netns/c1 ] || client_end 1
	return $status
}

# say_blocked: the tasks that nothing ends, and where in the kernel each is.
say_blocked() {
	local task
	for task in /proc/[0-9]*/task/*; do
		grep -qs '^State:.D' "$task/status" || continue
		say "# blocked: $(cat "$task/comm"): $(sed 's/^\[<0>\] //; s/+.*//' "$task/stack" | head -6 | paste -sd ' ')"
	done
	echo w >/proc/sysrq-trigger
}

# row_stuck NAME: the row does not end, and nothing that comes after it would tell anything: the guest ends. That a proxy has
# died, for which everybody may wait, is a failure; else watch.sh sees to what the row was lost by.
row_stuck() {
	local pid proxy
	say "# $1 does not end within $LAB_ROW_S s, nor within what this machine is slower"
	say_blocked
	for pid in "${proxy_dir:-}"/*.pid; do
		[ -e "$pid" ] || continue
		proxy=$(basename "$pid" .pid)
		kill -0 "$(cat "$pid")" || say "not ok $1: proxy $proxy has died: $(tail -1 "$proxy_dir/$proxy.log")"
	done
	[ ! -e "${proxy_dir:-}" ] || cp -r "$proxy_dir" /run/share/guest-proxies
	guest_end
}

# SPDX-License-Identifier: BSD-3-Clause
# Every guest script sources this file first. The script is the guest's init; it brings the guest up, and reports.
#
# Reports go to the second serial port, one per line; watch.sh converts them to TAP. "row ROW" begins a row, "over ROW"
# ends it. A row can have several results: "ok ROW", "not ok ROW: why", "skip ROW # SKIP why". Further reports are "#
# remark" and "done".
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
lab=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

. "$lab/wait.sh"
. "$lab/guest/mount.sh"

# Limits of guests were measured in guests. There the work of time_limit takes this long on an idle host. The guest's
# load average is not used, because it includes clients that wait for a Reply.
export TIME_LIMIT_WORK_S=0.11 TIME_LIMIT_LOAD=0

say() { printf '%s\n' "$*" >/dev/ttyS1; }

# The guest always powers off immediately: the host must not wait for its time limit, and a sync would wait for mounts
# without a server.
guest_end() {
	trap - EXIT
	echo o >/proc/sysrq-trigger
	sleep 60
}
trap guest_end EXIT

# Mounts the share, configures the network, loads the drivers. share/env has the variables of the host's side.
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
	# The kernel writes all its messages to the console, including crashed programs (level info) and hanging tasks.
	echo 30 >/proc/sys/kernel/hung_task_timeout_secs
	echo 7 >/proc/sys/kernel/printk
	ulimit -l unlimited
	ip link set lo up
	ip link set eth0 up
	ip addr add 10.0.2.15/24 dev eth0
	# The modules of a fetched kernel are in another directory.
	if [ ! -e "/lib/modules/$(uname -r)" ]; then
		mkdir "/lib/modules/$(uname -r)"
		mount --bind "$(readlink -f "$LAB_CACHE/modules")" "/lib/modules/$(uname -r)"
	fi
	# This order matters: a removed device is first removed from the youngest user, and only rdma_cm notifies
	# programs.
	modprobe -a ib_core ib_uverbs iw_cm rdma_cm rdma_ucm libcrc32c crc32c_generic loop
	insmod "$LAB_CACHE/siw.ko"
	rdma link add siw0 type siw netdev eth0
	modprobe -a rpcrdma nfsd nfs
}

# rxe has a separate interface, so that the address selects the device. The interface is a bond, because the connection
# manager reports its failover as a change of address.
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

# Starts the kernel's server on every device and on TCP, with one ext4 export, which supports user.* xattrs. `secure`
# requires privileged ports from TCP clients. EXPORT_SEC names its security flavors (default: sys). The grace periods of
# nfsd and lockd are short.
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

# within SECONDS COMMAND...: runs it. If it does not end, sets within_limit to no and writes the place of each task to
# the kernel's log; the process itself stays, because nothing can kill it while it waits in the kernel. On a slow
# machine the limit is extended; each extension is reported, so that the host does not consider the guest silent.
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

# Stops the server's threads. Rarely a thread of 6.1 never ends, although no Call is open. The function then reports
# this, also in the kernel's log, where watch.sh looks for it.
server_stop() {
	within 60 rpc.nfsd 0 && return
	say "# knfsd of Linux $(uname -r): a thread does not end"
	echo "<3>lab: a thread of knfsd does not end" >/dev/kmsg
	return 1
}

# Restarts the server; clients reclaim their state. A server with a hanging thread cannot start again: the guest then
# ends, and the row runs again in another guest.
server_restart() {
	if ! server_stop; then
		say_blocked
		guest_end
	fi
	rpc.nfsd --no-udp -V 3 -V 4 -V 4.1 -V 4.2 --rdma=20049 8
}

# host COMMAND ARGUMENTS...: runs a command on the host (see host.sh) and prints its output.
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

# wanted NAME: the row must run. With LAB_ROWS, only rows whose names match that extended regular expression run; in a
# second boot, only rows that did not finish in the first one.
wanted() {
	[[ $1 =~ ${LAB_ROWS:-} ]] && ! grep -qxF -e "$1" "$LAB_OVER"
}

# row NAME FUNCTION ARGUMENTS...: runs a row in a subshell, reports it, and unmounts. With VERDICT_DUE the row ends
# later, with the verdict.
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

# say_blocked: reports each hanging task, and its place in the kernel.
say_blocked() {
	local task
	for task in /proc/[0-9]*/task/*; do
		grep -qs '^State:.D' "$task/status" || continue
		say "# blocked: $(cat "$task/comm"): $(sed 's/^\[<0>\] //; s/+.*//' "$task/stack" | head -6 | paste -sd ' ')"
	done
	echo w >/proc/sysrq-trigger
}

# row_stuck NAME: a row does not end, and later rows would prove nothing: ends the guest. A proxy that has died is a
# failure, because everything may wait for it. Otherwise watch.sh finds the cause.
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

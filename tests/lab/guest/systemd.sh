#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The Debian package under systemd, which is this guest's init. The rows run in a unit. The kernel's NFS client mounts
# the knfsd of 10.0.2.15 through the proxy, and fio works on the mount while the daemon is reloaded, restarted and
# upgraded. This script runs twice: before systemd, and in the unit, with the environment of the first run.
[ "${1:-}" != rows ] || . /run/share/env
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
deb_dir=$LAB_BUILD/package
conf=/etc/rpcrdma-proxy.conf

# Removes this machine's own units: those of systemd itself are sufficient.
become_systemd() {
	local unit
	trap - EXIT
	rm -rf /etc/systemd/system/*.wants /etc/systemd/system/*.requires
	: >/etc/fstab
	# Removes policies of container images: the package must start its service.
	rm -f /usr/sbin/policy-rc.d /var/lib/man-db/auto-update
	# Removes signs of a container: on a real machine systemd shares its mounts with the namespaces of its services.
	rm -f /.dockerenv /run/.containerenv
	for unit in tmp.mount systemd-tmpfiles-setup.service systemd-tmpfiles-clean.timer console-getty.service getty.target \
		systemd-networkd.service systemd-resolved.service systemd-timesyncd.service apt-daily.timer apt-daily-upgrade.timer \
		dpkg-db-backup.timer e2scrub_all.timer fstrim.timer logrotate.timer man-db.timer rpcbind.service rpcbind.socket \
		nfs-server.service nfs-mountd.service rpc-statd.service run-rpc_pipefs.mount proc-fs-nfsd.mount; do
		ln -sf /dev/null "/etc/systemd/system/$unit"
	done
	ln -sf /lib/systemd/system/multi-user.target /etc/systemd/system/default.target
	mkdir -p /etc/systemd/system/multi-user.target.wants /var/log/journal
	cat >/etc/systemd/system/rows.service <<-UNIT
		[Unit]
		Description=The rows of this guest
		[Service]
		Type=oneshot
		ExecStart=/bin/bash $1 rows
		TimeoutStartSec=infinity
		LimitMEMLOCK=infinity
	UNIT
	ln -sf ../rows.service /etc/systemd/system/multi-user.target.wants/rows.service
	exec /lib/systemd/systemd --log-target=kmsg --show-status=no
}

if [ "${1:-}" != rows ]; then
	guest_start
	become_systemd "$(realpath "$0")"
fi

exec >>"/run/share/guest-$LAB_BOOT.log" 2>&1
set -x
ulimit -l unlimited

journal() { journalctl -o cat --no-pager -u rpcrdma-proxy "$@"; }
pid_of_daemon() { systemctl show -p MainPID --value rpcrdma-proxy; }

# write_conf MORE: edits the package's file: replaces its services by one
write_conf() {
	cat >$conf <<-CONF
		services = ( { name = "files"; listen = "tcp://127.0.0.1:2149"; connect = "tcp://10.0.2.15:2049"; $1 } );
	CONF
}

installed() {
	dpkg -i "$deb_dir"/rpcrdma-proxy_*_amd64.deb
	systemctl is-active rpcrdma-proxy
	write_conf ''
	systemctl reload rpcrdma-proxy
	journal | grep 'files: listening on tcp://127.0.0.1:2149'
}

mounted() {
	NFS_OPTIONS=${2:-} nfs_mount "$1" 127.0.0.1 2149 tcp
	work_files
	mount_clean
}

# fio_start: writes and verifies data with checksums, until fio_end
fio_start() {
	rm -f /run/fio.json
	fio --name=load --directory=/mnt/n --size=8M --bs=16k --rw=randwrite --direct=1 --ioengine=psync --verify=crc32c \
		--verify_backlog=16 --verify_fatal=1 --time_based --runtime=86400 --output=/run/fio.json --output-format=json &
	fio_pid=$!
	wait_for 60 test -s /mnt/n/load.0.0
	# Linux waits three seconds between two connects.
	sleep 4
}

# fio_end: checks for errors, and prints the longest stall. The length proves nothing on a machine that is emulated
# together with others, unless clients would have timed out.
fio_end() {
	local stall limit_s=20
	kill -0 $fio_pid || fail "fio ended too early: $(tail -n 3 /run/fio.json)"
	kill -INT $fio_pid
	wait $fio_pid || true
	jq -e '.jobs[0].error == 0 and .jobs[0].write.total_ios > 50 and .jobs[0].read.total_ios > 16' <(sed -n '/^{/,$p' /run/fio.json) ||
		fail "fio: $(head -n 5 /run/fio.json)"
	stall=$(sed -n '/^{/,$p' /run/fio.json | jq '[.jobs[0].write.lat_ns.max, .jobs[0].read.lat_ns.max] | max / 1e6 | floor')
	say "# longest stall: $stall ms"
	((stall < 1000 * limit_s || stall < 1000 * $(limit_s $limit_s))) || fail "an operation took $stall ms"
}

# The kernel counts refused connects of the whole guest.
refused() { awk '/^Tcp:/ && seen++ { print $8 }' /proc/net/snmp; }

reloads() {
	local n before
	nfs_mount 4.1 127.0.0.1 2149 tcp
	fio_start
	before=$(refused)
	for n in $(seq 20); do
		# Every second reload changes the service, and so drains its connection.
		write_conf "stall_timeout_s = $((60 + n / 2));"
		systemctl reload rpcrdma-proxy
	done
	[ "$(refused)" = "$before" ] || fail "connects were refused"
	fio_end
}

broken() {
	nfs_mount 4.1 127.0.0.1 2149 tcp
	printf 'services = ( { name = "files"; lisen = "tcp://127.0.0.1:2149"; connect = "tcp://10.0.2.15:2049"; } );\n' >$conf
	! systemctl reload rpcrdma-proxy || fail "the reload does not fail"
	journal | grep "$conf:1: unknown key \"lisen\": did you mean \"listen\"?" || fail "the journal has not the file's error"
	systemctl is-active rpcrdma-proxy
	work_files
	mount_clean
	write_conf ''
	systemctl reload rpcrdma-proxy
}

restarts() {
	local n before
	nfs_mount 4.1 127.0.0.1 2149 tcp
	fio_start
	before=$(refused)
	for n in 1 2 3; do
		systemctl restart rpcrdma-proxy
		sleep 4
	done
	[ "$(refused)" = "$before" ] || fail "connects were refused"
	fio_end
}

# The same package with a higher version.
upgrades() {
	local before pid
	rm -rf /run/newer
	dpkg-deb -R "$deb_dir"/rpcrdma-proxy_*_amd64.deb /run/newer
	sed -i 's/^Version: .*/&+newer/' /run/newer/DEBIAN/control
	dpkg-deb -b /run/newer /run/newer.deb
	nfs_mount 4.1 127.0.0.1 2149 tcp
	fio_start
	before=$(refused)
	pid=$(pid_of_daemon)
	dpkg -i --force-confold /run/newer.deb
	[ "$(pid_of_daemon)" != "$pid" ] || fail "the upgrade has not restarted it"
	[ "$(refused)" = "$before" ] || fail "connects were refused"
	fio_end
	dpkg-query -W -f '${Version}' rpcrdma-proxy | grep newer
}

# A version that rejects the file does not start: the old one continues.
upgrade_refused() {
	local pid
	printf 'services = ( { name = "files"; lisen = "x"; } );\n' >$conf
	pid=$(pid_of_daemon)
	dpkg -i --force-confold /run/newer.deb 2>&1 | tee /run/dpkg.log
	grep 'rejects /etc/rpcrdma-proxy.conf' /run/dpkg.log
	[ "$(pid_of_daemon)" = "$pid" ] || fail "it was restarted all the same"
	write_conf ''
}

fields() {
	nfs_mount 4.1 127.0.0.1 2149 tcp
	work_files
	umount /mnt/n
	wait_for 10 eval "journalctl --no-pager -o json RPCRDMA_SERVICE=files RPCRDMA_CLIENT=127.0.0.1 | grep -q closed"
	journalctl --no-pager -o json RPCRDMA_SERVICE=files | jq -e 'select(.SYSLOG_IDENTIFIER == "rpcrdma-proxy") | ._SYSTEMD_UNIT == "rpcrdma-proxy.service"' |
		sort | uniq -c | tee /run/units
	! grep false /run/units
}

# The journal of the unit also has the messages of a daemon that ends immediately.
failing_start() {
	systemctl stop rpcrdma-proxy
	printf 'services = ( { name = "files"; listen = "tcp://127.0.0.1:2049"; connect = "tcp://10.0.2.15:2050"; } );\n' >$conf
	! systemctl start rpcrdma-proxy || fail "it starts on a port that is taken"
	wait_for 10 eval "journal | grep -q 'cannot listen on tcp://127.0.0.1:2049: Address already in use'"
	systemctl stop rpcrdma-proxy
	write_conf ''
	systemctl reset-failed rpcrdma-proxy
	systemctl start rpcrdma-proxy
}

# The daemon's mount namespace has a copy of each mount that existed when it started. An unmount on the host must remove
# this copy, too: the last unmount sends messages to the server, and the ending daemon could not forward them.
started_under_mount() {
	local began
	nfs_mount 4.1 127.0.0.1 2149 tcp
	systemctl restart rpcrdma-proxy
	work_files
	grep ' /mnt/n ' "/proc/$(pid_of_daemon)/mountinfo" || fail "its namespace does not have the mount"
	umount /mnt/n
	! grep ' /mnt/n ' "/proc/$(pid_of_daemon)/mountinfo" || fail "its namespace still has the mount"
	began=$SECONDS
	systemctl restart rpcrdma-proxy
	! limit_passed "$began" 20 || fail "it took $((SECONDS - began)) s to end and to start"
}

# PF_MEMALLOC_NOIO and PF_LOCAL_THROTTLE of each thread.
flags() {
	local stat bits=$((0x00180000)) flags count=0
	for stat in /proc/"$(pid_of_daemon)"/task/*/stat; do
		flags=$(sed 's/.*) //' "$stat" | cut -d' ' -f7)
		echo "$(cut -d' ' -f2 "$stat") $(printf %x "$flags")"
		[ $((flags & bits)) = $bits ] || fail "$(cut -d' ' -f2 "$stat") has not the flags of an I/O flusher"
		count=$((count + 1))
	done
	[ $count -ge 4 ] || fail "only $count threads"
	! grep '^CapEff:.*[1-9a-f]*1000000' "/proc/$(pid_of_daemon)/status" || fail "CAP_SYS_RESOURCE is kept"
}

unit() {
	local score
	[ "$(systemctl show -p WatchdogUSec --value rpcrdma-proxy)" = 30s ] || fail "there is no watchdog"
	[ "$(systemctl show -p NFileDescriptorStore --value rpcrdma-proxy)" = 1 ] || fail "the listener is not in the store"
	score=$(systemd-analyze security --no-pager rpcrdma-proxy | sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
	say "# exposure level: $score"
	awk -v score="$score" 'BEGIN { exit !(score != "" && score <= 2.0) }' || fail "exposure level $score"
}

# The machine powers off while a file system of fstab is mounted through the proxy and has unwritten pages. The last
# program that systemd runs reports how long this took.
power_off() {
	local name="systemd: power-off with a mount of fstab through the proxy" limit
	wanted "$name" || return 0
	limit=$(limit_s 60)
	say "row $name"
	mkdir -p /mnt/f
	echo "127.0.0.1:/ /mnt/f nfs vers=4.2,proto=tcp,port=2149,_netdev,x-systemd.after=rpcrdma-proxy.service 0 0" >/etc/fstab
	systemctl daemon-reload
	if ! systemctl start mnt-f.mount || ! head -c 16777216 /dev/urandom >/mnt/f/late; then
		say "not ok $name: $(systemctl status mnt-f.mount | tail -n 1)"
		return 1
	fi
	cat >/lib/systemd/system-shutdown/told <<-HOOK
		#!/bin/sh
		read -r now _ </proc/uptime
		took=\$((\${now%.*} - $(cut -d. -f1 /proc/uptime)))
		echo "# it took \$took s" >/dev/ttyS1
		ok=ok
		[ \$took -lt $limit ] || ok="not ok"
		printf '%s\n' "\$ok $name" "over $name" "done" >/dev/ttyS1
	HOOK
	chmod +x /lib/systemd/system-shutdown/told
	trap - EXIT
	systemctl --no-block poweroff
	exit 0
}

server_start
row "systemd: the package is installed, and takes one edit of its file" installed
# In a second boot that row may already have run; the others need its result.
systemctl -q is-active rpcrdma-proxy || installed >/run/share/installed.log 2>&1
row "systemd: a mount by NFSv4.1" mounted 4.1
row "systemd: a mount by NFSv3" mounted 3
row "systemd: each thread allocates as an I/O flusher" flags
row "systemd: watchdog, descriptor store, exposure" unit
row "systemd: fields in the journal" fields
row "systemd: a broken file fails the reload, and changes nothing" broken
row "systemd: 20 reloads under fio, 4.1" reloads
row "systemd: 3 restarts under fio, 4.1" restarts
row "systemd: a restart under a mount, which then is unmounted" started_under_mount
row "systemd: an upgrade under fio, 4.1" upgrades
row "systemd: an upgrade that does not take the file" upgrade_refused
row "systemd: a start that fails says why in the journal" failing_start
journal -o short-monotonic >/run/share/journal.log
power_off
say done
guest_end

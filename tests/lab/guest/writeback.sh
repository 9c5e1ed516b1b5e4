#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A client with little memory and a proxy on the same host. Its dirty pages pass the daemon, which must write them
# before memory becomes free. 512 MiB in total (run.sh), no swap.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"

guest_start

# hog: uses 128 MiB all the time
hog() {
	exec perl -e '$b = "x" x (128 << 20);
		while (1) { for ($i = 0; $i < length $b; $i += 4096) { substr($b, $i, 1) = "y" } select undef, undef, undef, 0.1 }'
}

# writes_much PROXY PORT: writes four times the memory as dirty pages, next to the hog, then reads and compares
writes_much() {
	local pid hog_pid
	pid=$(cat "$proxy_dir/$1.pid")
	NFS4_PATH=/export nfs_mount 4.1 127.0.0.1 "$2" tcp
	hog &
	hog_pid=$!
	fio --name=much --directory=/mnt/n --size=2G --bs=1M --rw=write --ioengine=psync --end_fsync=1 --verify=crc32c \
		--verify_fatal=1 --do_verify=1 --output-format=json --output=/run/fio.json
	jq -e '.jobs[0].error == 0 and .jobs[0].write.io_kbytes == 2097152 and .jobs[0].read.io_kbytes == 2097152' \
		<(sed -n '/^{/,$p' /run/fio.json)
	kill -0 $hog_pid || fail "the hog was killed: the guest has more memory than it should"
	kill $hog_pid
	[ "$(cat "$proxy_dir/$1.pid")" = "$pid" ] && kill -0 "$pid" || fail "the proxy was killed"
	rm /mnt/n/much*
	mount_clean
	umount /mnt/n
	say "# $(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo) MiB of memory; at most $(
		awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$pid/status") MiB of it the proxy's"
}

host_row end iwarp://10.0.2.2:2132 tcp://127.0.0.1:2149
guest_row own tcp://127.0.0.1:2101 tcp://10.0.2.2:2149
PROXY_KEYS="lock_memory = true;" guest_row own-iwarp tcp://127.0.0.1:2102 iwarp://10.0.2.2:2132
row "2 GiB of dirty pages through a proxy on the client's host of 512 MiB, tcp=>tcp, 4.1" writes_much own 2101
row "2 GiB of dirty pages through a proxy on the client's host of 512 MiB, tcp=>iwarp, memory locked, 4.1" \
	writes_much own-iwarp 2102
say done

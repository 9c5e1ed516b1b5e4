# SPDX-License-Identifier: BSD-3-Clause
# The workloads, over whatever is mounted at /mnt/n. Each is run with errexit set and prints why it fails.

fail() {
	echo "$*"
	exit 1
}

# A tree of real files, copied, hashed through the mount after the caches were dropped, and compared.
work_tree() {
	local from=${1:-/usr/include/rdma} to=/mnt/n/tree
	rm -rf "$to"
	cp -r "$from" "$to"
	sync
	echo 3 >/proc/sys/vm/drop_caches
	diff <(cd "$from" && find . -type f -exec sha256sum {} + | sort) \
		<(cd "$to" && find . -type f -exec sha256sum {} + | sort) >/dev/null || fail "tree differs"
	rm -rf "$to"
}

# Files of every size around the limits of inline messages, pages and chunks; each pad residue.
work_sizes() {
	local size seed=/run/seed
	[ -e $seed ] || dd if=/dev/urandom of=$seed bs=1M count=5 status=none
	for size in 0 1 2 3 4 5 801 999 1000 1001 1002 1003 3840 4000 4001 4095 4096 4097 8191 65535 65537 \
		262145 1048575 1048577 ${1:-4194307}; do
		head -c "$size" $seed >/mnt/n/size.$size
	done
	sync
	echo 3 >/proc/sys/vm/drop_caches
	for size in 0 1 2 3 4 5 801 999 1000 1001 1002 1003 3840 4000 4001 4095 4096 4097 8191 65535 65537 \
		262145 1048575 1048577 ${1:-4194307}; do
		cmp <(head -c "$size" $seed) /mnt/n/size.$size || fail "file of $size bytes differs"
	done
	rm -f /mnt/n/size.*
}

# Direct I/O of sizes that are no multiple of anything, and a mapping that is written and read back.
work_direct() {
	local size seed=/run/seed
	[ -e $seed ] || dd if=/dev/urandom of=$seed bs=1M count=5 status=none
	for size in 513 4099 70001 1000003; do
		dd if=$seed of=/mnt/n/direct bs=$size count=3 oflag=direct status=none
		cmp <(head -c $((size * 3)) $seed) \
			<(dd if=/mnt/n/direct bs=$size iflag=direct status=none) || fail "O_DIRECT of $size bytes"
		rm -f /mnt/n/direct
	done
}

# Many names: a directory that needs several READDIR replies, read whole and counted.
work_readdir() {
	local count=${1:-300}
	mkdir /mnt/n/many
	(cd /mnt/n/many && seq -f 'a-file-with-a-name-of-some-length-%06g' "$count" | xargs touch)
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(ls -f /mnt/n/many | grep -c a-file)" = "$count" ] || fail "READDIR lost names"
	rm -rf /mnt/n/many
}

# Names, links and attributes.
work_names() {
	local target
	target=$(printf 'long/%.0s' $(seq 180))
	ln -s "$target" /mnt/n/link
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(readlink /mnt/n/link)" = "$target" ] || fail "symlink differs"
	echo one >/mnt/n/a
	ln /mnt/n/a /mnt/n/b
	mv /mnt/n/b /mnt/n/c
	[ "$(cat /mnt/n/c)" = one ] || fail "hard link differs"
	chmod 640 /mnt/n/c
	[ "$(stat -c %a /mnt/n/a)" = 640 ] || fail "mode differs"
	rm -f /mnt/n/link /mnt/n/a /mnt/n/c
}

# Extended attributes (NFSv4.2): small ones and one that no inline message holds.
work_xattr() {
	local value
	value=$(head -c 3000 /dev/zero | tr '\0' x)
	touch /mnt/n/x
	setfattr -n user.small -v value /mnt/n/x
	setfattr -n user.large -v "$value" /mnt/n/x
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(getfattr --only-values -n user.small /mnt/n/x 2>/dev/null)" = value ] || fail "small xattr differs"
	[ "$(getfattr --only-values -n user.large /mnt/n/x 2>/dev/null)" = "$value" ] || fail "large xattr differs"
	rm -f /mnt/n/x
}

# A lock, taken and given back.
work_lock() {
	echo locked >/mnt/n/lock
	flock -w 5 /mnt/n/lock cat /mnt/n/lock >/dev/null || fail "no lock"
	rm -f /mnt/n/lock
}

# Random reads and writes with verification.
work_fio() {
	fio --name=verify --directory=/mnt/n --size="${1:-4M}" --bsrange=512-131072 --bs_unaligned --rw=randrw \
		--verify=crc32c --verify_fatal=1 --ioengine=psync --end_fsync=1 --randseed=1 --minimal \
		>/run/fio.log 2>&1 || fail "fio: $(tail -1 /run/fio.log)"
	rm -f /mnt/n/verify*
}

# What the short tier does on every row. VERSION decides what there is to try.
work_short() {
	local version=$1
	work_sizes
	work_tree
	work_readdir
	work_names
	case $version in
	4.2) [ -n "${WITHOUT_XATTR:-}" ] || work_xattr ;;
	esac
	case $version in
	3) ;;
	*) work_lock ;;
	esac
	work_direct
}

# What the full tier does on every row: the same, larger, and random I/O with verification.
work_full() {
	work_short "$1"
	work_tree /usr/include/linux
	work_readdir 10000
	work_fio 32M
}

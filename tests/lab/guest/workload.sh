# SPDX-License-Identifier: BSD-3-Clause
# The workloads, over whatever is mounted at /mnt/n. Each is run with errexit set and prints why it fails.

fail() {
	echo "$*"
	exit 1
}

# A tree of real files, copied, and compared as the server gives it back.
work_tree() {
	local from=${1:-/usr/include/rdma}
	rm -rf /mnt/n/tree
	cp -r "$from" /mnt/n/tree
	"$LAB_BUILD/tests/lab/lab_work" same "$from" /mnt/n/tree
	rm -rf /mnt/n/tree
}

# Files of every size around the limits of inline messages, pages and chunks; O_DIRECT; a mapping.
work_files() {
	"$LAB_BUILD/tests/lab/lab_work" files /mnt/n "${1:-4194307}"
}

# Many names: a directory that needs several READDIR replies.
work_readdir() {
	"$LAB_BUILD/tests/lab/lab_work" names /mnt/n "${1:-200}"
}

# Names, links and attributes.
work_names() {
	local target
	target=$(printf 'long/%.0s' $(seq 180))
	ln -s "$target" /mnt/n/link
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

# A delegation, recalled through the backchannel (NFSv4.1 and 4.2) when somebody opens the file on the server.
work_recall() {
	local file=recall.$RANDOM start
	echo one >/mnt/n/$file
	sync
	exec 9</mnt/n/$file
	cat <&9 >/dev/null
	grep -q "type: deleg" /proc/fs/nfsd/clients/*/states || fail "the server gave no delegation"
	start=$SECONDS
	timeout 20 sh -c "echo two >>/srv/export/$file" || fail "the delegation was not recalled"
	[ $((SECONDS - start)) -le 4 ] || fail "the recall took $((SECONDS - start)) s"
	exec 9<&-
	[ "$(cat /mnt/n/$file | tail -1)" = two ] || fail "the file is stale after the recall"
	rm -f /mnt/n/$file
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
	work_files
	work_tree
	work_readdir
	work_names
	case $version in
	4.2) [ -n "${FOREIGN_SERVER:-}" ] || work_xattr ;;
	esac
	case $version in
	3) ;;
	*) work_lock ;;
	esac
	case $version in
	4.1 | 4.2) [ -n "${FOREIGN_SERVER:-}" ] || work_recall ;;
	esac
}

# What the full tier does on every row: the same, larger, and random I/O with verification.
work_full() {
	work_short "$1"
	work_files 33554433
	work_tree /usr/include/linux
	work_readdir 10000
	work_fio 16M
}

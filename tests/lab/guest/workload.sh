# SPDX-License-Identifier: BSD-3-Clause
# Workloads on the file system mounted at /mnt/n. Each runs with errexit and prints why it fails.

fail() {
	echo "$*"
	exit 1
}

# timed FUNCTION ARGUMENTS...: writes its duration to the row's log.
timed() {
	local start=$SECONDS
	"$@"
	echo "$* took $((SECONDS - start)) s"
}

# A tree of real files is copied and compared with the server's copy.
work_tree() {
	local from=${1:-/usr/include/rdma}
	rm -rf /mnt/n/tree
	cp -r "$from" /mnt/n/tree
	"$LAB_BUILD/tests/lab/lab_work" same "$from" /mnt/n/tree
	rm -rf /mnt/n/tree
}

# Files with sizes around the limits of inline messages, pages and chunks; O_DIRECT; a mapping.
work_files() {
	"$LAB_BUILD/tests/lab/lab_work" files /mnt/n "${1:-4194307}"
}

# work_readdir NAMES: lists a directory of NAMES entries. A hundred need several READDIR Replies, because the client
# first requests 4 KiB.
work_readdir() {
	"$LAB_BUILD/tests/lab/lab_work" names /mnt/n "$1"
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

# Extended attributes (NFSv4.2): small ones, and one that exceeds every inline message.
work_xattr() {
	local value
	value=$(head -c 3950 /dev/zero | tr '\0' x)
	touch /mnt/n/x
	setfattr -n user.small -v value /mnt/n/x
	setfattr -n user.large -v "$value" /mnt/n/x
	[ "$(getfattr --only-values -n user.small /mnt/n/x 2>/dev/null)" = value ] || fail "small xattr differs"
	[ "$(getfattr --only-values -n user.large /mnt/n/x 2>/dev/null)" = "$value" ] || fail "large xattr differs"
	rm -f /mnt/n/x
}

# Access control lists of the server's ext4: NFSv3 by the NFSACL protocol, NFSv4 by the acl attribute. The long list
# exceeds an inline message but fits a page; knfsd of 6.1 decodes no longer one, and its client cannot even read that
# length back on a direct mount. Each side sees the lists that the other has set.
work_acl() {
	local name=acl.$RANDOM long
	touch /mnt/n/$name.1 /mnt/n/$name.2 /srv/export/$name.3
	setfacl -m u:1234:r-x,g:2345:rw- /srv/export/$name.3
	case $1 in
	3)
		setfacl -m u:1234:r-x,g:2345:rw- /mnt/n/$name.1
		seq -f 'u:%g:r--' 3001 3335 | setfacl -M - /mnt/n/$name.2
		[ "$(getfacl -cnp /srv/export/$name.2 | grep -c '^user:3')" = 335 ] || fail "long ACL was not set"
		seq -f 'u:%g:r--' 3001 3280 | setfacl -M - /srv/export/$name.3
		getfacl -cnp /mnt/n/$name.3 | cmp - <(getfacl -cnp /srv/export/$name.3) || fail "ACL of the server differs"
		;;
	4*)
		long=$(seq -f 'A::%g:RX' 3001 3100)
		nfs4_setfacl -a A::1234:RX /mnt/n/$name.1
		nfs4_setfacl -a A:g:2345:RW /mnt/n/$name.1
		{ nfs4_getfacl /mnt/n/$name.2 | grep -v '^#'; echo "$long"; } >/run/acl
		nfs4_setfacl -S /run/acl /mnt/n/$name.2
		[ "$(nfs4_getfacl /mnt/n/$name.2 | grep -c '^A::3')" = 100 ] || fail "long ACL differs"
		[ "$(getfacl -cnp /srv/export/$name.2 | grep -c '^user:3.*r-x')" = 100 ] || fail "long ACL was not set"
		nfs4_getfacl /mnt/n/$name.3 | grep -q '^A::1234' || fail "ACL of the server differs"
		;;
	esac
	getfacl -cnp /srv/export/$name.1 | grep -q '^user:1234:r-x' || fail "user's entry was not set"
	getfacl -cnp /srv/export/$name.1 | grep -q '^group:2345:rw-' || fail "group's entry was not set"
	rm -f /mnt/n/$name.*
}

# Locks for which this client and another one compete. $second, of `through`, is the address for the other client. With
# 4.1 to NFS-Ganesha: its version 4.3 answers READ_PLUS with no data and end of file, and the client of Linux 6.12 uses
# READ_PLUS in 4.2 over TCP.
work_locks() {
	local version=$1
	[ -n "${second:-}" ] || return 0
	[ -z "${FOREIGN_SERVER:-}" ] || [ "$version" != 4.2 ] || version=4.1
	client_mount 1 "$version" $second
	"$LAB_BUILD/tests/lab/lab_work" contend /mnt/n /mnt/c1 "$2"
	client_umount 1
}

# Bytes that change while they are sent. siw then sends wrong CRCs (siw_end), on 6.12 a dozen per round. Beyond a
# hundred within a short time, the proxy's log has only their number.
work_changes() {
	work_files
	"$LAB_BUILD/tests/lab/lab_work" change /mnt/n /srv/export 5
}

# delegation_is FILE: the server has granted a delegation of that file that was not returned.
delegation_is() {
	cat /proc/fs/nfsd/clients/*/states | grep 'type: deleg' | grep -qF "/$1\""
}

# delegation_get FILE: opens that file of the mount as $delegated, and gets a delegation.
delegation_get() {
	echo one >"/mnt/n/$1"
	sync -f "/mnt/n/$1"
	exec {delegated}<"/mnt/n/$1"
	cat <&"$delegated" >/dev/null
	delegation_is "$1" || fail "the server gave no delegation of $1"
}

# delegation_recall FILE LIMIT_MS: opens the file on the server, which recalls the delegation through the backchannel
# (NFSv4.1 and 4.2). The recall must end within LIMIT_MS of an idle machine. Sets recall_ms.
delegation_recall() {
	local begin_us opened
	delegation_is "$1" || fail "the client has returned the delegation of $1 by itself"
	begin_us=${EPOCHREALTIME/./}
	exec {opened}>>"/srv/export/$1"
	recall_ms=$(((${EPOCHREALTIME/./} - begin_us) / 1000))
	echo two >&"$opened"
	exec {opened}>&-
	echo "the recall of $1 took $recall_ms ms"
	((recall_ms < $2 || recall_ms < 1000 * $(limit_s $(($2 / 1000))))) || fail "the recall took $recall_ms ms"
}

# A delegation, and its recall.
work_recall() {
	local file=recall.$RANDOM
	delegation_get $file
	delegation_recall $file 4000
	exec {delegated}<&-
	[ "$(tail -1 /mnt/n/$file)" = two ] || fail "the file is stale after the recall"
	rm -f /mnt/n/$file
}

# Random reads and writes with verification.
work_fio() {
	fio --name=verify --directory=/mnt/n --size="${1:-4M}" --bsrange=512-131072 --bs_unaligned --rw=randrw \
		--verify=crc32c --verify_fatal=1 --ioengine=psync --end_fsync=1 --randseed=1 --minimal \
		>/run/fio.log 2>&1 || fail "fio: $(tail -1 /run/fio.log)"
	rm -f /mnt/n/verify*
}

# Unpacks, hashes and compares a part of the kernel's source.
work_source() {
	local from=$LAB_CACHE/source
	mkdir /mnt/n/source
	tar -C /mnt/n/source -xf "$from.tar"
	(cd /mnt/n/source && sha256sum --quiet -c "$from.sha256") || fail "hashes of the source tree differ"
	mkdir -p /run/source
	[ -e /run/source/source ] || tar -C /run/source -xf "$from.tar"
	"$LAB_BUILD/tests/lab/lab_work" same /run/source /mnt/n/source
	cmp <(cd /run/source && find . -printf '%y %m %p\n' | sort) \
		<(cd /mnt/n/source && find . -printf '%y %m %p\n' | sort) || fail "names of the source tree differ"
	rm -r /mnt/n/source
}

# The work of the short tier in every row. It depends on VERSION.
work_short() {
	local version=$1
	timed work_files
	timed work_tree
	timed work_readdir 100
	timed work_names
	if [ -z "${FOREIGN_SERVER:-}" ]; then
		timed work_acl "$version"
		case $version in
		4.2) timed work_xattr ;;
		esac
		case $version in
		4.1 | 4.2) timed work_recall ;;
		esac
	fi
	case $version in
	4*) timed work_locks "$version" 8 ;;
	esac
}

# Additional work of the full tier in every row: a source tree, a large file, a directory of 10,000 names, random I/O
# with verification, and more rounds of contended locks.
work_full() {
	local version=$1
	work_short "$version"
	timed work_source
	timed work_files 33554433
	timed "$LAB_BUILD/tests/lab/lab_work" list /mnt/n/ten-thousand 10000
	timed work_fio 16M
	case $version in
	4*) timed work_locks "$version" 200 ;;
	esac
}

# SPDX-License-Identifier: BSD-3-Clause
# Runs programs that test an NFS client and server on the file system at /mnt/n. Prints the results as a list with a
# line per case. The list is the same in each run without faults: it has no times, rates or random order.
#
# done_by_NAME VERSION: runs a program and prints its list. The short tier runs a part of it.

# small SHORT FULL: prints the argument for this tier
small() { [ "$LAB_TIER" = short ] && echo "$1" || echo "$2"; }

# plain: removes numbers that differ between runs (process ids, durations, addresses), and colours
plain() { sed -E 's/\x1b\[[0-9;]*m//g; s/0x[0-9a-f]+/N/g; s/[0-9]+/N/g; s/[[:space:]]+/ /g' | sort -u; }

# The workload of this laboratory, modelled on the tests of Connectathon: names, attributes, links, reads and writes of
# all sizes, mappings, directories, xattrs, ACLs, locks.
done_by_lab() {
	local work works=(work_files work_tree "work_readdir 300" work_names "work_acl $1")
	[ "$1" != 4.2 ] || works+=(work_xattr)
	case $1 in 4.1 | 4.2) works+=(work_recall) ;; esac
	case $1 in 4*) works+=("work_locks $1 8") ;; esac
	for work in "${works[@]}"; do
		(set -e; $work) >&2
		echo "$work: status $?"
	done
}

# The beginning of dbench's load of a file server: completed operations, and failures that the load does not expect.
# Failures to remove .nfs files are ignored, because they depend on time: the client keeps such a file while it is open.
done_by_dbench() {
	local seconds status=0
	seconds=$(small 2 30)
	head -n "$(small 300 20000)" /usr/share/dbench/client.txt >/run/dbench.load
	mkdir /mnt/n/dbench
	dbench -D /mnt/n/dbench -c /run/dbench.load -t "$seconds" "$(small 1 4)" >/run/dbench.log 2>&1 || status=$?
	tail -40 /run/dbench.log >&2
	echo "status $status"
	grep -iE 'fail|error|expected' /run/dbench.log | grep -vE 'barrier semaphore|unlink .*/[.]nfs' | plain
	awk '/^ Operation/ { table = 1; next } table && NF == 4 && $2 > 0 { print $1 ": done" }' /run/dbench.log | sort
	rm -rf /mnt/n/dbench
}

# bonnie++: which of its passes completed. -f omits passes of single bytes, which cost a system call per byte and never
# leave the client.
done_by_bonnie() {
	local status=0
	mkdir /mnt/n/bonnie
	bonnie++ -f -u root -d /mnt/n/bonnie -s "$(small 4 32)" -r "$(small 2 16)" -n "1:4096:1024:4" \
		>/run/bonnie.csv 2>/run/bonnie.log || status=$?
	tail -20 /run/bonnie.log >&2
	echo "status $status"
	sed 's/\(\.\.\.done\).*/\1/' /run/bonnie.log
	awk -F, '/^[0-9.]+,/ { print NF " figures" }' /run/bonnie.csv
	echo "left: $(ls -A /mnt/n/bonnie)"
	rm -rf /mnt/n/bonnie
}

# stress-ng's stressors that work on files, each with --verify: the result and all complaints. Omitted are those of its
# class "filesystem" that use no file of the given directory (bind-mount, binderfs, dup, eventfd, ioprio, procfs).
stressors=(access chattr chdir chmod chown copy-file dentry dir dirdeep dirmany dnotify fallocate fanotify fcntl fiemap file-ioctl
	filename flock fpunch fsize fstat getdent handle hdd inode-flags inotify io iomix lease link locka lockf lockofd mknod open
	rename symlink sync-file touch utime verity xattr aio aiol io-uring msync readahead revio seek sendfile)
stressors_short=(chmod lockf rename seek)

# Files are small, so that the limit of operations ends a stressor, not its time limit.
stressor_options() {
	case $1 in
	copy-file) echo "--copy-file-bytes 128M" ;;
	fallocate | fiemap | hdd | iomix | msync | readahead | revio | sync-file) echo "--$1-bytes $(small 1M 4M)" ;;
	seek | sendfile) echo "--$1-size $(small 1M 4M)" ;;
	dirdeep) echo "--dirdeep-inodes 200" ;;
	esac
}

done_by_stressors() {
	local each status names=("${stressors[@]}") known
	[ "$LAB_TIER" != short ] || names=("${stressors_short[@]}")
	known=" $(stress-ng --stressors) "
	for each in "${names[@]}"; do
		[[ $known = *" $each "* ]] || { echo "$each: not in this stress-ng"; continue; }
		mkdir /mnt/n/stress
		status=0
		# shellcheck disable=SC2046 # options are words
		(cd /mnt/n/stress && stress-ng "--$each" 2 "--$each-ops" "$(small 20 200)" $(stressor_options "$each") -t "$(small 3 10)" \
			--verify --temp-path /mnt/n/stress --oomable >/run/stress.log 2>&1) || status=$?
		cat /run/stress.log >&2
		if grep -m1 'unrecognized option' /run/stress.log; then return 1; fi
		echo "$each: status $status"
		# Each worker of a stressor prints the same message.
		grep -E 'stress-ng: (fail|error)' /run/stress.log | sed -E 's/^stress-ng: //' | plain | sed "s/^/$each: /"
		[ -z "$(ls -A /mnt/n/stress)" ] || echo "$each: leaves files"
		rm -rf /mnt/n/stress
	done
}

# repository_make: makes a repository in /run/repository, each time with the same history
repository_make() {
	local commits files
	commits=$(small 8 400) files=$(small 30 3000)
	[ ! -e /run/repository ] || return 0
	git init -q --bare -b main /run/repository
	awk -v commits="$commits" -v files="$files" '
		function file(name, lines,  text, i) {
			text = ""
			for (i = 0; i < lines; i++) text = text sprintf("%s %d %.12f\n", name, i, rand())
			printf "M 100644 inline %s\ndata %d\n%s\n", name, length(text), text
		}
		BEGIN {
			srand(40)
			for (c = 1; c <= commits; c++) {
				printf "commit refs/heads/main\ncommitter Lab <lab@localhost> %d +0000\ndata 10\ncommit%04d\n", 1700000000 + c * 60, c
				for (f = (c - 1) * files / commits; f < c * files / commits; f++)
					file(sprintf("d%d/e%d/file%d", f % 17, f % 5, f), f % 50 == 9 ? 4000 : 40)
				file(sprintf("d%d/changes", c % 17), 20)
			}
		}' </dev/null | git -C /run/repository fast-import --quiet
}

# git: a clone, its check, a change of many files, a repack, and a clone from mount to mount. Hashes compare the
# results.
done_by_git() {
	local git=(git -c safe.directory='*' -c user.name=Lab -c user.email=lab@localhost -c gc.auto=0 -c advice.detachedHead=false)
	export GIT_COMMITTER_DATE="1800000000 +0000" GIT_AUTHOR_DATE="1800000000 +0000" GIT_CONFIG_COUNT=1 \
		GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
	repository_make >&2
	one() {
		local what=$1 said status=0
		shift
		said=$("${git[@]}" "$@" 2>&1) || status=$?
		echo "$what: status $status, $(sha256sum <<<"$said" | cut -c1-12)"
		[ $status = 0 ] || { tail -3 <<<"$said" | sed "s/^/$what: /"; echo "$what: $said" | tail -20 >&2; }
	}
	one "clone" clone -q --no-hardlinks file:///run/repository /mnt/n/git
	one "fsck" -C /mnt/n/git fsck --full --strict --no-progress
	one "status" -C /mnt/n/git status --porcelain
	[ "$LAB_TIER" != short ] || { rm -rf /mnt/n/git; return 0; }
	(cd /mnt/n/git && for n in 1 2 3 4 5; do git ls-files "d$n/" | head -20 | while read -r file; do echo "changed $n" >>"$file"; done; done)
	(cd /mnt/n/git && git mv d7 moved && git rm -q -r d8)
	one "add" -C /mnt/n/git add -A
	one "commit" -C /mnt/n/git commit -q -m changes
	one "head" -C /mnt/n/git rev-parse HEAD "HEAD^{tree}"
	one "repack" -C /mnt/n/git repack -q -a -d -f
	one "fsck after the repack" -C /mnt/n/git fsck --full --strict --no-progress
	one "clone from mount to mount" clone -q --no-local /mnt/n/git /mnt/n/git2
	one "fsck of the second" -C /mnt/n/git2 fsck --full --strict --no-progress
	one "history" -C /mnt/n/git2 log --stat --format=%H%n%T%n%s
	one "files" -C /mnt/n/git2 ls-tree -r -l HEAD
	one "old commit" -C /mnt/n/git2 checkout -q HEAD~5
	one "status of the old commit" -C /mnt/n/git2 status --porcelain
	rm -rf /mnt/n/git /mnt/n/git2
}

# fio_job NAME OPTIONS...: runs a job of fio that verifies its data; prints the bytes in each direction, and errors
fio_job() {
	local name=$1 status=0
	shift
	fio --name="$name" --directory=/mnt/n --verify_fatal=1 --randseed=40 --end_fsync=1 --output-format=json "$@" \
		>/run/fio.json 2>/run/fio.err || status=$?
	cat /run/fio.err >&2
	sed -n '/^{/,$p' /run/fio.json | jq -r --arg status "$status" \
		'.jobs[] | "\(.jobname): status \($status), error \(.error), \(.write.io_kbytes) KiB written, \(.read.io_kbytes) KiB read"' ||
		echo "$name: status $status, no report"
	grep -iE 'verify|error' /run/fio.err | plain | sed "s/^/$name: /"
	rm -f /mnt/n/"$name"*
}

done_by_fio() {
	local size
	size=$(small 1M 24M)
	fio_job buffered --size="$size" --bsrange=512-131072 --bs_unaligned --rw=randrw --verify=crc32c --ioengine=psync
	fio_job direct --size="$size" --bs=64k --direct=1 --rw=randwrite --verify=sha256 --ioengine=libaio --iodepth=8
	[ "$LAB_TIER" != short ] || return 0
	fio_job write1m --size="$size" --bs=1M --direct=1 --rw=write --verify=xxhash --ioengine=psync
	fio_job mapped --size="$size" --bs=4k --rw=randwrite --verify=md5 --ioengine=mmap
	fio_job synced --size=2M --bs=4k --rw=randwrite --verify=crc32c --ioengine=sync --sync=1
	fio_job uring --size="$size" --bs=16k --rw=randrw --verify=crc32c-intel --ioengine=io_uring --iodepth=16
	fio_job four --size=6M --numjobs=4 --thread --bs=32k --rw=randrw --verify=crc32c --ioengine=psync --group_reporting
	fio_job patterned --size="$size" --bs=4k --rw=randwrite --verify=pattern --verify_pattern=0xdeadbeef --ioengine=psync --fsync=64
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The peer's in-memory NFSv3 server serves libnfs, directly and through two proxies. A tree that was copied there is
# read back unchanged, and so is data that the server generates.
. "$(dirname "$0")/lib.sh"
enter "$@"
command -v python3 >/dev/null || skip_all "python3 is not installed"

front=$FRONT_PORT front_mnt=$FRONT_MNT

# start_memory: starts the server with its generated data only
start_memory() {
	start memory python3 -B "$E2E_SRC/../peer/nfs/serve" -p $NFS_PORT --mount-port $MNT_PORT
	serves memory $NFS_PORT $MNT_PORT || bail "the server in memory does not start: $(cat memory.log)"
}

stop_memory() {
	stop memory
	check "$1: the server ends in good order on SIGTERM" [ "$exit_status" = 0 ]
}

# copy FROM TO FILE...: copies each file with a separate client
copy() {
	local from=$1 to=$2 file

	shift 2
	for file; do nfs-cp "${from/NAME/$file}" "${to/NAME/$file}" || return; done
}

names() { nfs-ls "$1" | awk '{ print $NF }' | LC_ALL=C sort; }

# look WAY: runs all client operations on a new server
look() {
	local way=$1 files query="version=3&nfsport=$FRONT_PORT&mountport=$FRONT_MNT" export=nfs://127.0.0.1/export

	mapfile -t files < <(ls in)
	rm -rf out && mkdir out
	check "$way: ${#files[@]} files are copied in" copy "in/NAME" "$export/NAME?$query" "${files[@]}"
	check "$way: they are copied out" copy "$export/NAME?$query" "out/NAME" "${files[@]}"
	check "$way: they are the same" diff -r in out
	check "$way: they are listed" [ "$(names "$export?$query")" = \
		"$(printf '%s\n' "${files[@]}" names pattern | LC_ALL=C sort)" ]
	check "$way: a thousand names are listed, each once" [ "$(names "$export/names?$query" | uniq | wc -l)" = 1000 ]
	check "$way: the pattern is read" nfs-cp "$export/pattern?$query" out/pattern
	check "$way: it repeats after 65,521 bytes, to its end at 64 MiB" cmp out/pattern expected
	check "$way: a directory is made; a file in it is moved and a link read; all is removed" \
		nfs_client "$export?$query" mixed mixed 3m 1
	check "$way: the largest READ and WRITE are 1 MiB" [ "$(nfs_client "$export?$query" max)" = "1048576 1048576" ]
}

mkdir in
cp "$E2E_SRC"/*.[ch] in
for size in 0 1 3 4095 4096 4097 1048575 1048576 1048577 5000000; do
	head -c $size /dev/urandom >in/random-$size
done

# The first period of the data is read from the server, the others are computed from it.
expect_pattern() {
	nfs-cp "nfs://127.0.0.1/export/pattern?version=3&nfsport=$NFS_PORT&mountport=$MNT_PORT" first >/dev/null || return
	head -c 65521 first >period
	yes period | head -n 1025 | xargs cat | head -c $((64 << 20)) >expected
}

start_memory
expect_pattern || bail "the pattern cannot be read"
FRONT_PORT=$NFS_PORT FRONT_MNT=$MNT_PORT look "on its own"
stop_memory "on its own"

for A_SERVICE in '' 'ddp = "nfs";'; do
	[ "$E2E_CHAIN" = proxies ] || break
	way="behind two proxies${A_SERVICE:+ with ddp}"
	FRONT_PORT=$front FRONT_MNT=$front_mnt
	start_memory
	start_chain
	look "$way"
	check "$way: no Reply was bad" counter_is a rdma bad_replies -eq 0
	check "$way: each payload was found" counter_is b rdma payloads_not_found -eq 0
	stop_proxy a
	stop_proxy b
	stop_memory "$way"
done
finish

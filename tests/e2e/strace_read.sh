#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The system calls of one 1 MiB READ through each proxy: a table per proxy, for doc/internals/data-path.md.
#
# usage: strace_read.sh       (with E2E_BUILD as for the tests; needs root)
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
command -v strace >/dev/null || skip_all "strace is not installed"
WORKERS=1

# The NFS client is stopped with the mounted and open file, before and after one READ.
start_ganesha
start_chain
nfs_client "$V3" write file 1m 1 1m 1 || bail "the client does not write"

# traced SIDE: prints the calls of the worker that serves the READ
attach() {
	start "strace-$1" strace -f -c -S calls -o "$T/strace.$1" -p "${pid_of[$1]}"
	wait_for 10 grep -q attached "strace-$1.log" || bail "strace does not attach"
}

mkfifo go
start client bash -c "'$BIN/nfs_client' '$V3' once file 1m 1 <go"
exec {go_fd}>go
wait_for 10 grep -q ready client.log || bail "the client is not ready"
attach a
attach b
echo >&"$go_fd"
wait_for 10 grep -q done client.log || bail "the READ does not finish"
stop strace-a INT
stop strace-b INT
for side in a b; do
	echo "proxy $side, $([ $side = a ] && echo 'tcp to rdma' || echo 'rdma to tcp'):"
	awk 'NR <= 2 || /^-/ || $4 ~ /^[0-9]+$/' strace.$side | awk '{ print "    " $NF "\t" $4 }' |
		grep -vE 'syscall|---|total' | sort -t "$(printf '\t')" -k2,2nr
done
echo >&"$go_fd"
check "the READ is right" wait "${pid_of[client]}"
unset "pid_of[client]"
finish

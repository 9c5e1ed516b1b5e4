#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The program of `./dev demo`: follows the recipe "TCP client, TCP server" of doc/recipes.md on two hosts, with the
# recipe's files. --verbose also shows counters, and version two of RPC-over-RDMA between the proxies.
case $* in
"") verbose= ;;
--verbose) verbose=1 ;;
*) echo "usage: demo.sh [--verbose]" >&2; exit 2 ;;
esac
. "$(dirname "$0")/lib.sh"
# In the demo, a skip is a failure.
broken() { show_logs; echo "demo: FAILED: $*"; exit 1; }
bail() { broken "$*"; }
skip_all() { broken "$*"; }
enter "$@"
. "$E2E_SRC/hosts.sh"
# shellcheck disable=SC2034
PAGE=$E2E_SRC/../../doc/recipes.md
. "$E2E_SRC/pages.sh"
PATH=$(dirname "$PROXY"):$(dirname "$CTL"):$BIN:$PATH
recipe="TCP client, TCP server"

say() { printf '\n== %s\n' "$*"; }
indent() { sed 's/^/     /; s/ *$//'; }

# typed HOST COMMAND: runs a command of the recipe on that host
typed() { printf '   root@%s # %s\n' "$1" "$2"; }

# runs HOST COMMAND: prints the command, runs it, and prints its output; it must succeed
runs() {
	local status

	typed "$1" "$2"
	on "$1" bash -o pipefail -c "$2" >said 2>&1
	status=$?
	indent <said
	[ $status = 0 ] || broken "$2 on the $1: status $status"
}

# starts HOST: starts the host's proxy
starts() {
	typed "$1" "rpcrdma-proxy -c $1.conf &"
	start_proxy_on "$1" || broken "the proxy on the $1 does not start"
}

ends() {
	stop "$1"
	[ "$exit_status" = 0 ] || broken "the proxy on the $1 ended with $exit_status"
}

# ---------------------------------------------------------------- what is there before

say "two hosts on one network, the filer and the client, and on the filer an NFS server that speaks TCP only: NFS-Ganesha"
page_hosts filer 192.0.2.1 client 192.0.2.10
take_mount "$(part "$recipe" "commands on the client's host" | grep '^mount ')" &&
	export_line=$(part "$recipe" "/etc/exports on the filer") && [ -n "$export_line" ] ||
	broken "doc/recipes.md has no recipe \"$recipe\""
server_sees=${export_line#* }
start_server "${server_sees%(rw)}"
say "doc/recipes.md, \"$recipe\": /etc/exports on the filer"
indent <<<"$export_line"

# ---------------------------------------------------------------- the recipe

for host in filer client; do
	say "doc/recipes.md, \"$recipe\": /etc/rpcrdma-proxy.conf on $(host_called $host)"
	part "$recipe" "/etc/rpcrdma-proxy.conf on $(host_called $host)" >$host.conf
	[ -s $host.conf ] || broken "doc/recipes.md has no such file"
	indent <$host.conf
	runs $host "rpcrdma-proxy -t -c $host.conf | tail -n 1"
	starts $host
done
say "does it work? The client's proxy tries its server"
runs client "rpcrdma-proxyctl check to-filer"

say "a file of 50 MB is written over NFSv4, read back, and compared: the client is libnfs, which needs no mount"
echo "     nfs_client is the demo's own NFS client, made with libnfs; nfs-cp comes with libnfs"
head -c 50000000 /dev/urandom >file
# Over NFSv4, nfs-cp of libnfs 4.0 writes only files of a few KiB; nfs_client in this directory writes larger ones.
runs client "nfs_client '$(url)' put file file"
runs client "nfs-cp '$(url file)' back"
runs client "cmp file back && echo equal"
runs filer "cmp file export/file && echo equal"

calls=$(on client "$CTL" stats | awk '$1 == "calls_sent" { print $2 }')
[ "${calls:-0}" -gt 0 ] || broken "nothing went over RDMA"

# holds [BLOCK]: a client writes and reads a file of 4 MiB repeatedly, until holder is stopped
holds() {
	typed client "nfs_client '$(url)' hold held 4m 1${1:+ $1} &"
	start_on client holder nfs_client "$(url)" hold held 4m 1 ${1:+"$1"}
}

say "what the client's proxy says while a client is connected, which writes and reads a file again and again"
holds
wait_for 60 shows client || broken "there is no connection that is open"
# The recipe's own check.
runs client "rpcrdma-proxyctl connections"
runs client "rpcrdma-proxyctl status"
runs client "rpcrdma-proxyctl latency"
stop holder KILL

# ---------------------------------------------------------------- more

# server_facts LABEL...: prints facts about the server of the client's proxy
server_facts() { on client "$CTL" -a connections | sed -n '/^server /,$p' | grep -E "^  ($1) "; }
are_raised() { [ "$(server_facts "RPC-over-RDMA|receive size|peer's receive size" | grep -cE ' (version 2|32 KiB)$')" = 3 ]; }

if [ -n "$verbose" ]; then
	for host in client filer; do
		say "what the proxy on $(host_called $host) has counted"
		runs $host "rpcrdma-proxyctl stats"
	done

	say "version two of RPC-over-RDMA between the proxies: one key more on the client's host"
	sed -i 's/ connect = / connect_version = 2;&/' client.conf
	indent <client.conf
	runs client "rpcrdma-proxyctl reload"
	say "a client reads and writes 16 KiB at a time, and the proxies enlarge their receives for that, from 4 KiB"
	holds 16k
	# Long enough on a busy machine.
	wait_for 60 are_raised || broken "the sizes of receives are not raised"
	for host in client filer; do
		runs $host "rpcrdma-proxyctl -a connections | grep -E 'version 2|receive size'"
	done
	stop holder KILL
fi

ends client
ends filer
stop ganesha KILL
stop rpcbind KILL
echo
echo "demo: OK: 50 MB written and read back over NFSv4, TCP to RDMA to TCP, in $calls RPCs over RDMA: equal"

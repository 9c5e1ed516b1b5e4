#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One service forwards all protocols of a server: NFSv3 with MOUNT, NFSv4 and NFSACL through one port, in each topology.
# The port of MOUNT comes from rpcbind, even if it changes, or from the file. Other programs are rejected. TCP and iwarp
# clients share a port.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
command -v rpcinfo >/dev/null || skip_all "rpcinfo is not installed"
start_ganesha

FRONT=$FRONT_PORT MIDDLE=20050
V3="nfs://127.0.0.1/export?version=3&nfsport=$FRONT&mountport=$FRONT"
V4="nfs://127.0.0.1/export?version=4&nfsport=$FRONT"

# keys SIDE: prints the keys for the dialect of this run
keys() {
	[ "${E2E_VERSION:-1}$1" != 2a ] || echo "connect_version = 2;"
	[ -z "${E2E_COMPAT:-}" ] || draft_keys "$1"
}

# start_one SIDE LISTEN CONNECT [MORE]: starts a proxy with one service; LISTEN is one address, or an array
start_one() {
	local side=$1 listen=$2 ports

	[ "${listen:0:1}" = "[" ] || listen="\"$listen\""
	printf 'control = "%s"; workers = 2; services = ( { name = "nfs"; listen = %s; connect = "%s";
		require_privileged_port = false; %s } );\n' "$T/$side.sock" "$listen" "$3" "${4:-}" >"$side.conf"
	mapfile -t ports < <(grep -o '://[^"]*:[0-9]*' <<<"$listen" | sed 's/.*://' | sort -u)
	check "the file of proxy $side is without mistake" "$PROXY" -t -c "$side.conf"
	start "$side" "$PROXY" -c "$side.conf"
	serves "$side" "${ports[@]}" || bail "proxy $side does not start"
}

stop_all() { for side in a g b; do stop_proxy $side; done; }

# asked PROGRAM VERSION [PORT]: prints the result of a NULL Call to that program
asked() { with_limit 20 rpcinfo -a "127.0.0.1.$((${3:-$FRONT} >> 8)).$((${3:-$FRONT} & 255))" -T tcp "$1" "$2" 2>&1; }
ready() { asked "$@" | grep -q 'ready and waiting'; }
unavailable() { asked "$@" | grep -qi 'program unavailable\|program not available'; }
# as_direct PROGRAM VERSION: the result is the same as without the proxy
as_direct() { [ "$(asked "$1" "$2")" = "$(asked "$1" "$2" "$NFS_PORT")" ]; }

# works WHAT: NFSv3 and NFSv4 work
works() {
	check "$1: NFSv3 mounts by one port, and writes" nfs_client "$V3" write three 12m 3
	check "$1: it reads that back" nfs_client "$V3" verify three 12m 3
	check "$1: NFSv3: a bit of everything" nfs_client "$V3" mixed "v3-$FRONT" 2m 5
	check "$1: NFSv4.0: a bit of everything" nfs_client "$V4" mixed "v4-$FRONT" 2m 4
	check "$1: MOUNT answers NULL" ready 100005 3
	check "$1: NFS answers NULL" ready 100003 3
	check "$1: NFSACL goes to the server" as_direct 100227 3
	check "$1: NLM is not there" unavailable 100021 4
	check "$1: an unknown program is not there" unavailable 400000 1
}

# ---------------------------------------------------------------- the topologies

start_one a "tcp://127.0.0.1:$FRONT" "tcp://127.0.0.1:$NFS_PORT" 'mount = "rpcbind";'
works "tcp to tcp"
check "tcp to tcp: the check goes to MOUNT by rpcbind" ctl a check nfs --mount
stop_all

start_one b "$FABRIC:$FABRIC_PORT" "tcp://127.0.0.1:$NFS_PORT" "$(keys b)"
start_one a "tcp://127.0.0.1:$FRONT" "$FABRIC:$FABRIC_PORT" "mount = \"tcp://127.0.0.1:$MNT_PORT\"; $(keys a)"
works "tcp to iwarp"
check "tcp to iwarp: the check goes to MOUNT where it was named" ctl a check nfs --mount
check "tcp to iwarp: NFS alone came to the RDMA server" counter_is b tcp connections_opened -gt 0
stop_all

start_one b "$FABRIC:$FABRIC_PORT" "tcp://127.0.0.1:$NFS_PORT" "mount = \"rpcbind\"; $(keys b)"
start_one a "tcp://127.0.0.1:$FRONT" "$FABRIC:$FABRIC_PORT" "$(keys a)"
works "iwarp to tcp"
stop_all

# A gateway between two services, with a dialect that all support.
if [ -z "${E2E_COMPAT:-}${E2E_VERSION:-}" ]; then
	start_one b "$FABRIC:$FABRIC_PORT" "tcp://127.0.0.1:$NFS_PORT"
	start_one g "$FABRIC:$MIDDLE" "$FABRIC:$FABRIC_PORT" 'mount = "rpcbind";'
	start_one a "tcp://127.0.0.1:$FRONT" "$FABRIC:$MIDDLE"
	works "iwarp to iwarp"
	stop_all
fi

# ---------------------------------------------------------------- a port for both kinds of clients

start_one b "[ \"tcp://127.0.0.1:$FRONT\", \"$FABRIC:$FRONT\" ]" "tcp://127.0.0.1:$NFS_PORT" "mount = \"rpcbind\"; $(keys b)"
start_one a "tcp://127.0.0.1:$FRONT_MNT" "$FABRIC:$FRONT" "$(keys a)"
BEHIND="nfs://127.0.0.1/export?version=3&nfsport=$FRONT_MNT&mountport=$FRONT_MNT"
start here nfs_client "$V3" write here 40m 5
start there nfs_client "$BEHIND" write there 40m 6
wait "${pid_of[here]}" "${pid_of[there]}"
check "a shared port: what TCP clients wrote is there" nfs_client "$BEHIND" verify here 40m 5
check "a shared port: what iwarp clients wrote is there" nfs_client "$V3" verify there 40m 6
check "a shared port: both came to it" eval \
	'counter_is b tcp connections_accepted -gt 1 && counter_is b iwarp connections_opened -gt 1'
unset "pid_of[here]" "pid_of[there]"
for bytes in 'GET / HTTP/1.1\r\n\r\n' 'MPA ID Req Frame\377\377\377\377' 'SSH-2.0-x\r\n' '\200\0\0\024\0\0\0\1\0\0\0\7\0\0\0\0'; do
	# shellcheck disable=SC2059
	check "a shared port: ${bytes:0:8} is closed" eval \
		"printf '$bytes' | with_limit 20 socat -t 600 - 'TCP:127.0.0.1:$FRONT' >/dev/null"
done
check "a shared port: the others are served" nfs_client "$V3" verify there 40m 6
stop_all

# ---------------------------------------------------------------- rpcbind

# closed_for REASON: prints the number of connections of proxy a
closed_for() { counter_is a closes "$1" -gt 0; }

start_one a "tcp://127.0.0.1:$FRONT" "tcp://127.0.0.1:$NFS_PORT" 'mount = "rpcbind";'
check "MOUNT is found" ready 100005 3
stop ganesha KILL
MNT_PORT=$((MNT_PORT + 1))
start_ganesha
check "MOUNT is found where it has moved to" wait_for 30 ready 100005 3
check "a file is read there" nfs_client "$V3" verify three 12m 3
stop_proxy a
stop rpcbind KILL
start_one a "tcp://127.0.0.1:$FRONT" "tcp://127.0.0.1:$NFS_PORT" 'mount = "rpcbind";'
check "without rpcbind MOUNT is not to be had" not ready 100005 3
check "its client is closed with that reason" wait_for 10 closed_for no_mount
check "the log says so" wait_for 10 grep -q 'rpcbind at 127.0.0.1:111 did not return the port of MOUNT: Connection refused' a.log
check "NFSv4 does not need it" nfs_client "$V4" mixed after 1m 4
stop_proxy a
start_one a "tcp://127.0.0.1:$FRONT" "tcp://127.0.0.1:$NFS_PORT" 'mount = "rpcbind";'
start silent socat -u TCP-LISTEN:111,reuseaddr,fork EXEC:"sleep infinity"
serves silent 111 || bail "port 111 cannot be had"
began=$SECONDS
check "with a silent rpcbind it is not either, and soon" eval '! ready 100005 3 && ! limit_passed $began 5'
check "the log says that it does not answer" wait_for 10 grep -q 'rpcbind at 127.0.0.1:111 did not return the port of MOUNT: no answer' a.log
check "the control client shows it" wait_for 10 eval "ctl a services | grep -q 'MOUNT by tcp://127.0.0.1:111: down'"
stop silent
stop_proxy a

start_one a "tcp://127.0.0.1:$FRONT" "tcp://127.0.0.1:$NFS_PORT" 'mount = "off";'
check "switched off, MOUNT is not there" unavailable 100005 3
check "the check does not try it" eval "ctl a check nfs --mount | grep -q 'mount = .off'"
stop_proxy a
finish

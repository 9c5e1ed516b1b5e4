#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# 1,000 clients connect at once: when has the last of them its first reply, through a proxy and through HAProxy?
#
# usage: crowd.sh [-b BUILD] [-l BUILD] [-n CLIENTS] [-r RUNS]
#    -b BUILD    the build whose proxy is measured, of any version of the project (build/)
#    -l BUILD    the build that has the clients: `make e2e-programs` there (build/)
#    -n CLIENTS  how many (1000)
#    -r RUNS     of each measurement, in turn (9)
#
# Exits with 77 where something is missing that it needs.

clients=1000 runs=9 load_build=
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
while getopts b:l:n:r:h option; do
	case $option in
	b) E2E_BUILD=$OPTARG ;;
	l) load_build=$OPTARG ;;
	n) clients=$OPTARG ;;
	r) runs=$OPTARG ;;
	*) sed -n '3,11s/^# \?//p' "$0"; exit "$([ "$option" = h ]; echo $?)" ;;
	esac
done

missing() { echo "crowd.sh: $*" >&2; exit 77; }
die() { echo "crowd.sh: $*" >&2; show_logs >&2; exit 1; }

. "$here/../e2e/lib.sh"
skip_all() { missing "$*"; }
bail() { die "$*"; }
. "$here/load.sh"
BENCH=$(cd "${load_build:-$here/../../build}" && pwd)/tests/bench
[ -x "$BENCH/nfs_load" ] || missing "$BENCH/nfs_load is not built: make e2e-programs"
[ -x "$PROXY" ] || missing "$PROXY is not built"
PATH=$PATH:/usr/sbin
command -v haproxy >/dev/null || missing "haproxy is not installed (package haproxy)"
enter "$@"

HAPROXY_PORT=12070 ONE_PORT=12050
server_start serve "$NFS_PORT"
A_SERVICE='max_connections = 4096;' B_SERVICE=$A_SERVICE
A_MORE="service one tcp://127.0.0.1:$ONE_PORT tcp://127.0.0.1:$NFS_PORT max_connections=4096;"
start_chain
cat >haproxy.conf <<-END
	global
	    maxconn 8192
	    nbthread ${WORKERS:-2}
	defaults
	    mode tcp
	    timeout connect 60s
	    timeout client 60s
	    timeout server 60s
	listen crowd
	    bind 127.0.0.1:$HAPROXY_PORT backlog 4096
	    server one 127.0.0.1:$NFS_PORT
END
start haproxy haproxy -db -f haproxy.conf
serves haproxy $HAPROXY_PORT || die "haproxy does not start"

# measure NAME PORT HELD: a line of the clients', added to what NAME has
measure() { crowd "$2" "$clients" "$3" >>"$1.out" || die "$1: a client was not served"; }

# range NAME: least, median and greatest time of the last reply
range() { jq '(.max_us / 100 | round) / 10' "$1.out" | sort -n | awk '{ v[NR] = $1 } END { print v[1], v[int((NR + 1) / 2)], v[NR] }'; }

# tell WHAT NAME REFERENCE
tell() {
	local least median most reference

	read -r _ reference _ < <(range "$3")
	read -r least median most < <(range "$2")
	printf '%-44s %8s %8s %8s %7s\n' "$1" "$least" "$median" "$most" "$(awk -v a="$median" -v b="$reference" 'BEGIN { printf "%.2f", a / b }')"
}

for ((run = 0; run < runs; run++)); do
	for held in 0 400; do
		measure haproxy-$held $HAPROXY_PORT $held
		measure one-$held $ONE_PORT $held
		measure two-$held "$FRONT_PORT" $held
	done
done
echo "$clients clients at once, $runs runs: ms until the last one has its first reply"
printf '%-44s %8s %8s %8s %7s\n' "" least median most ratio
for held in 0 400; do
	ports="all reserved ports free"
	[ $held = 0 ] || ports="none free"
	tell "HAProxy, $held connections there before" haproxy-$held haproxy-$held
	tell "one proxy, $ports" one-$held haproxy-$held
	tell "two proxies, $ports" two-$held haproxy-$held
done
for side in a b haproxy serve; do stop $side; done

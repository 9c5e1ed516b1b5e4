#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server sees the clients' addresses through the proxy, whose host is a router. The export names one of two clients,
# and only this client is served: NFSv3 with MOUNT, NFSv4.0 and NFSv4.1, over IPv4 and IPv6, over TCP and RDMA, with the
# server on the proxy's host and on another host. Without the capability or the routes, the daemon logs that at its
# start, and serves no client from the proxy's own address.
. "$(dirname "$0")/lib.sh"
enter "$@"
. "$E2E_SRC/hosts.sh"
. "$E2E_SRC/pages.sh"
needs_proxies
chooses_dialect

FABRIC6_PORT=20059

# ---------------------------------------------------------------- the hosts

# This host has one interface on the clients' network, and one on the server's.
six() { on "$1" ip -6 address add "$2/64" dev eth0 nodad; }

page_hosts filer 10.8.0.1 one 10.9.0.1 two 10.9.0.2
printf '%s\n' "10.9.0.254 proxy4" "fd09::fe proxy6" "fd08::1 filer" >>hosts
ip address add 10.9.0.254/24 dev wire && ip -6 address add fd09::fe/64 dev wire nodad &&
	ip link set to-filer nomaster && ip address add 10.8.0.254/24 dev to-filer &&
	ip -6 address add fd08::fe/64 dev to-filer nodad &&
	six one fd09::1 && six two fd09::2 && six filer fd08::1 &&
	on filer ip route add default via 10.8.0.254 && on filer ip -6 route add default via fd08::fe ||
	bail "the hosts are not joined"

# serve_on COMMAND...: starts NFS-Ganesha by that command. It serves only reserved ports of client one
serve_on() {
	GANESHA_PRIVILEGED=true ganesha_config |
		sed "s|Access_Type = RW;|Access_Type = NONE; CLIENT { Clients = 10.9.0.1, fd09::1; Access_Type = RW; }|" >ganesha.conf
	start ganesha "$@" ganesha.nfsd -F -f $T/ganesha.conf -L $T/ganesha.log -p $T/ganesha.pid -N NIV_EVENT
	wait_for 20 "$@" bash -c "ss -Hltn 'sport = :$NFS_PORT' | grep -q ." &&
		wait_for 20 "$@" bash -c "ss -Hltn 'sport = :$MNT_PORT' | grep -q ." || bail "NFS-Ganesha does not start"
}
way_filer() { on filer "$@"; }

# ---------------------------------------------------------------- the proxy

# services HOST4 HOST6 KEYS: prints the services of the proxy on this host
services() {
	echo "control = \"$T/b.sock\"; workers = 2; services = ("
	service nfs "tcp://[::]:$FRONT_PORT" "tcp://$1:$NFS_PORT\", \"tcp://$2:$NFS_PORT" "$3"
	echo ,
	service mount "tcp://[::]:$FRONT_MNT" "tcp://$1:$MNT_PORT\", \"tcp://$2:$MNT_PORT" "$3"
	echo ,
	service rdma "iwarp://[::]:$FABRIC_PORT" "tcp://$1:$NFS_PORT\", \"tcp://$2:$NFS_PORT" "$3"
	echo ");"
}
# write_file HOST4 HOST6 [KEYS]
write_file() { services "$1" "$2" "${3-source = \"client\";}" | sed 's|connect = \("[^;]*"\);|connect = [ \1 ];|' >b.conf; }

# begin [WRAP...]: starts the proxy with a new log
begin() {
	: >b.log
	start b "$@" "$PROXY" -c $T/b.conf
	serves b "$FRONT_PORT" "$FRONT_MNT" "$FABRIC_PORT" || bail "the proxy does not start"
}

# routes add|del: applies the commands that -t prints
routes() {
	"$PROXY" -t -c b.conf 2>/dev/null | sed -n "s/^    ip /ip /p" >routes
	[ "$1" = add ] || sed -i 's/ add / del /; s/ replace / del /' routes
	[ -s routes ] && bash -e routes
}
lacks_routes() { grep -c 'are not routed to this host: set the routes that rpcrdma-proxy -t prints' b.log; }
warns_of_routes() { "$PROXY" -t -c b.conf 2>&1 >/dev/null | grep -q 'are not routed to this host'; }
refused() { counter_is b closes no_source_address -gt 0; }
lacks_both() { [ "$(lacks_routes)" -ge 2 ]; }
says() { wait_for 10 logged b "$1"; }

# ---------------------------------------------------------------- the clients

# served CLIENT NAME VERSION: the proxy at that name serves the client. denied: the server rejects it as an unknown
# client
url_of() { echo "nfs://$1/export?version=$2&nfsport=${3:-$FRONT_PORT}&mountport=${4:-$FRONT_MNT}"; }
served() { limited_on "$1" 60 "$BIN/nfs_client" "$(url_of "${@:2}")" mixed "dir$RANDOM$RANDOM" 1m 3; }
answer() { limited_on "$1" 30 "$BIN/nfs_client" "$(url_of "${@:2}")" list / 0 2>&1; }
denied() { answer "$@" >said; grep -qE 'MNT3ERR_ACCES|NFS4ERR_(NOENT|ACCES|PERM)|NOENT|ACCES|denied|No such' said && ! grep -q 'refused\|reset\|timed' said; }
# NFSv4.1 has another client program: libnfs has only 4.0
made() { limited_on "$1" 60 python3 -B "$E2E_SRC/session.py" "$2" "${3:-$FRONT_PORT}" export "made$RANDOM$RANDOM" >said 2>&1; }
not_made() { ! made "$@" && grep -qE '^operation [0-9]+: status' said; }
unserved() { ! answer "$@" >said; }

unserved_here() { ! with_limit 30 "$BIN/nfs_client" "$(url_of 127.0.0.1 3)" list / 0 >said 2>&1; }

# each_family CHECK...: runs it for every version and address family
all_served() {
	for name in proxy4 proxy6; do for version in 3 4; do
		check "$1: client one is served, NFSv$version at $name" served one $name $version
	done; done
	for name in proxy4 proxy6; do check "$1: client one is served, NFSv4.1 at $name" made one $name; done
}
all_denied() {
	for name in proxy4 proxy6; do for version in 3 4; do
		check "$1: client $2 is denied by the server, NFSv$version at $name" denied "$2" $name $version
	done; done
	for name in proxy4 proxy6; do check "$1: client $2 is denied by the server, NFSv4.1 at $name" not_made "$2" $name; done
}

# over_rdma WHAT: clients on hosts with a proxy of their own, which connects to this one over iWARP
over_rdma() {
	local host

	for host in one two; do
		{
			echo "control = \"$T/$host.sock\"; services = ("
			service four "tcp://127.0.0.1:$FRONT_PORT" "iwarp://proxy4:$FABRIC_PORT"
			echo ,
			service six "tcp://127.0.0.1:$FABRIC6_PORT" "iwarp://proxy6:$FABRIC_PORT"
			echo ");"
		} >"$host.conf"
		start_on $host $host "$PROXY" -c "$T/$host.conf"
		opens $host $host "$FRONT_PORT" "$FABRIC6_PORT" || bail "the proxy of client $host does not start"
	done
	for port in $FRONT_PORT $FABRIC6_PORT; do
		check "$1: client one is served over RDMA ($port)" served one 127.0.0.1 4 $port
		check "$1: client one is served over RDMA, NFSv4.1 ($port)" made one 127.0.0.1 $port
		check "$1: client two is denied over RDMA ($port)" denied two 127.0.0.1 4 $port
		check "$1: client two is denied over RDMA, NFSv4.1 ($port)" not_made two 127.0.0.1 $port
	done
	stop one
	stop two
}

# place WHAT HOST4 HOST6: runs all checks with the server at these addresses
place() {
	write_file "$2" "$3" ''
	begin
	all_denied "$1, by the proxy's address" one
	stop_proxy b

	write_file "$2" "$3"
	check "$1: -t warns of the routes" warns_of_routes
	begin
	check "$1: the start says which routes are missing" wait_for 10 lacks_both
	check "$1: no client is served without them" unserved one proxy4 3
	check "$1: for that reason" wait_for 10 refused
	check "$1: which is said" says 'no source address towards the server: no return route'
	check "$1: the lines of -t set the routes" routes add
	check "$1: -t warns no more" not warns_of_routes
	: >b.log
	ctl b reload >/dev/null
	check "$1: nor does the daemon" [ "$(lacks_routes)" = 0 ]
	all_served "$1"
	all_denied "$1" two
	over_rdma "$1"
	stop_proxy b

	begin setpriv --inh-caps -net_raw,-net_admin --bounding-set -net_raw,-net_admin
	check "$1: the start says that the capability is missing" says 'CAP_NET_RAW is missing, so its clients are refused'
	check "$1: and names where it is" says "/examples/source-client.conf"
	check "$1: no client is served without it" unserved one proxy6 4
	check "$1: for that reason, too" wait_for 10 refused
	stop_proxy b
}

# ---------------------------------------------------------------- the server on this host

serve_on env
place "the server here" 127.0.0.1 '[::1]'
check "the host's other addresses are no place for a server" eval \
	"write_file 10.9.0.254 '[fd09::fe]'; ! '$PROXY' -t -c b.conf 2>said && grep -q '10.9.0.254 is an address of this host' said"
write_file localhost localhost
sed -i "s/\[ \(\"[^\"]*\"\), \"[^\"]*\" \]/\1/" b.conf
begin
all_served "by the name localhost"
stop_proxy b

write_file 127.0.0.1 '[::1]'
routes del
stop ganesha KILL

# ---------------------------------------------------------------- elsewhere

serve_on way_filer
place "the server elsewhere" 10.8.0.1 '[fd08::1]'

# A client that the other server has no route to.
write_file 10.8.0.1 '[fd08::1]'
begin
check "a loopback client of a server elsewhere is not served" unserved_here
check "which is said, too" says 'no source address towards the server: the client'"'"'s address is a loopback address'
stop_proxy b

# By name: -t then prints lines for each address.
write_file filer filer
sed -i "s/\[ \(\"[^\"]*\"\), \"[^\"]*\" \]/\1/" b.conf
begin
all_served "by the name filer"
stop_proxy b

# ---------------------------------------------------------------- two proxies, each from the client's address

# chain SIDE LISTEN CONNECT4 CONNECT6: starts one NFS service of the proxy on this host or on the filer
chain() {
	echo "control = \"$T/$1.sock\"; services = ("
	service exports "$2" "$3\", \"$4" 'source = "client";' | sed 's|connect = \("[^;]*"\);|connect = [ \1 ];|'
	echo ");"
}
chain filer "iwarp://[::]:$FABRIC_PORT" "tcp://127.0.0.1:$NFS_PORT" "tcp://[::1]:$NFS_PORT" >filer.conf
chain b "tcp://[::]:$FRONT_PORT" "iwarp://10.8.0.1:$FABRIC_PORT" "iwarp://[fd08::1]:$FABRIC_PORT" >b.conf
check "the routes of both proxies are set" eval "routes add && '$PROXY' -t -c filer.conf 2>/dev/null | sed -n 's/^    ip /ip /p' >there && on filer bash -e there"
start_on filer filer "$PROXY" -c $T/filer.conf
opens filer filer $FABRIC_PORT || bail "the proxy of the filer does not start"
: >b.log
start b "$PROXY" -c $T/b.conf
serves b $FRONT_PORT || bail "the proxy does not start"
for name in proxy4 proxy6; do
	check "through two proxies client one is served, at $name" served one $name 4
	check "and client two is denied by the server" denied two $name 4
done
for client in '10\.9\.0\.1' '10\.9\.0\.2' '\[fd09::1\]' '\[fd09::2\]'; do
	check "the second one sees $client, and comes from there" \
		wait_for 10 grep -qE "\[exports#[0-9]+ $client:[0-9]+\] open to .* from $client:" filer.log
done
stop_proxy b
stop filer
stop ganesha KILL
finish

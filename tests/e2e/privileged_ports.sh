#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server that accepts only clients with ports below 1024 serves a client of the proxy only if the client's own port is
# below 1024: over TCP, over iWARP, and through two proxies. A client of another user on that host is rejected, as
# without the proxy. Peers in trusted_proxies always get a port below 1024; with source_port = "reserved" each client
# gets one. The log has one line for each service with other clients, and -t prints which clients count as privileged.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
[ "$(id -u)" = 0 ] && can_open_by_handle || skip_all "needs root"
trust='trusted_proxies = [ "127.0.0.2" ];'

# to_nfs NAME TRANSPORT PORT [KEYS]: prints a service of b for the server
to_nfs() { service "$1" "$2://127.0.0.1:$3" "tcp://127.0.0.1:$NFS_PORT" "mount = \"tcp://127.0.0.1:$MNT_PORT\"; ${4:-}"; }
cat >b.conf <<-END
	control = "$T/b.sock"; workers = 2;
	services = (
	$(to_nfs plain tcp 6001),
	$(to_nfs rdma iwarp 6002),
	$(to_nfs trusting iwarp 6003 "$trust"),
	$(to_nfs low tcp 6004 'source_port = "reserved";'),
	{ name = "strict"; listen = "tcp://127.0.0.1:6005"; connect = "tcp://127.0.0.1:$NFS_PORT"; require_privileged_port = true; },
	{ name = "both"; listen = [ "tcp://127.0.0.1:6006", "iwarp://127.0.0.1:6006" ];
	  connect = "tcp://127.0.0.1:$NFS_PORT"; $trust }
	);
END
cat >a.conf <<-END
	control = "$T/a.sock"; workers = 2;
	services = (
	$(service chain tcp://127.0.0.1:4002 iwarp://127.0.0.1:6002),
	$(service chain-trusted tcp://127.0.0.1:4003 iwarp://127.0.0.1:6003 'source_address = [ "127.0.0.2" ];')
	);
END
GANESHA_PRIVILEGED=true
export GANESHA_PRIVILEGED
start_ganesha
for side in b a; do start $side "$PROXY" -c $side.conf; done
serves b 6001 6006 || bail "proxy b does not start"
serves a 4002 4003 || bail "proxy a does not start"

# ---------------------------------------------------------------- where connections come from

# port SIDE SERVICE CLIENT: prints below or above 1024, for the connection to the server
port() {
	ctl "$1" -j connections | jq -r --arg service "$2" --arg client "$3" '.connections[] |
		select(.service == $service and .client_address == $client) | .upstream.local' |
		awk -F: '{ print $NF < 1024 ? "below" : "above" }'
}
port_is() { [ "$(port "$1" "$2" "$3")" = "$4" ]; }
# comes SERVICE PORT CLIENT below|above [mpa]: a client of b gets such a connection to the server
comes() {
	local name=client$RANDOM

	start $name "$BIN/rpc_peer" "$2" 0 0 0 steps "from=$3" ${5:+"$5"} call stay
	check "$1: a client at $3 ${5:+over iwarp }is served" wait_for 20 grep -x call $name.log
	check "… and comes from a port $4 1024" wait_for 10 port_is b "$1" "$3" "$4"
	stop $name KILL
}
warnings() { logged_lines b "$1" 'the client uses a port of 1024 or above, so the proxy also connects to the server from such a port'; }

comes plain 6001 127.0.0.2:713 below
check "nothing is logged of a privileged client" warnings 0
comes plain 6001 127.0.0.2:40001 above
comes plain 6001 127.0.0.3:40001 above
check "of others the log says so once" wait_for 10 warnings 1
comes rdma 6002 127.0.0.2:714 below mpa
comes rdma 6002 127.0.0.2:40002 above mpa
check "… of each service" wait_for 10 warnings 2
comes trusting 6003 127.0.0.2:40003 below mpa
comes trusting 6003 127.0.0.3:40003 above mpa
comes low 6004 127.0.0.2:40004 below
comes strict 6005 127.0.0.2:715 below
check "a service may refuse those that are not" rpc_peer 6005 0 0 0 steps from=127.0.0.2:40005 text=x closed
comes both 6006 127.0.0.2:40006 above
comes both 6006 127.0.0.2:40007 below mpa
comes both 6006 127.0.0.3:40008 above mpa
check "four services have logged such clients" wait_for 10 warnings 4

# Through both proxies.
chain_port_is() {
	local between

	between=$(ctl a -j connections | jq -r --arg client "$2" '.connections[] | select(.client_address == $client) | .upstream.local')
	[ -n "$between" ] && port_is a "$1" "$2" "$3" && port_is b "${4:-rdma}" "$between" "${5:-$3}"
}
for way in "chain 4002 713 below rdma below" "chain 4002 40001 above rdma above" \
	"chain-trusted 4003 714 below trusting below" "chain-trusted 4003 40002 above trusting below"; do
	read -r name front from between behind at_server <<<"$way"
	start one "$BIN/rpc_peer" "$front" 0 0 0 steps "from=127.0.0.5:$from" call stay
	check "$name: a client at port $from is served through both proxies" wait_for 20 grep -x call one.log
	check "… from a port $between 1024 to the second, and from one $at_server to the server" \
		wait_for 10 chain_port_is "$name" "127.0.0.5:$from" "$between" "$behind" "$at_server"
	stop one KILL
done

# ---------------------------------------------------------------- a server that looks at ports

chmod 777 export
url() { echo "nfs://127.0.0.1/export?version=$1&nfsport=$2&mountport=$2"; }
root() { limited_as 0 "$@"; }
user() { limited_as 65534 "$@"; }
limited_as() { with_limit 60 setpriv --reuid "$1" --clear-groups "$BIN/nfs_client" "$(url "$2" "$3")" list / 0 >said 2>&1; }
for port in 6001 4002; do for version in 3 4; do
	check "NFSv$version at $port: root is served" root $version $port
	check "… and another user is not" not user $version $port
done; done
for version in 3 4; do
	check "NFSv$version: where each has a port below 1024, another user is served, too" user $version 6004
	check "… and so is one whose proxy is trusted" user $version 4003
done

# ---------------------------------------------------------------- -tv

says() { "$PROXY" -tv -c b.conf 2>&1 | grep -qF -- "$1"; }
check "-tv says that TCP clients are served from such ports as theirs" says "service plain: TCP clients from ports of 1024 and above reach the server from ports of 1024 and above"
check "… and over iwarp" says 'service rdma: iwarp clients from ports of 1024 and above reach the server from ports of 1024 and above: trusted_proxies is empty'
check "… but for those that are trusted" says 'service trusting: iwarp clients from ports of 1024 and above reach the server from ports of 1024 and above, except those in trusted_proxies'
check "… and that each client has one if the file says so" says 'service low: TCP clients from ports of 1024 and above reach the server from ports below 1024 (source_port)'
check "… and nothing of those that are refused" not says 'service strict: TCP clients'
echo "services = ( { name = \"devices\"; listen = \"rdma://127.0.0.1:6008\"; connect = \"tcp://127.0.0.1:2049\"; } );" >c.conf
check "… and that over verbs no port proves anything" eval \
	"'$PROXY' -tv -c c.conf 2>&1 | grep -qF 'service devices: verbs clients reach the server from ports below 1024, whatever port they use: only allow restricts who can connect'"
finish

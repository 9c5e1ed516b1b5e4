#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recipes of doc/recipes.md work as they are written. The test extracts their files and commands, and copies a file
# through each recipe, on hosts with the page's names and addresses, during the events that the page promises to
# survive. libnfs mounts instead of the kernel. A further proxy simulates the NFS/RDMA clients and servers of the page.
. "$(dirname "$0")/lib.sh"
enter "$@"
. "$E2E_SRC/hosts.sh"
PAGE=$E2E_SRC/../../doc/recipes.md
. "$E2E_SRC/pages.sh"
needs_proxies
chooses_dialect

# ---------------------------------------------------------------- a recipe

section='' # which it is
running=() # what was started for it, in this order

# put FILE TITLE: writes that block of the page to $T/FILE
put() {
	part "$section" "$2" >"$1"
	[ -s "$1" ] || bail "$section: the page has no \"$2\""
}

# begin SECTION: sets its mount, and starts the server with its export, also for $also, the address of a further proxy
also=127.0.0.1
begin() {
	local -a addresses

	section=$1 running=(ganesha)
	take_mount "$(part "$section" "commands on the client's host" | grep '^mount ')" || bail "$section: no mount line"
	mapfile -t addresses < <(part "$section" "/etc/exports on the filer" | grep -oE '[0-9.]+\(' | tr -d '(')
	[ ${#addresses[@]} -gt 0 ] || bail "$section: no export"
	rm -rf export/* ./*.conf
	# shellcheck disable=SC2086
	start_server "${addresses[@]}" $also
}

# run HOST NAME COMMAND...: starts it on that host
run() { running+=("$2"); start_on "$@"; }

# run_proxy HOST: starts a proxy with $T/HOST.conf
run_proxy() {
	check "$section: the file of $1 is without mistake" on "$1" "$PROXY" -t -c "$T/$1.conf"
	running+=("$1")
	check "$section: its proxy starts" start_proxy_on "$1"
}

# play_server, play_client: start proxies that simulate an RDMA server and client
play_server() {
	echo 'services = ( { name = "server"; listen = "rdma://[::]:20049"; connect = "tcp://127.0.0.1:2049"; } );' >filer.conf
	run_proxy filer
}
play_client() {
	echo "services = ( { name = \"client\"; listen = \"tcp://127.0.0.1:$FRONT_PORT\";" \
		"connect = \"rdma://$server:$(option port)\"; } );" >client.conf
	run_proxy client
}

is_copied() { check "$section: a file is copied there and back" copied file; }

end() {
	local name i

	for ((i = ${#running[@]} - 1; i >= 0; i--)); do
		name=${running[i]}
		[ "$name" != ganesha ] || { stop ganesha KILL; continue; }
		[ -n "${pid_of[$name]:-}" ] || continue
		stop "$name"
		case $name in filer | client | gateway | gateway2)
			[ "$exit_status" = 0 ] || not_ok "$section: the proxy on $name ends with $exit_status" ;;
		esac
	done
}

# Writes a file in small pieces, which takes some seconds; then reads and compares it.
writing() { start_on client writer "$BIN/nfs_client" "$(url)" write big $BIG 7 4096 1; wait_for 20 test -s export/big; }
written() { ended_well writer && limited_on client 120 "$BIN/nfs_client" "$(url)" verify big $BIG 7; }
ended_well() { wait_while 60 'stat -c %s export/big' has_ended "$1" && wait "${pid_of[$1]}"; }
BIG=24m

# ---------------------------------------------------------------- two gateways with one address

has_address() { on "$1" ip -4 address show dev eth0 | grep -q 'inet 192\.0\.2\.100/'; }
one_has_address() {
	active='' standby=''
	if has_address gateway; then active=gateway standby=gateway2; else active=gateway2 standby=gateway; fi
	has_address $active && ! has_address $standby
}
moved() { has_address $standby && ! has_address $active; }
believed() { [ "$(grep -c 'Script .* succeeded\|VRRP_Script(proxy) succeeded' "keepalived-$1.log")" -ge "$2" ]; }

start_keepalived() {
	run "$1" "keepalived-$1" keepalived -n -l -f $T/keepalived.conf -p "$T/$1.k.pid" -r "$T/$1.v.pid" -c "$T/$1.c.pid"
}

two_gateways() {
	local host

	begin "Two gateways with one address"
	for host in gateway gateway2; do
		put $host.conf "/etc/rpcrdma-proxy.conf on both gateways"
	done
	put keepalived.conf "/etc/keepalived/keepalived.conf on both gateways"
	# keepalived runs only scripts that root alone can change.
	sed -i "s|/usr/sbin/rpcrdma-proxyctl|$CTL|; /enable_script_security/d" keepalived.conf
	play_server
	for host in gateway gateway2; do
		run_proxy $host
		start_keepalived $host
	done
	check "$section: one of them gets the address" wait_for 30 one_has_address
	is_copied
	check "$section: a client writes" writing
	stop $active KILL
	check "$section: the proxy is killed, and the address moves" wait_for 20 moved
	check "$section: what was being written is written" written
	check "$section: the proxy is back" start_proxy_on $active
	check "$section: keepalived sees that" wait_for 20 believed $active 2
	check "$section: and moves no client" moved
	end
}

# ---------------------------------------------------------------- several addresses

targets() { on gateway "$CTL" -j services | jq -e ".services[0].targets | $1" >/dev/null; }

several_addresses() {
	local order

	begin "Several addresses of a server"
	on filer ip address add 192.0.2.2/24 dev eth0
	put gateway.conf "/etc/rpcrdma-proxy.conf on the gateway"
	run_proxy gateway
	play_client
	is_copied
	check "$section: both states are known, that of the unused server by probes" wait_for 30 targets 'all(.state == "ok")'
	check "$section: a client writes" writing
	check "$section: by the first" targets '.[0].connections == 1 and .[1].connections == 0'
	order=$(grep -o 'rpcrdma-proxyctl target [^`]* drain' "$PAGE")
	# shellcheck disable=SC2086
	check "$section: the first is to be taken out" on gateway "$CTL" ${order#* }
	check "$section: which moves no client" targets '.[0].order == "drain" and .[0].connections == 1'
	order=${order#* }
	# shellcheck disable=SC2086
	check "$section: it is taken out at once" on gateway "$CTL" ${order% *} down
	check "$section: what was being written is written" written
	check "$section: by the second" targets '.[0].connections == 0'
	end
}

# ---------------------------------------------------------------- HAProxy in front

# knows_client: one of the two gateways shows the client by its own address
knows_client() {
	for host in gateway gateway2; do
		on $host "$CTL" -j connections |
			jq -e '.connections[] | select(.client_address | startswith("192.0.2.10:"))' && return
	done
	return 1
}

haproxy_in_front() {
	begin "HAProxy in front"
	put haproxy.conf "/etc/haproxy/haproxy.cfg on the gateway"
	put gateway.conf "/etc/rpcrdma-proxy.conf on the gateway"
	put gateway2.conf "/etc/rpcrdma-proxy.conf on the second gateway"
	play_server
	run_proxy gateway
	run_proxy gateway2
	run gateway haproxy haproxy -db -f $T/haproxy.conf
	opens gateway haproxy 2049 || bail "HAProxy does not start"
	is_copied
	check "$section: a client writes" writing
	check "$section: its proxy knows the client" knows_client
	if shows gateway; then stop gateway KILL; else stop gateway2 KILL; fi
	check "$section: its proxy is killed, and what was being written is written" written
	end
}

# ---------------------------------------------------------------- where the server is come to from

# comes_from HOST ADDRESS: the proxy's connections to the server come from that address
comes_from() { on "$1" "$CTL" -j connections | jq -e --arg from "$2:" '.connections | length > 0 and all(.upstream.local | startswith($from))' >/dev/null; }

# Each line is used as it is written, except for the paths of files.
run_lines() {
	local host=$1 command

	while read -r command; do
		command=${command//\/usr\/share\/doc\/rpcrdma-proxy\/examples/$E2E_SRC\/..\/..\/systemd}
		check "$section: ${command%% -*}" on "$host" bash -c "${command//\/etc\/systemd/$T\/systemd}"
	done < <(part "$section" "commands on the $host")
}

exports_that_name_clients() {
	also='' begin "Exports that name clients"
	put filer.conf "/etc/rpcrdma-proxy.conf on the filer"
	run_lines filer
	check "$section: the drop-in is one" grep -q '^AmbientCapabilities=CAP_NET_RAW$' systemd/system/rpcrdma-proxy.service.d/source-client.conf
	run_proxy filer
	check "$section: nothing is missing" not grep -q 'source = "client"\|does not come back' filer.log
	play_client
	is_copied
	check "$section: a client writes" writing
	check "$section: the server sees the client" comes_from filer 192.0.2.10
	check "$section: what was being written is written" written
	end
	on filer ip rule del from 127.0.0.0/8 iif lo lookup 2049
}

many_clients() {
	begin "Many clients of one server"
	run_lines gateway
	put gateway.conf "/etc/rpcrdma-proxy.conf on the gateway"
	run_proxy gateway
	play_client
	is_copied
	check "$section: a client writes" writing
	check "$section: from one of the addresses" eval 'comes_from gateway 192.0.2.30 || comes_from gateway 192.0.2.32'
	check "$section: what was being written is written" written
	end
	on gateway ip address del 192.0.2.32/24 dev eth0
}

# ---------------------------------------------------------------- TLS


# authority [HOST]: its commands, and those for the gateway once more, for that host
authority() {
	local command host

	rm -rf authority nfs-tls && mkdir authority nfs-tls
	while read -r command; do
		check "$section: ${command%% -*}" bash -c "cd $T/authority && $command"
	done < <(part "Encrypt TCP clients with TLS" "commands on the authority's host")
	for host; do
		part "Encrypt TCP clients with TLS" "commands on the authority's host" |
			sed -n "/gateway/{s/gateway/$host/g; s/192\\.0\\.2\\.30/192.0.2.1/; p}" >authority/$host.sh
		(cd authority && bash $host.sh >>openssl.log 2>&1) || bail "$section: no certificate for $host"
	done
	cp authority/*.pem authority/*.key nfs-tls
}

# own_paths FILE...: with the files of this test: those of a proxy, and of tlshd
own_paths() { sed -i "s|/etc/rpcrdma-proxy/|$T/tls/|g; s|/etc/nfs-tls|$T/nfs-tls|g" "$@"; }

# install_keys: those of the gateway, by the page's commands
install_keys() {
	local command

	rm -rf tls
	while read -r command; do
		# The user is there where the package is installed.
		command=${command/ -o rpcrdma-proxy/}
		check "$section: ${command%% *}" bash -c "cd $T/authority && ${command//\/etc\/rpcrdma-proxy/$T\/tls}"
	done < <(part "Encrypt TCP clients with TLS" "commands on the gateway")
}

# play_tls_client KEYS: the NFS client, in place of a kernel with tlshd
play_tls_client() {
	echo "services = ( { name = \"client\"; listen = \"tcp://127.0.0.1:$FRONT_PORT\"; connect = \"tcp://$server:$(option port)\";" \
		"tls_connect = \"required\"; $1 } );" >client.conf
	options=${options/proto=tcp/proto=tls} # for url()
	run_proxy client
}

# shows_tls HOST: all connections to the proxy there are by TLS
shows_tls() { on "$1" "$CTL" -j connections | jq -e '.connections | length > 0 and all(.client.tls != null)' >/dev/null; }

tls_for_clients() {
	local trust cert key

	begin "Encrypt TCP clients with TLS"
	authority
	install_keys
	put gateway.conf "/etc/rpcrdma-proxy.conf on the gateway"
	put tlshd.conf "/etc/tlshd.conf on the client's host"
	own_paths gateway.conf tlshd.conf
	play_server
	run_proxy gateway
	read -r trust cert key < <(sed -n 's/^x509\..* = //p' tlshd.conf | paste -sd ' ')
	play_tls_client "tls_ca_file = \"$trust\"; tls_cert_file = \"$cert\"; tls_key_file = \"$key\";"
	is_copied
	check "$section: a client writes" writing
	check "$section: by TLS" shows_tls gateway
	check "$section: the log names the client" wait_for 10 grep -q 'TLS from client.example.net' gateway.log
	check "$section: what was being written is written" written
	check "$section: a client without TLS is refused" eval \
		'[ "$(limited_on client 60 python3 -B $E2E_SRC/tls_client.py --host $server --from 192.0.2.10:811 2049 null)" = "null: AUTH_TOOWEAK" ]'
	end
}

tls_on_both_sides() {
	local NFS_PORT=3049

	begin "Two proxies on a hostile network"
	authority filer
	install_keys
	put gateway.conf "/etc/rpcrdma-proxy.conf on the gateway"
	put gateway2.conf "/etc/rpcrdma-proxy.conf on the second gateway"
	own_paths gateway.conf gateway2.conf
	# Addresses in place of the tunnel, and a proxy in place of the server's tlshd.
	on gateway ip address add 198.51.100.30/24 dev eth0
	on gateway2 ip address add 198.51.100.31/24 dev eth0
	echo "services = ( { name = \"server\"; listen = \"tcp://192.0.2.1:2049\"; connect = \"tcp://127.0.0.1:$NFS_PORT\";" \
		"tls = \"required\"; tls_cert_file = \"$T/nfs-tls/filer.pem\"; tls_key_file = \"$T/nfs-tls/filer.key\"; } );" >filer.conf
	run_proxy filer
	run_proxy gateway2
	run_proxy gateway
	play_tls_client "tls_ca_file = \"$T/nfs-tls/ca.pem\";"
	is_copied
	check "$section: a client writes" writing
	check "$section: by TLS to the first proxy" shows_tls gateway
	check "$section: and to the server" shows_tls filer
	check "$section: what was being written is written" written
	end
	on gateway ip address del 198.51.100.30/24 dev eth0
	on gateway2 ip address del 198.51.100.31/24 dev eth0
}

# ---------------------------------------------------------------- stunnel

stunnel_on_tcp() {
	local command

	GANESHA_PRIVILEGED=false begin "TLS towards a TCP server"
	put gateway.conf "/etc/rpcrdma-proxy.conf on the gateway"
	put stunnel-gateway.conf "/etc/stunnel/filer.conf on the gateway"
	put stunnel-filer.conf "/etc/stunnel/exports.conf on the filer"
	while read -r command; do
		check "$section: ${command%% *}" on filer bash -c "${command//\/etc\/stunnel/$T}"
	done < <(part "$section" "commands on the filer")
	for host in filer gateway; do
		sed -i "s|/etc/stunnel|$T|; 1i foreground = yes\\npid =\\ndebug = info" stunnel-$host.conf
		run $host stunnel-$host stunnel4 $T/stunnel-$host.conf
	done
	opens filer stunnel-filer 2051 && opens gateway stunnel-gateway 2050 || bail "stunnel does not start"
	run_proxy gateway
	play_client
	is_copied
	check "$section: by TLS" wait_for 10 grep -q 'TLSv1.[23] ciphersuite' stunnel-filer.log
	end
}

# ---------------------------------------------------------------- WireGuard

wireguard_under_iwarp() {
	local host command

	begin "WireGuard under iWARP"
	command=$(part "$section" "commands on the client's host, and on the filer")
	for host in client filer; do
		put $host.conf "/etc/rpcrdma-proxy.conf on $(host_called $host)"
		mkdir -p -m 700 wg-$host
		put wg-$host/wg0.conf "/etc/wireguard/wg0.conf on $(host_called $host)"
		on $host bash -c "umask 077; ${command//\/etc\/wireguard/$T\/wg-$host}" >wg-$host/public
	done
	for host in client filer; do
		sed -i "s|PUBLIC_KEY_OF_THE_CLIENT|$(<wg-client/public)|; s|PUBLIC_KEY_OF_THE_FILER|$(<wg-filer/public)|
			s|KEY_OF_THE_CLIENT|$(<wg-client/key)|; s|KEY_OF_THE_FILER|$(<wg-filer/key)|" wg-$host/wg0.conf
	done
	run_proxy filer
	check "$section: it says that its address is not there yet" wait_for 10 grep -q 'is not configured on this host' filer.log
	for host in client filer; do
		on $host mount -t tmpfs tmpfs /run/wireguard
		check "$section: the tunnel of $host is up" on $host wg-quick up $T/wg-$host/wg0.conf
	done
	run_proxy client
	is_copied
	check "$section: through the tunnel" through_tunnel
	end
}
through_tunnel() { [ "$(on filer wg show wg0 transfer | awk '{ print $2 }')" -gt "$(stat -c %s "$PROXY")" ]; }

# ---------------------------------------------------------------- on the client's own host

locked() { grep -q '^VmLck:.* [1-9][0-9]* kB' "/proc/$(pgrep -f "$T/client.conf" | tail -n 1)/status"; }

client_that_writes_much() {
	begin "A client that writes much"
	put client.conf "/etc/rpcrdma-proxy.conf on the client's host"
	play_server
	run_proxy client
	is_copied
	check "$section: its memory is locked" locked
	end
}

socket_unit() {
	local listen name

	begin "A socket unit"
	put rpcrdma-proxy.socket "/etc/systemd/system/rpcrdma-proxy.socket on the client's host"
	put client.conf "/etc/rpcrdma-proxy.conf on the client's host"
	listen=$(sed -n 's/^ListenStream=//p' rpcrdma-proxy.socket) name=$(sed -n 's/^FileDescriptorName=//p' rpcrdma-proxy.socket)
	play_server
	run client client $activate -l "$listen" --fdname="$name" "$PROXY" -c $T/client.conf
	opens client client 2049 || bail "the socket is not there"
	# Its port is in use, so the daemon must use the inherited socket.
	is_copied
	end
}

# ---------------------------------------------------------------- all of them

# needs SECTION PROGRAM...: skips the section if a program is missing
needs() {
	local program what=$1

	shift
	for program; do
		command -v "$program" >/dev/null || { ok "$what # SKIP $program is not installed"; return 1; }
	done
}

page_hosts filer 192.0.2.1 client 192.0.2.10 gateway 192.0.2.30 gateway2 192.0.2.31
mkdir -p /run/wireguard
activate=systemd-socket-activate
if needs keepalived keepalived; then two_gateways; fi
several_addresses
if needs HAProxy haproxy; then haproxy_in_front; fi
exports_that_name_clients
many_clients
if needs TLS openssl; then
	tls_for_clients
	tls_on_both_sides
fi
if needs stunnel stunnel4 openssl; then stunnel_on_tcp; fi
if [ ! -c /dev/net/tun ]; then
	ok "WireGuard # SKIP there is no /dev/net/tun"
elif needs WireGuard wireguard-go wg wg-quick; then
	wireguard_under_iwarp
fi
# A sanitizer's shadow memory is too large to be locked.
[ -n "${E2E_SANITIZED:-}" ] || client_that_writes_much
if needs "socket unit" $activate; then socket_unit; fi
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The basic recipes of doc/recipes.md work as they are written. The test takes files, exports and mounts from the page,
# and copies a file through each recipe, on hosts with the page's names and addresses. libnfs mounts instead of the
# kernel. An NFS/RDMA client or server of the page is simulated by a proxy in front of libnfs or NFS-Ganesha.
# README_SHOW=1 prints the output of the commands under "Check that it works" in doc/troubleshooting.md.
. "$(dirname "$0")/lib.sh"
enter "$@"
. "$E2E_SRC/hosts.sh"
PAGE=$E2E_SRC/../../doc/recipes.md
SHOWN=$E2E_SRC/../../doc/troubleshooting.md
. "$E2E_SRC/pages.sh"
needs_proxies

# ---------------------------------------------------------------- the hosts

# one_more FILE SERVICE: adds it to the file's list of services
one_more() {
	local text

	text=$(<"$1")
	printf '%s,\n%s\n);\n' "${text%);*}" "$2" >"$1"
}

# kind SECTION: prints the kind of client in the page
kind() { echo "${1%%,*}"; }

# carry_mount SECTION FILE: adds the page's keys for NFSv3 to its service; they replace existing keys
carry_mount() {
	local keys

	keys=$(part NFSv3 "in the service next to the server: $(kind "$1")")
	[ -n "$keys" ] || return 1
	! grep -q listen <<<"$keys" || sed -i 's/listen = "[^"]*";//' "$2"
	sed -i "s|connect = |${keys//|/\\|} connect = |" "$2"
}

# next_to_server SECTION: prints the host of the proxy next to the server
next_to_server() {
	case $1 in
	"TCP client, RDMA server") echo client ;;
	"RDMA client, RDMA server") echo gateway ;;
	*) echo filer ;;
	esac
}

# write_files SECTION [v3]: writes the files of its proxies, and of those that simulate an NFS/RDMA server and client
write_files() {
	local section=$1 version=${2:-} host

	rm -f client.conf filer.conf gateway.conf stand-in
	for host in filer gateway client; do
		part "$section" "/etc/rpcrdma-proxy.conf on $(host_called $host)" >$host.conf
		[ -s $host.conf ] || rm $host.conf
	done
	[ -z "$version" ] || carry_mount "$section" "$(next_to_server "$section").conf" || bail "recipes.md says nothing of $section"
	if [ ! -e filer.conf ]; then
		echo 'services = ( { name = "server"; listen = "rdma://[::]:20049"; connect = "tcp://127.0.0.1:2049"; } );' >filer.conf
		touch stand-in
	fi
	if [ "$(option proto)" = rdma ]; then
		echo "services = ( { name = \"client\"; listen = \"tcp://127.0.0.1:$FRONT_PORT\";" \
			"connect = \"rdma://$server:$(option port)\"; } );" >client.conf
		[ -z "$version" ] || one_more client.conf "{ name = \"client-mount\"; listen = \"tcp://127.0.0.1:$FRONT_MNT\";
			connect = \"tcp://$server:$(option mountport)\"; require_privileged_port = true; }"
	fi
}

# said COMMAND: prints the line below it in troubleshooting.md
said() { sed -n "/^    \$ $1/{n;s/^ *//;p}" "$SHOWN"; }

# heads HOST COMMAND: the output of the control client begins with the column heads of troubleshooting.md
heads() {
	local shown

	shown=$(said "rpcrdma-proxyctl $2" | xargs)
	[ -n "$shown" ] && on "$1" "$CTL" "$2" | head -n 1 | xargs | grep -qF "$shown"
}

# screen HOST: status shows the lines of troubleshooting.md there, except for numbers and durations
screen() {
	local shown said

	shown=$(sed -n '/^    \$ rpcrdma-proxyctl status$/,/^[^ ]/s/^    \([a-zA-Z]\)/\1/p' "$SHOWN")
	said=$(on "$1" "$CTL" status | grep .)
	[ -n "$shown" ] && [ "$(cut -d ' ' -f 1 <<<"$shown")" = "$(cut -d ' ' -f 1 <<<"$said")" ] &&
		[ "$(grep '^no problems' <<<"$shown")" = "$(grep '^no problems' <<<"$said")" ] &&
		[ "$(grep ^SERVICE <<<"$shown" | xargs)" = "$(grep ^SERVICE <<<"$said" | xargs)" ]
}

# opened HOST: its log has the line of troubleshooting.md, except for numbers
opened() {
	local line

	line=$(said journalctl | sed 's/[].[]/\\&/g; s/[0-9][0-9]*/[0-9]+/g')
	[ -n "$line" ] && wait_for 10 grep -qE " info: $line" "$1.log"
}

# found_right HOST: a check of its file ends as troubleshooting.md shows
found_right() {
	local shown

	shown=$(said "rpcrdma-proxy -t")
	[ -n "$shown" ] && [ "$(on "$1" "$PROXY" -t -c "$T/$1.conf" | tail -n 1)" = "$T/$1.conf: ${shown#*: }" ]
}

# shown HOST: troubleshooting.md shows the output of the programs
shown() { found_right "$1" && screen "$1" && heads "$1" services && heads "$1" connections && opened "$1"; }

# show HOST: prints the output of the commands under "Check that it works" there
show() {
	note "$1: rpcrdma-proxy -t
$(on "$1" "$PROXY" -t -c "$T/$1.conf" 2>&1)"
	note "$1: rpcrdma-proxyctl services
$(on "$1" "$CTL" services)"
	note "$1: rpcrdma-proxyctl connections
$(on "$1" "$CTL" connections)"
	note "$1: the log
$(cat "$1.log")"
}

stop_all() {
	local name

	for name in client gateway filer; do
		[ -n "${pid_of[$name]:-}" ] || continue
		stop $name
		[ "$exit_status" = 0 ] || not_ok "the proxy on $name ends with $exit_status"
	done
	stop ganesha KILL
}

# ---------------------------------------------------------------- a recipe

# recipe SECTION CHECKED_ON [v3]: runs a recipe
recipe() {
	local what="$1${3:+, NFSv3}" section=$1 checked=$2 version=${3:-} address host mount
	local -a addresses

	if [ -n "$version" ]; then
		mount=$(part NFSv3 "commands on the client's host: $(kind "$section")" | grep '^mount ')
		[ "$checked" != gateway ] || mount=${mount/ filer:/ gateway:}
	else
		mount=$(part "$section" "commands on the client's host" | grep '^mount ')
		check "$what: the recipe ends with the check" \
			grep -qx 'rpcrdma-proxyctl connections' <(part "$section" "commands on $(host_called "$checked")")
	fi
	take_mount "$mount" || bail "$what: no mount line in recipes.md"
	write_files "$section" "$version"
	address=$(part "$section" "/etc/exports on the filer" | sed -n "s|^$directory \(.*\)(rw)\$|\1|p")
	check "$what: the export is the one that is mounted" [ -n "$address" ]
	addresses=("$address")
	[ ! -e stand-in ] || addresses+=(127.0.0.1)
	rm -rf export/* ./*.log
	start_server "${addresses[@]}"
	for host in filer gateway client; do
		[ -e $host.conf ] || continue
		check "$what: the file of $(host_called $host) is without mistake" on $host "$PROXY" -t -c "$T/$host.conf"
		check "$what: its proxy starts" start_proxy_on $host
	done
	check "$what: a file is copied there and back" copied "file$version"
	check "$what: it went over RDMA" wait_for 10 grep -q 'over iwarp' client.log
	start_on client holder "$BIN/nfs_client" "$(url)" hold held 1m 1
	check "$what: the connection is shown as open" wait_for 20 shows "$checked"
	# The server knows the last proxy by the address in its export.
	[ ! -e stand-in ] ||
		check "$what: the server sees the address of its export" wait_for 20 seen filer "$address"
	[ "$what" != "TCP client, RDMA server" ] || check "troubleshooting.md shows what the programs say" shown client
	[ -z "${README_SHOW:-}" ] || show "$checked"
	stop holder KILL
	stop_all
}

# ---------------------------------------------------------------- what is no recipe of its own

two_filers() {
	local section="Two filers on one host" line copies=0

	take_mount "mount -t nfs -o vers=4.2,proto=tcp,port=2049 127.0.0.1:/export /mnt"
	write_files "$section"
	start_server 127.0.0.1
	check "$section: both proxies start" eval "start_proxy_on filer && start_proxy_on client"
	while read -r line; do
		take_mount "$line" || bail "no mount line"
		copies=$((copies + 1))
		check "$section: a file is copied through $server" copied "two-$copies"
	done < <(part "$section" "commands on the client's host" | grep '^mount ')
	check "$section: there were two" [ $copies = 2 ]
	stop_all
}

# A proxy takes the place of the NFS server on the client's host, at its address.
port_held() {
	local section="A host whose own NFS server holds port 2049"

	take_mount "$(part "$section" "commands on the client's host" | grep '^mount ')" || bail "no mount line"
	write_files "$section"
	start_server 127.0.0.1
	echo "control = \"$T/knfsd.sock\"; services = ( { name = \"knfsd\"; listen = \"tcp://[::]:2049\";" \
		"connect = \"tcp://filer:2049\"; } );" >knfsd.conf
	start_on client knfsd "$PROXY" -c $T/knfsd.conf
	opens client knfsd 2049 || bail "nothing holds port 2049"
	part "TCP client, RDMA server" "/etc/rpcrdma-proxy.conf on the client's host" >taken.conf
	check "$section: the proxy cannot have it" not limited_on client 20 "$PROXY" -c $T/taken.conf
	check "$section: both proxies start" eval "start_proxy_on filer && start_proxy_on client"
	check "$section: a file is copied" copied held-port
	stop knfsd
	stop_all
}

# kerberos: checks the file of a recipe that the laboratory mounts (tests/lab/guest/krb5.sh), because libnfs has no
# Kerberos here
kerberos() {
	local section="Kerberos with a proxy on the client's host" address name

	part "$section" "/etc/rpcrdma-proxy.conf on the client's host" >kerberos.conf
	read -r address name < <(part "$section" "/etc/hosts on the client's host")
	take_mount "$(part "$section" "commands on the client's host" | grep '^mount ')" || bail "no mount line"
	check "$section: the file is without mistake" "$PROXY" -t -c $T/kerberos.conf
	check "$section: the mounted name has the address of the listener" \
		eval '[ "$server" = "$name" ] && grep -qF "tcp://$address:$(option port)" kerberos.conf'
}

# unit_of_fstab: the line of the page makes a mount unit that is ordered after the proxy
unit_of_fstab() {
	mkdir -p units
	grep -E '^ +[0-9.]+:/export /mnt nfs ' "$PAGE" >fstab &&
		SYSTEMD_FSTAB=$T/fstab $generator $T/units $T/units $T/units &&
		grep -qx 'After=rpcrdma-proxy.service' units/mnt.mount && ! grep -q '^Requires=rpcrdma' units/mnt.mount
}

page_hosts filer 192.0.2.1 client 192.0.2.10 gateway 192.0.2.30
echo "192.0.2.1 filer2" >>hosts

for version in "" v3; do
	recipe "TCP client, RDMA server" client $version
	recipe "RDMA client, TCP server" filer $version
	recipe "TCP client, TCP server" client $version
	recipe "RDMA client, RDMA server" gateway $version
done
two_filers
port_held
kerberos
generator=/usr/lib/systemd/system-generators/systemd-fstab-generator
if [ -x $generator ]; then
	check "fstab: the mount comes after the proxy and is not unmounted with it" unit_of_fstab
fi
finish

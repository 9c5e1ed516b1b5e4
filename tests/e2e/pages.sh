# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Extracts the recipes of a page, and runs them as they are written. Source it after hosts.sh; $PAGE is the file.

# ---------------------------------------------------------------- the page

# fences SECTION: prints its fenced blocks, with a line "--" after each
fences() {
	awk -v head="$1" '
		/^##/ { sub(/^##+ /, ""); here = $0 == head; next }
		here && /^```/ { if (inside) print "--"; inside = !inside; next }
		here && inside' "$PAGE"
}

# part SECTION TITLE: prints the lines after "# TITLE" in a fenced block
part() { fences "$1" | awk -v title="# $2" '/^(# |--)/ { here = $0 == title; next } here'; }

# block SECTION TITLE: prints the fenced block that has "# TITLE"
block() {
	fences "$1" | awk -v title="# $2" '
		$0 == title { found = 1 }
		/^--/ { if (found) exit; text = ""; next }
		{ text = text $0 "\n" }
		END { if (found) printf "%s", text }'
}

# host_called NAME: prints the host for the page's name of it
host_called() { [ "$1" = client ] && echo "the client's host" || echo "the $1"; }

# take_mount LINE: reads mount -t nfs -o OPTIONS SERVER:PATH DIR; sets server, directory, and options for option()
take_mount() {
	local target

	read -r _ _ _ _ options target _ <<<"$1"
	server=${target%%:*} directory=${target#*:}
	[ -n "$server" ] && [ "$directory" != "$target" ]
}

option() { tr , '\n' <<<"$options" | sed -n "s/^$1=//p"; }

# ---------------------------------------------------------------- the hosts

# page_hosts HOST ADDRESS...: as wire; NFS-Ganesha is available on the filer
page_hosts() {
	can_open_by_handle || skip_all "NFS-Ganesha's VFS needs root outside user namespaces"
	command -v ganesha.nfsd >/dev/null || skip_all "NFS-Ganesha is not installed"
	command -v nfs-cp >/dev/null || skip_all "nfs-cp is not installed"
	have_mtab $T/etc || bail "NFS-Ganesha needs /etc/mtab" # before the names of the hosts are in /etc
	wire "$@"
	mkdir -p export recovery
	chmod 777 export
	start_on filer rpcbind rpcbind -f -w
	opens filer rpcbind 111 || bail "rpcbind does not start"
}

# start_server ADDRESS...: starts NFS-Ganesha on the filer, exported only to these, and only to reserved ports unless
# GANESHA_PRIVILEGED is false
start_server() {
	local clients=$*

	GANESHA_PRIVILEGED=${GANESHA_PRIVILEGED:-true} ganesha_config |
		sed "s|Access_Type = RW;|Access_Type = NONE; CLIENT { Clients = ${clients// /, }; Access_Type = RW; }|" >ganesha.conf
	start_on filer ganesha ganesha.nfsd -F -f $T/ganesha.conf -L $T/ganesha.log -p $T/ganesha.pid -N NIV_EVENT
	opens filer ganesha $NFS_PORT $MNT_PORT || bail "NFS-Ganesha does not start"
}

# listening FILE: prints the ports of its services
listening() { grep -o 'listen *= *[^;]*;' "$1" | grep -o '://[^"]*:[0-9]*"' | sed 's/.*:\([0-9]*\)"/\1/'; }

# start_proxy_on HOST: starts a proxy with $T/HOST.conf
start_proxy_on() {
	local ports

	mapfile -t ports < <(listening "$1.conf")
	start_on "$1" "$1" "$PROXY" -c "$T/$1.conf"
	opens "$1" "$1" "${ports[@]}"
}

# url [PATH]: prints libnfs's URL for the mount line
url() {
	local at=$server port mountport

	port=$(option port) mountport=$(option mountport)
	[ "$(option proto)" = tcp ] || at=127.0.0.1 port=$FRONT_PORT mountport=$FRONT_MNT
	echo "nfs://$at$directory${1:+/$1}?version=$(option vers | cut -c1)&nfsport=$port${mountport:+&mountport=$mountport}"
}

# copied NAME: copies a file to the server and back
copied() {
	rm -f "back-$1"
	limited_on client 60 "$BIN/nfs_client" "$(url)" put "$PROXY" "$1" && cmp "$PROXY" "export/$1" &&
		limited_on client 60 nfs-cp "$(url "$1")" "back-$1" && cmp "$PROXY" "back-$1"
}

# shows HOST: the check command of the recipe shows an open connection
shows() { on "$1" "$CTL" connections | grep -q ' open'; }

# seen HOST ADDRESS: the proxy there shows this client
seen() { on "$1" "$CTL" -j connections | grep -qF "$2"; }

# SPDX-License-Identifier: BSD-3-Clause
# A proxy on the host with several servers in one service: which server the client's connections use, and what happens
# when this server dies.

# leads_to PROXY COUNTS: compares the number of connections to each server with COUNTS, such as "4 0".
leads_to() {
	local counts
	counts=$(host proxy_targets "$1")
	echo "$1: $counts connections"
	[ "$counts" = "$2" ]
}

# together PROXY VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: the four connections of one mount use one server.
together() {
	local proxy=$1
	NFS_OPTIONS=nconnect=4 nfs_mount "$2" "$3" "$4" "${@:5}"
	[ "$(mount_kind)" = "$5" ] || fail "asked for $5, got $(mount_kind)"
	work_files
	leads_to "$proxy" "4 0" || fail "the connections of one mount are not together"
	mount_clean
	umount /mnt/n
}

# server_lost PROXY STANDBY VERSION ADDRESS PORT [MOUNTADDR MOUNTPORT]: two NFS-Ganeshas have one export; the one in use
# is killed under load. STANDBY is warm if the other one runs already, or cold if it starts after the kill, with the
# same recovery directory. The load must continue there, stay there when the first server returns, and find all
# acknowledged data on the disk.
server_lost() {
	local proxy=$1 standby=$2 dir=lost.$RANDOM
	shift 2
	host node_start node1
	[ "$standby" = cold ] || host node_start node2
	nfs_mount "$1" "$2" "$3" tcp "${@:4}"
	load_start lost "/mnt/n/$dir" $((512 << 20)) 0
	load_passes "$load_fd" 3
	leads_to "$proxy" "1 0" || fail "the client is not at the first server"
	host node_kill node1
	[ "$standby" = warm ] || host node_start node2
	load_passes "$load_fd" 3
	leads_to "$proxy" "0 1" || fail "the client is not at the second server"
	if [ "$standby" = warm ]; then
		host node_start node1
		load_passes "$load_fd" 3
		leads_to "$proxy" "0 1" || fail "the server that is back has moved a client"
	fi
	kill -TERM "$load_pid"
	while [[ $load_line != "done "* ]]; do load_next "$load_fd"; done
	umount /mnt/n
	nfs_mount "$1" "$2" "$3" tcp "${@:4}"
	load_verified lost "/mnt/n/$dir"
	SERVER=ganesha server_verified lost "$dir"
	rm -r "/mnt/n/$dir"
	umount /mnt/n
	host node_kill node1
	host node_kill node2
}

servers_rows() {
	host_row several tcp://10.0.2.2:2130 tcp://10.0.2.15:2049,tcp://127.0.0.1:2149 'balance = "standby";'
	row "tcp client, nconnect=4, tcp=>tcp, two servers, 4.1: all on one" together several 4.1 10.0.2.2 2130 tcp
	row "tcp client, nconnect=4, tcp=>tcp, two servers, 3: all on one" together several 3 10.0.2.2 2130 tcp
	# The NFSv4 client of 6.1 ignores nconnect over RDMA, and has one connection (nfs4client.c:nfs4_set_client).
	case $(uname -r) in
	6.1.*) ;;
	*)
		host_row several-rdma iwarp://10.0.2.2:2132 tcp://10.0.2.15:2049,tcp://127.0.0.1:2149 'balance = "standby";'
		row "siw client, nconnect=4, iwarp=>tcp, two servers, 4.2: all on one" together several-rdma 4.2 10.0.2.2 2132 rdma
		;;
	esac
	host_row nodes tcp://10.0.2.2:2131 tcp://127.0.0.1:2151,tcp://127.0.0.1:2152 'balance = "standby";'
	NFS3_PATH=/export row "tcp client, tcp=>tcp, two NFS-Ganeshas, 3: the active one is killed" \
		server_lost nodes warm 3 10.0.2.2 2131 10.0.2.2 20151
	NFS4_PATH=/export row "tcp client, tcp=>tcp, two NFS-Ganeshas, 4.1: the active one is killed, the standby started then" \
		server_lost nodes cold 4.1 10.0.2.2 2131
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests how rows judge reconnects: only as many as there were wrong CRCs from siw are allowed. TAP.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lab/proxy.sh"
. "$srcdir/tests/lab/guest/mount.sh"
proxy_dir=$(mktemp -d) || exit 1
trap 'rm -r "$proxy_dir"' EXIT

# Replacements for the guest and its host.
mount_transport() { echo "$stats"; }
asked() { "${@:2}"; }
say() { echo "$*"; }
uname() { echo 6.1.0; }

tcp() { stats="tcp 0 0 $1 0 1 1170 1166 0 1644 0 9 59 43"; }
rdma() { stats="rdma 0 0 $1 2 0 298 294 0 738 0 39 77 33 9240178 8372629 6364 1041 85388 4 ${2:-0} 0 0 0 24 16 0 0"; }

# note CONNECTION LEG WHAT: writes a line into the proxy's log
note() {
	echo "2026-11-27T05:58:12.139Z info: [$1] $2: peer sent an FPDU with a wrong CRC ($3); answered with Terminate 20 02" >>"$log"
}

# begin ROW PROXY: the row has just mounted through PROXY; its log still has lines of earlier rows.
begin() {
	row_name=$1 mount_by="host $2" log=$proxy_dir/$2.log
	: >"$log"
	note "$2#1 10.0.2.15:875" server "RDMA Write"
	note "$2#2 10.0.2.15:876" client "Read Response"
	mount_connects=$(mount_transport | cut -d' ' -f4)
	crc_faults
	mount_crc_faults=${#crc_faults[@]}
}

# judged: prints the output of mount_clean and its status
judged() {
	mount_clean | grep -v '^mountstats: '
	echo "${PIPESTATUS[0]}"
}

server="tcp client, tcp=>iwarp, knfsd over siw, 4.2"
client="configuration: siw client, iwarp=>tcp, knfsd, 4.1"
tcp 2; begin "$server" tcp-iwarp
same "a mount without reconnects is clean, independent of earlier rows" 0 "$(judged)"
tcp 4
same "a reconnect that nothing explains is a failure" "reconnected: 4 connects, not 2|1" "$(judged | paste -sd '|')"
note "tcp-iwarp#201 10.0.2.15:875" server "RDMA Write"
same "one after a wrong CRC of siw is not, and is reported with the kernel's version" \
	"# siw of Linux 6.1.0 sent wrong CRCs, and the client connected again for each: 1 RDMA Write|0" "$(judged | paste -sd '|')"
tcp 6
same "a further reconnect fails" "reconnected: 6 connects, not 4|1" "$(judged | tail -n +2 | paste -sd '|')"
tcp 2
same "a wrong CRC without a reconnect fails, too" "reconnected: 2 connects, not 4|1" "$(judged | tail -n +2 | paste -sd '|')"
note "tcp-iwarp#203 10.0.2.15:955" server "Send"
tcp 6
same "two explain two" \
	"# siw of Linux 6.1.0 sent wrong CRCs, and the client connected again for each: 1 RDMA Write, 1 Send|0" \
	"$(judged | paste -sd '|')"
begin "$server" tcp-iwarp
note "tcp-iwarp#204 10.8.1.2:816" server "RDMA Write"
note "tcp-iwarp#205 10.0.2.150:816" server "RDMA Write"
note "tcp-iwarp#206 10.0.2.15:875" server "RDMA Write"
sed -i '$ s/with a wrong CRC/too short for its headers/' "$log"
note "other#207 10.0.2.15:875" server "RDMA Write"
tcp 6
same "a connection of another client, another service and another fault count for nothing" 0 "$(judged)"
tcp 8
same "nor do they explain a reconnect" "reconnected: 8 connects, not 6|1" "$(judged | paste -sd '|')"

rdma 1; begin "$client" conf-tcp
note "conf-tcp#1 10.0.2.15:46148" client "Read Response"
rdma 2
same "on RDMA a connection counts once" \
	"# siw of Linux 6.1.0 sent wrong CRCs, and the client connected again for each: 1 Read Response|0" \
	"$(judged | paste -sd '|')"
rdma 3
same "and a second one is a failure" "reconnected: 3 connects, not 2|1" "$(judged | tail -n +2 | paste -sd '|')"
rdma 2 1
same "a bad Reply fails even with a wrong CRC" "1 bad replies|1" "$(judged | tail -n +2 | paste -sd '|')"
tcp 2; begin "$server" tcp-iwarp
note "tcp-iwarp#1 10.0.2.15:875" server "RDMA Write"
tcp 4
stats=${stats/ 1166 0 / 1166 3 }
same "so does a Reply with an unknown XID" "3 replies with unknown XIDs|1" "$(judged | tail -n +2 | paste -sd '|')"

tcp 2; begin "draft 03: tcp client, tcp=>iwarp, iwarp=>tcp, knfsd, 4.2" draft03
note "draft03#1 10.0.2.15:875" server "RDMA Write"
tcp 4
same "where the peer is a proxy of ours a wrong CRC explains nothing" "reconnected: 4 connects, not 2|1" "$(judged | paste -sd '|')"
same "siw is the acceptor below its server" acceptor "$(siw_end "$server")"
same "the initiator below its client" initiator "$(siw_end "$client")"
same "and neither between proxies" "" "$(siw_end "tcp client, tcp=>iwarp, verbs=>tcp on siw, knfsd, 4.1")"
same "of 6.12 it is the same" initiator "$(uname() { echo 6.12.95+deb12-amd64; }; siw_end "$client")"
same "of another kernel nothing is excused" "" "$(uname() { echo 6.18.1; }; siw_end "$client")"

# The client's own timer also ends a connection.
limit_s() { echo $(($1 * factor)); }
options() { unset timeo; nfs_where 4.1 2049 rdma; tr , '\n' <<<"$nfs_options" | grep '^timeo=' | tail -1; }
same "a Call has 10 s on an idle machine" timeo=100 "$(factor=1 options)"
same "seven times that on one that is seven times slower" timeo=700 "$(factor=7 options)"
same "and what a row says, if it does" timeo=20 "$(NFS_OPTIONS=timeo=20 factor=7 options)"
tap_end

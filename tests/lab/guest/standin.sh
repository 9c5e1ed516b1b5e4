# SPDX-License-Identifier: BSD-3-Clause
# Rows in which rxe and siw simulate devices of other drivers (tests/standin). Two chained proxies have these devices
# between them: TCP client, tcp=>verbs, verbs=>tcp, knfsd.

# standin_pair NAME ADDRESS PORT VARIABLES...: starts two proxies, NAME and NAME-server, with these variables.
# STANDIN_KEYS are further keys of their services.
standin_pair() {
	local name=$1 address=$2 port=$3 keys="max_connections = 8; ${STANDIN_KEYS:-}"
	shift 3
	local PROXY_IN="env LD_PRELOAD=$LAB_BUILD/tests/standin/standin.so $*"
	proxy_start "$name-server" "verbs://$address:$port" tcp://127.0.0.1:2049 "$keys"
	proxy_start "$name" "tcp://10.0.2.15:$((port + 1))" "verbs://$address:$port" "$keys"
}

# standin_end NAME: unmounts, then stops the proxies, because unmounting needs the server.
standin_end() {
	! grep -q " /mnt/n " /proc/mounts || umount -f -l /mnt/n
	proxy_stop "$1" KILL
	proxy_stop "$1-server" KILL
}

# standin_profile PROFILE DEVICE ADDRESS KEYS VERSION: KEYS is the counter of the required method of memory exposure.
standin_profile() {
	local name=standin-$1-$2 lent
	trap "standin_end $name" EXIT
	standin_pair "$name" "$3" 2281 STANDIN_PROFILE="$1"
	through guest "$name" "$5" 10.0.2.15 2282 tcp
	grep -q "standin: device ${2}0 stands in for $1" "$proxy_dir/$name.log" || fail "the stand-in is not there"
	lent=$(proxy_count "$name" "$4")
	[ "$lent" -gt 0 ] || fail "$4 is $lent"
	say "# $1 on $2: $4 $lent"
}

# standin_row PROFILE DEVICE ADDRESS KEYS VERSION...: tests a profile. Traffic over siw is judged, because siw uses TCP.
standin_row() {
	local version row=row
	[ "$2" != siw ] || row=judged
	for version in "${@:5}"; do
		JUDGE_HERE=lo $row "$2 as $1${STANDIN_KEYS:+ without windows}: tcp client, tcp=>verbs, verbs=>tcp, knfsd, $version" \
			standin_profile "$1" "$2" "$3" "$4" "$version"
	done
}

standin_rows() {
	standin_row mlx5 rxe 10.9.0.1 windows_bound $(versions 4.1)
	standin_row bnxt_re rxe 10.9.0.1 regions_lent $(versions 3)
	[ "$LAB_TIER" != short ] || return 0
	STANDIN_KEYS='memory_windows = "off";' standin_row mlx5 rxe 10.9.0.1 regions_lent 3 4.2
	standin_row mlx4 rxe 10.9.0.1 windows_bound 3 4.2
	standin_row irdma rxe 10.9.0.1 regions_lent 3 4.2
	standin_row hns rxe 10.9.0.1 regions_lent 3 4.2
	standin_row qedr rxe 10.9.0.1 regions_lent 3 4.2
	standin_row irdma siw 10.0.2.15 regions_lent 3 4.2
	standin_row cxgb4 siw 10.0.2.15 regions_lent 3 4.2
	standin_row qedr siw 10.0.2.15 regions_lent 3 4.2
}

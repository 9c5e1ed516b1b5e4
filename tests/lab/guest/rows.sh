# SPDX-License-Identifier: BSD-3-Clause
# Functions shared by the rows: proxies on either side, a workload through one of them, and the proof that its traffic
# went through this proxy.
. "$lab/proxy.sh"
. "$lab/capture.sh"
. "$lab/guest/clients.sh"
. "$lab/guest/kills.sh"
. "$lab/guest/chain.sh"
proxy_dir=/run/proxies
capture_dir=/run/captures

# bytes SIDE PROXY: prints the byte counters of a proxy in this guest or on the host.
bytes() {
	case $1 in
	host) host proxy_bytes "$2" ;;
	guest) proxy_bytes "$2" ;;
	esac
}

# asked SIDE COMMAND ARGUMENTS...: runs a function of proxy.sh for a proxy in this guest or on the host.
asked() {
	case $1 in
	host) host "${@:2}" ;;
	guest) "${@:2}" ;;
	esac
}

# host_row NAME LISTEN[,LISTEN] CONNECT [KEYS]: starts a proxy on the host; a failure is a separate row.
host_row() {
	local text
	text=$(host proxy_start "$@") || say "not ok proxy $1 on the host: $text"
}

# guest_row NAME LISTEN CONNECT [KEYS]: starts a proxy in this guest, with KEYS for its service.
guest_row() {
	mkdir -p $proxy_dir
	local text
	proxy_start "$@" >/run/proxy-start.log || say "not ok proxy $1 in the guest: $(tail -1 /run/proxy-start.log)"
}

# versions SHORT...: prints the versions to test: SHORT in the short tier, otherwise all.
versions() {
	if [ "$LAB_TIER" != short ]; then
		echo 3 4.0 4.1 4.2
	else
		echo "$@"
	fi
}

# few: prints the number of repetitions: two, and three in the longer tiers.
few() { [ "$LAB_TIER" = short ] && echo 2 || echo 3; }

# moments VERSION MAIN: prints the number of kills in a row of that version; in the full tier it is 20 for the version
# MAIN.
moments() {
	if [ "$LAB_TIER" = full ] && [ "$1" = "$2" ]; then
		echo 20
	else
		few
	fi
}

# through SIDE PROXY VERSION ADDRESS PORT PROTO [MOUNTADDR MOUNTPORT]: mounts through a proxy and works there. At least
# 12 MiB must pass this proxy, on the requested transport. WORK is the work, by default that of the tier. SECOND is the
# address for another client of the same server ("ADDRESS PORT PROTO"), by default the same proxy.
through() {
	local side=$1 proxy=$2 version=$3 address=$4 port=$5 proto=$6 before after second mount_by="$1 $2"
	shift 6
	second="${SECOND:-$address $port $proto} $*"
	before=$(bytes "$side" "$proxy")
	nfs_mount "$version" "$address" "$port" "$proto" "$@"
	[ "$(mount_kind)" = "$proto" ] || fail "asked for $proto, got $(mount_kind)"
	if [ -n "${WORK:-}" ]; then
		$WORK
	elif [ "$LAB_TIER" = full ]; then
		work_full "$version"
	else
		work_short "$version"
	fi
	mount_clean
	umount /mnt/n
	after=$(bytes "$side" "$proxy")
	[ $((after - before)) -ge $((12 << 20)) ] || fail "only $((after - before)) bytes went through the proxy"
	say "# $((after - before)) bytes through $proxy"
}

# restart SIDE PROXY: kills a proxy by SIGKILL and starts it again.
restart() {
	case $1 in
	host) host proxy_restart "$2" ;;
	guest) proxy_restart "$2" ;;
	esac
}

# rxe_proxies: starts proxies for the kernel's server and client on rxe, and one on siw for a second client.
rxe_proxies() {
	guest_row tcp-siw tcp://10.0.2.15:2201 verbs://10.0.2.15:20049
	guest_row tcp-rxe tcp://10.0.2.15:2202 verbs://10.9.0.1:20049
	guest_row rxe-tcp verbs://10.9.0.1:2204 tcp://127.0.0.1:2049 "busy_poll_us = 50; rnr_retry = 3;"
}

# rxe_rows: tests the kernel's server and client on rxe, with a proxy on verbs.
rxe_rows() {
	local version
	for version in $(versions 4.1); do
		row "tcp client, tcp=>verbs on rxe, knfsd over RDMA, $version" \
			through guest tcp-rxe "$version" 10.0.2.15 2202 tcp
	done
	for version in $(versions 3); do
		SECOND="10.0.2.15 2201 tcp" \
			row "rxe client, verbs=>tcp on rxe, knfsd with secure exports, $version" \
			through guest rxe-tcp "$version" 10.9.0.1 2204 rdma
	done
}

# pair FABRIC ADDRESS LABEL: tests the contract of fabric.h on a fabric of this guest. Each case is a separate result;
# so is a program that does not end.
pair() {
	local line status log=/run/share/pair-$3.log name="$3: fabric_pair"
	wanted "$name" || return 0
	say "row $name"
	within "$LAB_ROW_S" pair_run "$log" "$1" "$2"
	status=$?
	while IFS= read -r line; do
		case $line in
		*"# SKIP"*) say "skip $3: ${line#*: }" ;;
		"ok "*) say "ok $3: ${line#*: }" ;;
		"not ok "*) say "not ok $3: ${line#*: }" ;;
		esac
	done <"$log"
	[ $within_limit = yes ] || row_stuck "$name"
	grep -q '^1\.\.' "$log" || say "not ok $3: fabric_pair ended with status $status"
	say "over $name"
}

pair_run() {
	with_limit 250 "$LAB_BUILD/tests/lab/fabric_pair" "$2" "$3" >"$1" 2>&1
}

# judged NAME FUNCTION ARGUMENTS...: runs a row and, as a second row, the packet judge on its capture. The row ends with
# the verdict. JUDGE has options of the judge: -k for rows with kills, -p for encrypted arguments. siw's wrong CRCs are
# allowed in rows whose name says that siw is the peer (siw_end). JUDGE_HERE is an interface of this guest, which is
# captured instead of the host's.
declare -A judged_rows=()
judged() {
	local name=$1 slug=${1//[^a-zA-Z0-9.]/_} log=/run/capture.log
	wanted "$name" || return 0
	if ! judged_begin "$slug" >$log; then
		say "not ok judge: $name: $(tail -1 $log)"
		row "$@"
		return
	fi
	VERDICT_DUE=yes row "$@"
	if judged_end "$slug" "$(judge_options "$name")" >$log; then
		judged_rows[$slug]=$name
	else
		say "not ok judge: $name: $(tail -1 $log)"
		say "over $name"
	fi
	verdicts
}

judged_begin() {
	if [ -n "${JUDGE_HERE:-}" ]; then
		capture_start "$1" "$JUDGE_HERE"
	else
		host judge_begin "$1"
	fi
}

# judge_options NAME: prints the options for that row.
judge_options() {
	case $(siw_end "$1") in
	initiator) echo "-i 10.0.2.15 ${JUDGE:-}" ;;
	acceptor) echo "-a 10.0.2.15 ${JUDGE:-}" ;;
	*) echo "${JUDGE:-}" ;;
	esac
}

judged_end() {
	if [ -n "${JUDGE_HERE:-}" ]; then
		capture_stop "$1" 127.0.0.1 && mv "$capture_dir/$1.pcapng" /run/share/captures/ &&
			host judge_file "$1" ${capture_bounded:+-b} $2
	else
		host judge_end "$1" $2
	fi
}

# verdicts: reports the new verdicts, each after its remarks.
verdicts() {
	local slug result text
	while IFS='|' read -r slug result text; do
		[ "$result" != "#" ] || { say "# judge: ${judged_rows[$slug]}: $text, Linux $(uname -r)"; continue; }
		say "$result judge: ${judged_rows[$slug]}: $text"
		say "over ${judged_rows[$slug]}"
		unset "judged_rows[$slug]"
	done < <(host judge_verdicts)
}

# verdicts_all: waits for the remaining verdicts, with a limit for each, before a guest ends.
verdicts_all() {
	local begin=$SECONDS left=${#judged_rows[@]}
	while ((${#judged_rows[@]} > 0)) && ! limit_passed "$begin" 400; do
		verdicts
		((${#judged_rows[@]} == left)) || begin=$SECONDS left=${#judged_rows[@]}
		pause 1
	done
	for name in "${judged_rows[@]}"; do say "not ok judge: $name: no verdict"; done
}

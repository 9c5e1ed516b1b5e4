#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs twelve checks of the proxy on this host's RDMA device (./dev hardware; doc/hardware.md). Prints the expected and
# the actual result of each check, and writes a report without names and addresses.
#
# The script runs itself again in PID and mount namespaces, so that no process and no mount outlives it. The network is
# the host's, because RDMA devices belong to it. undo_add (lib.sh) records how to undo each change of the host.
# shellcheck disable=SC1090,SC1091,SC2015,SC2034,SC2154 # it sources the other files, which use what it sets
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

usage() {
	cat <<-'USAGE'
	usage: ./dev hardware [OPTION...]          twelve checks of the proxy on this host's RDMA device, as root
	       ./dev hardware --serve [OPTION...]  on a second host: the servers' side, until Ctrl-C
	  --peer ADDRESS      address of the RDMA interface of the second host. Further --peer options are its other addresses, for
	                      check 11. With --serve: only these addresses may connect
	  --device NAME       the RDMA device (default: the first with an active port and an address)
	  --only N,...        these checks only
	  --minutes N         how long check 8 leaves connections idle (60)
	  --quick             small versions of all checks: minutes instead of hours
	  --nfs ADDRESS:PATH  for check 3: an NFS server that exports PATH to this host over TCP, instead of an NFS-Ganesha started here
	  --dir DIR           directory for 1 GiB of files of that NFS-Ganesha (default: build/hardware)
	  --port N            the first of ten ports that are free (20500)
	  --output FILE       the report (default: build/hardware-report.txt; with --serve hardware-report-second.txt)
	These options permit temporary changes of this host. The program undoes them, even after Ctrl-C:
	  --may-cut           check 8 sets the device's interface down (otherwise it asks you to pull the cable)
	  --may-drop[=NETDEV] check 9 drops packets on the device's interface, or on NETDEV
	  --may-reset         check 10 resets the device and reloads its driver: other users of the device lose it
	  --may-configure     check 11 makes a VLAN interface, and changes the active interface of a bond
	Exit status: 0 if no check failed, 1 if one failed, 2 for a wrong option, 3 without a device.
	USAGE
}
wrong() { echo "hardware: $*" >&2; usage >&2; exit 2; }
number() { [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || wrong "$1 needs a number, not '$2'"; }

titles=(
	[1]="the device's attributes, and rdma-core's own tests"
	[2]="rping"
	[3]="a Linux client through the proxy, 10 GiB compared"
	[4]="a million RPCs: each memory window bound again 256 times and more"
	[5]="without remote invalidation, and with it"
	[6]="connections that come and go"
	[7]="64 WRITEs of 1 MiB in flight, at the ORD limit"
	[8]="an hour idle, then a pulled cable"
	[9]="0.01 % of packets lost"
	[10]="function reset and driver reload under load"
	[11]="bonding, VLAN, IPv6"
	[12]="1,000 and 10,000 connections"
)
wells=(
	[1]="attributes are listed, ibv_rc_pingpong and each of rdma-core's tests end with ok (some are skipped by what a device has)"
	[2]="all pings come back with the bytes that were sent"
	[3]="5 GiB over TCP and RDMA between proxies, and 5 GiB over Linux's own RDMA, come back as they were written"
	[4]="no connection ends; windows_bound is as large as the number of RPCs, peer_invalidations is 0"
	[5]="without: peer_invalidations 0; with: nearly as many as RPCs; each byte as it was sent"
	[6]="no connection fails, and afterwards there are as many queue pairs, ids and descriptors as before"
	[7]="slabs_registered is the same in the middle and at the end, and reads_waited is not 0"
	[8]="idle connections serve at once, probes_unanswered is 0; after the cut the proxies live and all is served again"
	[9]="packets are dropped, and no connection ends: the device sends them again"
	[10]="RDMA connections end, TCP connections beside them do not, and all is served again without a restart of the proxies"
	[11]="a load passes over each of them"
	[12]="all connections come and stay, a load passes beside them, and the device's resources are afterwards as before"
)

args=("$@")
options_only=0 serving=0 quick=0 minutes=60 may_cut=0 may_drop='' may_reset=0 may_configure=0
build=$top/build device='' nfs='' dir='' first_port=20500 output='' only='' peers=()
while [ $# -gt 0 ]; do
	case $1 in
	--build | --peer | --device | --only | --minutes | --nfs | --dir | --port | --output)
		[ $# -gt 1 ] && [ -n "$2" ] || wrong "$1 needs a value"
		;;
	esac
	case $1 in
	--build) build=$2; shift ;;
	--options-only) options_only=1 ;; # of ./dev, which looks at them before it builds
	--serve) serving=1 ;;
	--peer) peers+=("$2"); shift ;;
	--device) device=$2; shift ;;
	--only) only=$2; shift ;;
	--minutes) number "$1" "$2"; minutes=$2; shift ;;
	--quick) quick=1 ;;
	--nfs) [[ $2 =~ ^[^/]+:/ ]] || wrong "--nfs needs ADDRESS:PATH, not '$2'"; nfs=$2; shift ;;
	--dir) dir=$2; shift ;;
	--port) number "$1" "$2"; first_port=$2; shift ;;
	--output) output=$2; shift ;;
	--may-cut) may_cut=1 ;;
	--may-drop) may_drop=device ;;
	--may-drop=?*) may_drop=${1#*=} ;;
	--may-reset) may_reset=1 ;;
	--may-configure) may_configure=1 ;;
	-h | --help) usage; exit 0 ;;
	*) wrong "$1: there is no such option" ;;
	esac
	shift
done
if [ -n "$only" ]; then
	for n in ${only//,/ }; do
		[[ $n =~ ^[0-9]+$ ]] && [ -n "${titles[n]:-}" ] || wrong "--only $only: there are checks 1 to 12"
	done
fi
((first_port <= 65525)) || wrong "--port $first_port: ten ports are needed"
[ -z "$may_drop" ] || [ "$may_drop" = device ] || [ -e "/sys/class/net/$may_drop" ] || wrong "--may-drop=$may_drop: there is no such interface"
((!options_only)) || exit 0
build=$(cd "$build" 2>/dev/null && pwd) || wrong "there is no build: ./dev build"
state=$build/hardware
LAB_BUILD=$build
mkdir -p "$state" || exit 3
dir=${dir:-$state}
dir=$(cd "$dir" && pwd) || wrong "--dir: there is no such folder"
((!serving)) || output=${output:-$build/hardware-report-second.txt}
[[ $dir/ != /run/* ]] || wrong "--dir $dir: not below /run, which NFS-Ganesha has a part of its own of"
output=$(realpath -m "${output:-$build/hardware-report.txt}")

# ---------------------------------------------------------------- outside of the namespaces

# names: what the scrubber must know of this host and the other one
names() {
	local name
	for name in "$(hostname 2>/dev/null)" "$(hostname -f 2>/dev/null)" "$(uname -n)" "${peers[@]}" "${nfs%%:/*}" "${SUDO_USER:-}"; do
		[ -z "$name" ] || [ "$name" = root ] || printf -- '--name\n%s\n' "$name"
	done
}
report() {
	local arguments
	[ -s "$T/raw" ] || return
	mapfile -t arguments < <(names)
	if python3 "$here/scrub.py" "${arguments[@]}" <"$T/raw" >"$output"; then
		printf 'report: %s: read it before you send it\n' "$output"
	else
		rm -f "$output"
		printf 'hardware: the report could not be freed of names and addresses, and is not kept\n' >&2
	fi
}
# leave: the inner run has ended, however
leave() {
	trap '' INT TERM HUP
	undo_all
	report
	rm -rf "$T"
}
inner() { pgrep -P "$outer" | head -n 1; }
interrupted() { kill -TERM "$(inner)" 2>/dev/null; }

if [ "${HARDWARE_INSIDE:-}" != yes ]; then
	[ "$(id -u)" = 0 ] || { echo "hardware: needs root: run it as root or with sudo" >&2; exit 3; }
	T=$(mktemp -d /tmp/rpcrdma-hardware.XXXXXX) && chmod 755 "$T" || exit 3
	proxy_dir=$T
	for part in lib device faults networks; do . "$here/$part.sh"; done
	if [ -s "$state/undo" ]; then
		echo "hardware: an earlier run was killed: what it changed is undone now"
		undo_all
	fi
	if ! said=$(device_find && printf '%s\n' "$device" "$port" "$netdev" "$address"); then
		rm -rf "$T"
		echo "hardware: $said" >&2
		exit 3
	fi
	for program in daemon/rpcrdma-proxy daemon/ctl/rpcrdma-proxyctl tests/bench/nfs_load tests/bench/nfs_serve tests/lab/lab_work tests/lib/json_at; do
		[ -x "$build/$program" ] || { rm -rf "$T"; echo "hardware: no $program in $build: make hardware-programs" >&2; exit 3; }
	done
	trap leave EXIT
	trap interrupted INT TERM HUP
	ulimit -l unlimited 2>/dev/null
	ulimit -n "$(ulimit -Hn)" 2>/dev/null
	HARDWARE_INSIDE=yes HARDWARE_T=$T HARDWARE_DEVICE=$said unshare --mount --pid --fork --kill-child --mount-proc \
		bash "$0" "${args[@]}" <&0 &
	outer=$!
	while kill -0 $outer 2>/dev/null; do wait $outer; status=$?; done
	exit "$status"
fi

# ---------------------------------------------------------------- inside

T=$HARDWARE_T
cd "$T" || exit 3 # where the logs of servers are
proxy_dir=$T
mapfile -t found <<<"$HARDWARE_DEVICE"
device=${found[0]} port=${found[1]} netdev=${found[2]} address=${found[3]}
to=${peers[0]:-$address}
PROXY_WORKERS=$(($(nproc) < 8 ? $(nproc) : 8)) PROXY_MEMORY_MIB=$((quick ? 256 : 2048))
for part in lib proxies device data connections faults networks; do . "$here/$part.sh"; done
ports_set "$first_port"
server_keys='source_port = "any"; max_connections = 10200;'
((!serving)) || [ ${#peers[@]} = 0 ] || server_keys+=" allow = [ $(printf '"%s", ' "${peers[@]}" | sed 's/, $//') ];"
((!quick)) || minutes=0

# The end of this process ends all others of its namespace, and its mounts with them; a hard mount whose proxy has gone would wait.
inside_ends() {
	trap '' INT TERM HUP
	! declare -F mount_end >/dev/null || mount_end 2>/dev/null
	undo_all
}
trap inside_ends EXIT
trap 'say "interrupted: undoing what was changed"; exit 130' INT TERM HUP

declare -i ok_checks=0 failed_checks=0 absent_checks=0 parts_passed=0
wrong=() lacking=()
if ((serving)); then
	serve
	exit
fi
printf '%s on RDMA hardware: %s host%s%s\n' "$("$build/daemon/rpcrdma-proxy" -V | head -n 1)" \
	"$([ ${#peers[@]} = 0 ] && echo one || echo two)" "$([ ${#peers[@]} = 0 ] || echo s)" "$( ((quick)) && echo ', --quick')" | tee -a "$T/raw"
check_begin
all_start || { show_log load-server; show_log load; check_result 0; exit 1; }
for n in "${!titles[@]}"; do
	[ -z "$only" ] || [[ ,$only, = *,$n,* ]] || continue
	say "== $n ${titles[n]}"
	fact "all is well: ${wells[n]}"
	check_begin
	begin=$SECONDS
	load_error='' load_json=''
	"check_$n"
	stop_loads
	fact "$((SECONDS - begin)) s"
	check_result "$n"
	case $verdict in
	ok) ok_checks+=1 ;;
	failed) failed_checks+=1 ;;
	absent) absent_checks+=1 ;;
	esac
done
say "$ok_checks ok, $failed_checks failed, $absent_checks cannot run here"
((failed_checks == 0))

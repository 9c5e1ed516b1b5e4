#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The laboratory: the proxy between the Linux kernel's own NFS clients and servers.
#
# Boots guests under emulation (see boot.sh), runs the rows of guest/*.sh in them, and prints TAP. Everything happens
# in private namespaces: nothing is left running, and no port or interface of this machine is used. The guest,
# 10.0.2.15, and the namespaces' host side, 10.0.2.2, are the two ends of a tap device. Another one, with 10.0.3.2, is
# for clients that vanish.
set -uo pipefail

usage() {
	cat <<-USAGE
	usage: run.sh [--versions | --full] [--kernel SERIES]... [--build DIR] [--jobs N] [BOOT...]
	  --versions   the short workload on every version of NFS; writes RESULTS.md beside this script
	  --full       every workload on every version of NFS; writes RESULTS.md too. What does not run all of it on all kernels writes
	               DIR/lab/RESULTS.md instead
	  --kernel SERIES
	               that kernel only (6.1, 6.12; default: both; in the short tier each guest has one of them)
	  --build DIR  where rpcrdma-proxy was built (default: build, beside the sources)
	  --jobs N     up to N guests at the same time, in the short tier: a guest waits more than it computes
	  --options-only
	               says what is wrong with the others, and ends
	  BOOT         direct (no proxy), iwarp, verbs, conformance, systemd, krb5, writeback, community, hardware: only these guests (default:
	               iwarp, verbs, conformance and systemd, else all); by themselves only: counted, what an RPC costs on verbs, a table;
	               instructions, what it costs with those of the kernel, and with LAB_OTHER=DIR what in the build there; reexport,
	               what a gateway costs that is the kernel's, and one that is the proxy; reexport_state, what of NFSv4's state they carry
	A row ends after LAB_ROW_S seconds, a guest that reports nothing for LAB_SILENCE_S, or takes LAB_LIMIT_S in all; each times
	what the machine is slower when that has passed.
	With LAB_ROWS in the environment, only rows whose names match that extended regular expression run.
	LAB_SEED is the number that moments of kills are drawn from, and is printed.
	Logs, the guests' kernel modules and their RAM disks go to DIR/lab; with --jobs a guest's logs to DIR/lab/BOOT-SERIES.
	Kernels that are not installed are those that tests/lab/fetch.sh has fetched; rows of one that is not there are one skip.
	USAGE
}

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${BUILD:-$top/build}
tier=short
jobs=1
options_only=
boots=()
kernels=()
args=("$@")
. "$here/kernels.sh"
wrong() { echo "run.sh: $*" >&2; usage >&2; exit 2; }
while [ $# -gt 0 ]; do
	case $1 in
	--full) tier=full ;;
	--versions) tier=versions ;;
	--build) build=${2:?--build needs a directory}; shift ;;
	--kernel)
		case " $KERNELS " in
		*" ${2:-} "*) kernels+=("$2") ;;
		*) wrong "${2:-}: there is no such kernel: $KERNELS" ;;
		esac
		shift
		;;
	--options-only) options_only=yes ;;
	--jobs) jobs=${2:?--jobs needs a number}; shift ;;
	-h | --help) usage; exit 0 ;;
	-*) wrong "$1: there is no such option" ;;
	*)
		# What guests have in common is no program.
		grep -qs '^#!' "$here/guest/$1.sh" || wrong "$1: there is no such guest"
		boots+=("$1")
		;;
	esac
	shift
done
[ -z "$options_only" ] || exit 0
# The record is of everything.
record=$here/RESULTS.md
[ "${#boots[@]}${#kernels[@]}${LAB_ROWS:-}" = 00 ] || record=
if [ ${#boots[@]} = 0 ]; then
	boots=(iwarp verbs conformance systemd)
	[ $tier = short ] || boots=(direct iwarp verbs conformance systemd krb5 writeback community hardware)
fi

# kernel_of BOOT: the one that this guest has in the short tier, and where it is counted what an RPC costs.
kernel_of() {
	case $1 in
	iwarp) echo 6.12 ;;
	*) echo 6.1 ;;
	esac
}

# What is booted, "BOOT SERIES" each.
guests=()
for boot in "${boots[@]}"; do
	of=("${kernels[@]}")
	[ ${#of[@]} != 0 ] || case $tier/$boot in
	short/* | */counted | */instructions) of=("$(kernel_of "$boot")") ;;
	*) of=($KERNELS) ;;
	esac
	for series in "${of[@]}"; do guests+=("$boot $series"); done
done

skip_all() {
	echo "1..1"
	echo "ok 1 - laboratory # SKIP $*"
	exit 0
}

# What must be there, and the Debian package that brings it.
need() {
	command -v "$1" >/dev/null || missing+=" $1 ($2)"
}
missing=
PATH=$PATH:/usr/sbin:/sbin
need qemu-system-x86_64 qemu-system-x86
need busybox busybox-static
need cpio cpio
need modprobe kmod
need rpc.nfsd nfs-kernel-server
need mount.nfs nfs-common
need rdma iproute2
need ganesha.nfsd nfs-ganesha
need rpcbind rpcbind
need nfs-cp libnfs-utils
need jq jq
need python3 python3
need tshark tshark
need dumpcap wireshark-common
need fio fio
need getfattr attr
case " ${boots[*]} " in
*" counted "*)
	need strace strace
	need valgrind valgrind
	;;
esac
need getfacl acl
need nfs4_getfacl nfs4-acl-tools
need mkfs.ext4 e2fsprogs
case " ${boots[*]} " in
*" krb5 "*)
	need krb5kdc krb5-kdc
	need kadmin.local krb5-admin-server
	need rpc.gssd nfs-common
	need rpc.svcgssd nfs-common
	;;
esac
need make make
need gcc gcc
need zstd zstd
[ -z "$missing" ] || skip_all "missing$missing"
for binary in daemon/rpcrdma-proxy daemon/ctl/rpcrdma-proxyctl; do
	[ -x "$build/$binary" ] || skip_all "no $binary in $build"
done
build=$(cd "$build" && pwd)
if [ -n "${LAB_OTHER:-}" ]; then
	[ -x "$LAB_OTHER/daemon/rpcrdma-proxy" ] || { echo "run.sh: LAB_OTHER: no daemon/rpcrdma-proxy in $LAB_OTHER" >&2; exit 2; }
	LAB_OTHER=$(cd "$LAB_OTHER" && pwd)
fi
out=${LAB_OUT:-$build/lab}
if [ -z "${LAB_OUT:-}" ]; then
	make -s -C "$build" lab-programs >/dev/null 2>&1 || skip_all "make lab-programs fails in $build"
fi

# kernel_build SERIES: sets cache to the folder with what its guests boot. Fails, and says why in the first row of the skip that is
# due, if they cannot.
kernel_build() {
	cache=$build/lab/cache/$1
	mkdir -p "$cache"
	if ! kernel_root "$1" >/dev/null; then
		lacks="no packages of it: tests/lab/fetch.sh fetches them"
	elif ! "$here/build.sh" "$cache" "$1" >"$build/lab/build-$1.log" 2>&1; then
		lacks="its siw.ko or RAM disk cannot be built: see $build/lab/build-$1.log"
	else
		return 0
	fi
	return 1
}

# side_by_side: this script again for each guest, up to $jobs at once, in one stream of TAP
side_by_side() {
	printf '%s\n' "${guests[@]/ /-}" |
		xargs -P "$jobs" -I GUEST bash -c \
			'guest=GUEST; LAB_OUT=$1/lab/GUEST exec "$2" --build "$1" --kernel "${guest##*-}" "${guest%-*}"' - "$build" "$0" |
		awk '/^(not )?ok /{ n++; if (/^not/) bad = 1; sub(/ok [0-9]+/, "ok " n); print; fflush(); next }
		     !/^1\.\./ { print; fflush() }
		     END { print "1.." n; exit bad || !n }'
}
if [ "$jobs" != 1 ] && [ ${#guests[@]} != 1 ]; then
	[ $tier = short ] || { echo "run.sh: --jobs is for the short tier" >&2; exit 2; }
	mkdir -p "$build/lab"
	for series in $(printf '%s\n' "${guests[@]#* }" | sort -u); do
		kernel_build "$series"
	done
	export LAB_SEED=${LAB_SEED:-$((RANDOM + 1))}
	side_by_side
	exit
fi

# What libnfs tests itself with comes from Debian's archives, which no namespace reaches.
case " ${boots[*]} " in
*" community "*) [ "${LAB_INSIDE:-}" = yes ] || "$here/libnfs.sh" "$build/lab/libnfs" 2>/dev/null ;;
esac

# Into namespaces of our own; the PID namespace takes every process with it when this script ends.
if [ "${LAB_INSIDE:-}" != yes ]; then
	ns=(--net --mount --uts --ipc --pid --fork --kill-child --mount-proc)
	[ "$(id -u)" = 0 ] || ns+=(--user --map-root-user)
	unshare "${ns[@]}" true 2>/dev/null || skip_all "unshare is not allowed here"
	LAB_INSIDE=yes unshare "${ns[@]}" "$0" "${args[@]}" &
	inside=$!
	# unshare itself ignores signals while it waits for its child.
	trap 'pkill -TERM -P "$inside"' TERM INT HUP
	wait "$inside"
	status=$?
	while kill -0 "$inside" 2>/dev/null; do
		wait "$inside"
		status=$?
	done
	exit "$status"
fi
trap 'exit 143' TERM INT HUP
ip link set lo up
for n in 0 1; do
	ip tuntap add dev lab$n mode tap 2>/dev/null || skip_all "no tap device can be made: /dev/net/tun"
	ip addr add 10.0.$((2 + n)).2/24 dev lab$n
	ip link set lab$n up
done
ip route add 10.8.0.0/16 via 10.0.2.15
mount -t tmpfs tmpfs /run
. "$top/tests/lib/mtab.sh"
have_mtab /run/etc || skip_all "NFS-Ganesha needs /etc/mtab"

rm -rf "$out/logs"
mkdir -p "$out/logs"
. "$here/host.sh"
. "$here/watch.sh"

count=0 failed=0
report() {
	count=$((count + 1))
	case $1 in
	"not ok"*) failed=$((failed + 1)) ;;
	esac
	printf '%s %d - Linux %s: %s\n' "$1" "$count" "$series" "$2"
	results+=("$series|$1|$2")
}
results=()
lost_kernels=

export LAB_SEED=${LAB_SEED:-$((RANDOM + 1))}
echo "# LAB_SEED=$LAB_SEED"
# How long a row may take on an idle machine: five times what the longest does. How long a guest may report nothing: that (a row
# that gets more time on a slow machine reports it), the time to report it, and that of the last verdicts (verdicts_all). How
# long it may take in all.
case $tier in
short) limits=(300 420 2700) ;;
*) limits=(1500 1620 14400) ;;
esac
ROW_S=${LAB_ROW_S:-${limits[0]}}
SILENCE_S=${LAB_SILENCE_S:-${limits[1]}}
LIMIT_S=${LAB_LIMIT_S:-${limits[2]}}

# guest_run BOOT SHARE [OVER]: one boot, without the rows that the file OVER names.
guest_run() {
	boot=$1 share=$2
	mkdir -p "$share"
	cat >"$share/env" <<-ENV
	LAB_BOOT=$boot
	LAB_KERNEL=$series
	LAB_CACHE=$cache
	LAB_BUILD=$build
	LAB_TIER=$tier
	LAB_ROWS='${LAB_ROWS:-}'
	LAB_ROW_S=$ROW_S
	LAB_OVER=${3:-/dev/null}
	LAB_SEED=$LAB_SEED
	LAB_OTHER='${LAB_OTHER:-}'
	ENV
	touch "$share/over" "$share/failed" "$share/console.log"
	host_start "$share"
	export LAB_MEMORY_MIB=3072
	[ "$boot" != writeback ] || LAB_MEMORY_MIB=512
	# What is counted, and what a release runs, has all that QEMU emulates.
	export LAB_EMULATION=parallel
	case $tier/$boot in
	*/instructions | */reexport) LAB_EMULATION=instructions ;;
	*/counted) ;;
	short/*) LAB_EMULATION=cheap ;;
	esac
	guest_watch "$share" "$here/boot.sh" "$cache" "$share" "$here/guest/$boot.sh"
	host_stop
	[ "$fate" = done ] && return
	guest_obituary "$boot" "$share"
	return 1
}

# guest_again BOOT SHARE: a guest that was lost is booted once more, for the rows that are left. The one that was in progress comes
# first if the guest was lost by its kernel, which has a third try if it does it again; else that row has failed, and does not
# come again.
guest_again() {
	local first=$2 lost=$row share=$2-again blame again what="$1: the guest did not come to its end${row:+, in \"$row\"}: $(guest_fate)"
	if blame=$(guest_blame "$first"); then
		echo "# lost by: $blame"
	else
		report "not ok" "$what"
		[ "$fate" != late ] || return
		[ -z "$lost" ] || echo "$lost" >>"$first/over"
	fi
	echo "# $1: the rows that are left, in a second boot"
	guest_run "$1" "$share" "$first/over"
	if [ "$fate" != "done" ] && [ -n "$blame" ] && [ "$row" = "$lost" ] && again=$(guest_blame "$share"); then
		echo "# lost by: $again"
		echo "# $1: the rows that are left, in a third boot"
		share=$2-third
		guest_run "$1" "$share" "$first/over"
	fi
	[ "$fate" = "done" ] ||
		report "not ok" "$1: nor did the guest that followed${row:+, in \"$row\"}: $(guest_fate)"
	[ -n "$blame" ] || return
	if row_passed "$share" "$lost"; then
		report ok "$what # SKIP not the proxy's doing, and passed in another boot: $blame"
	else
		report "not ok" "$what: $blame"
	fi
}

for guest in "${guests[@]}"; do
	read -r boot series <<<"$guest"
	[[ $lost_kernels != *" $series "* ]] || continue
	if ! kernel_build "$series"; then
		lost_kernels+=" $series "
		record=
		report ok "all its rows # SKIP $lacks"
		continue
	fi
	if [ "$boot" = systemd ] && ! compgen -G "$build/package/rpcrdma-proxy_*_*.deb" >/dev/null; then
		report ok "systemd # SKIP no Debian package in $build/package: tests/package/deb.sh makes it"
		continue
	fi
	guest_run "$boot" "$out/logs/$boot-$series" || guest_again "$boot" "$out/logs/$boot-$series"
done
echo "1..$count"
[ $tier = short ] || "$here/results.sh" "${record:-$build/lab/RESULTS.md}" "$build/lab/cache" "$tier" "${results[@]}"
[ $failed = 0 ]

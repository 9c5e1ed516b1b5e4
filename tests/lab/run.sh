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
	  --versions   the short workload on every version of NFS; writes RESULTS.md in this directory
	  --full       every workload on every version of NFS; writes RESULTS.md, too. A run without all guests, rows and
	               kernels writes DIR/lab/RESULTS.md instead
	  --kernel SERIES
	               only this kernel: 6.1 or 6.12 (default: both; in the short tier each guest boots one of them)
	  --build DIR  the build directory (default: build, in the source directory)
	  --jobs N     up to N guests in parallel, in the short tier
	  --options-only
	               checks the other options and exits
	  BOOT         only these guests (default: iwarp, verbs, conformance and systemd; in the longer tiers all of these):
	               direct (no proxy), iwarp, verbs, conformance, systemd, krb5, writeback, community, hardware.
	               Measurements run only by name: counted (the cost of an RPC on verbs); instructions (with those of the
	               kernel; LAB_OTHER=DIR compares the build in DIR); reexport (the cost of the kernel's gateway and of the
	               proxy); reexport_state (the NFSv4 state that these two preserve)
	Time limits: LAB_ROW_S for a row, LAB_SILENCE_S for a guest without a report, LAB_LIMIT_S for a guest in total. They are
	extended on a slow machine.
	LAB_ROWS: only rows whose names match this extended regular expression run.
	LAB_SEED: the seed of the moments of kills; it is printed.
	Logs, kernel modules and RAM disks go to DIR/lab; with --jobs the logs of a guest go to DIR/lab/BOOT-SERIES.
	tests/lab/fetch.sh fetches kernels that are not installed. If a kernel is missing, one skip stands for its rows.
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
		# The files that guests share are not guests: they have no #! line.
		grep -qs '^#!' "$here/guest/$1.sh" || wrong "$1: there is no such guest"
		boots+=("$1")
		;;
	esac
	shift
done
[ -z "$options_only" ] || exit 0
# Only a run of everything writes the record.
record=$here/RESULTS.md
[ "${#boots[@]}${#kernels[@]}${LAB_ROWS:-}" = 00 ] || record=
if [ ${#boots[@]} = 0 ]; then
	boots=(iwarp verbs conformance systemd)
	[ $tier = short ] || boots=(direct iwarp verbs conformance systemd krb5 writeback community hardware)
fi

# kernel_of BOOT: prints the kernel of this guest in the short tier, and for measurements.
kernel_of() {
	case $1 in
	iwarp) echo 6.12 ;;
	*) echo 6.1 ;;
	esac
}

# The guests to boot, as "BOOT SERIES".
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

# The programs and files that are needed, and their Debian packages.
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

# kernel_build SERIES: sets cache to the directory of its boot files. If they cannot be made, fails, and sets lacks to
# the reason of the skip.
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

# side_by_side: runs this script once for each guest, up to $jobs at a time, and merges the TAP
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

# Debian's archives cannot be reached from the namespaces.
case " ${boots[*]} " in
*" community "*) [ "${LAB_INSIDE:-}" = yes ] || "$here/libnfs.sh" "$build/lab/libnfs" 2>/dev/null ;;
esac

# Enters separate namespaces. The PID namespace ends all processes with this script.
if [ "${LAB_INSIDE:-}" != yes ]; then
	ns=(--net --mount --uts --ipc --pid --fork --kill-child --mount-proc)
	[ "$(id -u)" = 0 ] || ns+=(--user --map-root-user)
	unshare "${ns[@]}" true 2>/dev/null || skip_all "unshare is not allowed here"
	LAB_INSIDE=yes unshare "${ns[@]}" "$0" "${args[@]}" &
	inside=$!
	# unshare ignores signals while it waits for its child.
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
# Time limits on an idle machine. A row: five times the longest. Silence: a row, the time to report that it hangs, and
# the time for the last verdicts (verdicts_all); a row that gets more time reports it. The last limit is for the whole
# guest.
case $tier in
short) limits=(300 420 2700) ;;
*) limits=(1500 1620 14400) ;;
esac
ROW_S=${LAB_ROW_S:-${limits[0]}}
SILENCE_S=${LAB_SILENCE_S:-${limits[1]}}
LIMIT_S=${LAB_LIMIT_S:-${limits[2]}}

# guest_run BOOT SHARE [OVER]: boots the guest once, without the rows that the file OVER names.
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
	# Measurements, and runs for a release, use all features that QEMU emulates.
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

# guest_again BOOT SHARE: boots a lost guest again for the remaining rows. If a fault of the kernel lost the guest, the
# interrupted row runs again, and a third boot follows if it is lost again. Otherwise the interrupted row has failed.
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

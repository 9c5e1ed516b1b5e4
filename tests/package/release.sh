#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# release.sh BUILD RELEASE [STEP...]: what users and maintainers do on that release of Debian (12, 13), in roots made by
# mmdebstrap. TAP. Each STEP has a root of its own, and a copy of the sources as `make dist` packs them:
#	demo      ./dev demo where its packages are installed; README.md names the runtime packages that the programs need
#	install   README.md, "Install it", typed as it stands on a system with apt and systemd and no more; then ./dev demo
#	runtime   README.md, "Runtime packages": what "install" built runs on a system with these alone
#	package   README.md, "As a package", typed likewise
#	tests     gcc and clang build it without a warning; make check, the core of the end-to-end tests with the NFS server and the
#	          NFS client of that release, deb.sh, rpm.sh and installed.sh
#	codecs    the tests of what reads and writes messages, on a big-endian machine: s390x by qemu-user
# Without a STEP: demo.
set -u
[ $# -ge 2 ] || { echo "usage: release.sh BUILD RELEASE [STEP...]" >&2; exit 2; }
build=$(cd "$1" && pwd) || exit 1
srcdir=$(cd "$(dirname "$0")/../.." && pwd)
release=$2
shift 2
[ $# != 0 ] || set -- demo
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/debian.sh"
. "$srcdir/tests/lib/root.sh"
work=$build/release-$release

codename=${debian_codename[$release]:-}
[ -n "$codename" ] || { echo "release.sh: $release is none of $(debian_names)" >&2; exit 2; }
command -v mmdebstrap >/dev/null || { echo "1..0 # SKIP mmdebstrap is not installed"; exit 0; }
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }

# listed NAME...: prints the packages of these lists of ./dev
listed() { bash -c '. "$1"; shift; for list; do declare -n packages=$list; printf "%s\n" "${packages[@]}"; done' listed "$srcdir/dev" "$@"; }

# What the tests of a release do not run, and what is large: the page in a browser, the alerts, the laboratory.
not_for_tests='chromium|prometheus|ccache|valgrind|wireguard-go|wireguard-tools|keepalived'

# packages_of STEP: prints what is installed before the step begins
packages_of() {
	echo mount # without which root_run cannot leave the machine
	case $1 in
	demo) listed demo_packages ;;
	tests)
		{ listed build_packages demo_packages test_packages && printf '%s\n' debhelper lintian systemd rpm cpio; } |
			grep -vxE "$not_for_tests" | sort -u
		;;
	codecs)
		printf '%s\n' gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user autoconf automake pkg-config make gcc libc6-dev check libtirpc-dev \
			rpcsvc-proto python3
		listed demo_packages | grep -xE 'lib.*-dev'
		;;
	*) echo systemd ;;
	esac
}

# step NAME
step() {
	local packages said

	mapfile -t packages < <(packages_of "$1" | sort -u)
	if ! said=$(root_make "$codename" "${packages[@]}" 2>&1); then
		if root_unreachable <(echo "$said"); then
			ok "$1 on Debian $release # SKIP Debian's packages cannot be fetched"
		else
			not_ok "$1 on Debian $release: there is a root with its packages"
			sed 's/^/# /' <<<"$said"
		fi
		return
	fi
	root=$(root_of "$codename" "${packages[@]}")
	# What "install" has built is what "runtime" runs.
	if [ "$1" != runtime ]; then
		rm -rf "$work/$1" && cp -a "$work/source" "$work/$1"
		root_run "$root" "$work/$1" bash tests/package/in_release.sh "$1"
	else
		root_run "$root" "$work/install" bash tests/package/in_release.sh "$1"
	fi || not_ok "$1 on Debian $release: it comes to its end"
}

# What another step has built stays: "runtime" runs it.
mkdir -p "$work" && rm -rf "$work/source" || exit 1
said=$(make -C "$build" -s distdir distdir="release-$release/source" top_distdir="release-$release/source" 2>&1) ||
	{ not_ok "the sources are complete"; sed 's/^/# /' <<<"$said"; tap_end; exit 1; }
# As in a clone.
rm "$work/source/configure"
for step; do step "$step"; done |
	awk '/^(not )?ok /{ n++; if (/^not/) bad = 1; sub(/ok [0-9]*/, "ok " n); print; fflush(); next } !/^1\.\./
	     END { print "1.." n + 0; exit bad || !n }'

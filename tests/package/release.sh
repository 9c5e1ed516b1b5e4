#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# release.sh [-t SECONDS] BUILD RELEASE [STEP...]: tests what users and maintainers do on that release of Debian (12,
# 13), in roots made by mmdebstrap. TAP. Each STEP has a separate root, and a copy of the sources as `make dist` packs
# them:
#	demo      ./dev demo with its packages; doc/install.md names the runtime packages that the programs need
#	install   the commands of README.md, "Install it", on a system with only apt and systemd; then ./dev demo
#	runtime   doc/install.md, "Runtime packages": the programs of "install" run on a system with only these packages
#	package   the commands of README.md, "As a package"
#	tests     gcc and clang build without a warning; make check, the core of the end-to-end tests with that release's
#	          NFS server and client, deb.sh, rpm.sh and installed.sh
#	codecs    the tests of the codecs on a big-endian machine: s390x by qemu-user
# The default STEP is demo. With -t a step is skipped after SECONDS.
set -u
usage() { echo "usage: release.sh [-t SECONDS] BUILD RELEASE [STEP...]" >&2; exit 2; }
limit=
if [ "${1:-}" = -t ]; then
	[[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
	limit=$2
	ROOT_DEADLINE=$((EPOCHSECONDS + limit))
	shift 2
fi
[ $# -ge 2 ] || usage
build=$(cd "$1" && pwd) || exit 1
srcdir=$(cd "$(dirname "$0")/../.." && pwd)
release=$2
shift 2
[ $# != 0 ] || set -- demo
for step; do
	case $step in
	demo | install | runtime | package | tests | codecs) ;;
	*) echo "release.sh: $step: there is no such step" >&2; usage ;;
	esac
done
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/debian.sh"
. "$srcdir/tests/lib/root.sh"
work=$build/release-$release

codename=${debian_codename[$release]:-}
[ -n "$codename" ] || { echo "release.sh: $release is none of $(debian_names)" >&2; exit 2; }
# skip WHY: skips each step
skip() {
	local step

	for step in "${steps[@]}"; do ok "$step on Debian $release # SKIP $1"; done
	tap_end
	exit 0
}
steps=("$@")
command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
[ "$(id -u)" = 0 ] || skip "needs root"
root_place "$build/roots"

# listed NAME...: prints the packages of these lists of ./dev
listed() { bash -c '. "$1"; shift; for list; do declare -n packages=$list; printf "%s\n" "${packages[@]}"; done' listed "$srcdir/dev" "$@"; }

# Packages that the tests of a release do not use: those for the page in a browser and for counted instructions, and
# ccache.
not_for_tests='chromium|ccache|valgrind'

# packages_of STEP: prints the packages to install before the step
packages_of() {
	echo mount # without which root_run cannot leave the machine
	case $1 in
	demo) listed demo_packages ;;
	tests)
		{ listed build_packages demo_packages test_packages && printf '%s\n' debhelper lintian systemd rpm cpio faketime; } |
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
	local packages root why said=$work/$1.root

	mapfile -t packages < <(packages_of "$1" | sort -u)
	if ! root_make "$codename" "${packages[@]}" >"$said" 2>&1; then
		if why=$(root_excuse "$said"); then
			ok "$1 on Debian $release # SKIP $why"
		else
			not_ok "$1 on Debian $release: there is a root with its packages"
			sed 's/^/# /' "$said"
		fi
		return
	fi
	root=$(root_of "$codename" "${packages[@]}")
	# "runtime" runs the programs that "install" has built.
	if [ "$1" != runtime ]; then
		rm -rf "${work:?}/$1" && cp -a "$work/source" "$work/$1"
		root_run "$root" "$work/$1" bash tests/package/in_release.sh "$1"
	else
		root_run "$root" "$work/install" bash tests/package/in_release.sh "$1"
	fi && return
	if root_is_late; then
		ok "$1 on Debian $release # SKIP not over after $limit s; ./dev test --all has no such limit"
	else
		not_ok "$1 on Debian $release: it comes to its end"
	fi
}

# The directory of another step stays, for "runtime".
mkdir -p "$work" && rm -rf "$work/source" || exit 1
said=$(make -C "$build" -s distdir distdir="release-$release/source" top_distdir="release-$release/source" 2>&1) ||
	{ not_ok "the sources are complete"; sed 's/^/# /' <<<"$said"; tap_end; exit 1; }
# As in a clone.
rm "$work/source/configure"
# numbered: merges the TAP of several steps, each line immediately; fails if a case failed or none ran
numbered() {
	local line cases=0 failed=0

	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			cases=$((cases + 1))
			[[ $line = ok* ]] || failed=1
			[[ $line =~ ^(not\ ok|ok)\ [0-9]*(.*) ]] && line="${BASH_REMATCH[1]} $cases${BASH_REMATCH[2]}"
			;;
		1..*) continue ;;
		esac
		printf '%s\n' "$line"
	done
	echo "1..$cases"
	[ $failed = 0 ] && [ $cases != 0 ]
}
for step in "${steps[@]}"; do step "$step"; done | numbered

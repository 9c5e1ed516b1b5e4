#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# fetch.sh [SERIES...]: fetches kernels for the guests that are not installed.
#
# It unpacks the packages and installs nothing. It uses separate apt lists of the Debian release that has the kernel,
# from this machine's mirror. Fetched kernels stay in KERNEL_FOLDER (kernels.sh), and are not fetched again. If a kernel
# is not available, a line on standard output gives the reason, and the status is 1.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/kernels.sh"

# suites SERIES: prints the release of Debian that has this kernel for this machine. The kernel's build tools are linked
# with the C library of their release.
suites() {
	case $1/$(. /etc/os-release && echo "${VERSION_CODENAME:-}") in
	6.1/*) echo bookworm ;;
	6.12/bookworm) echo bookworm-backports ;;
	6.12/*) echo trixie ;;
	esac
}

# apt PROGRAM ARGUMENTS...: runs an apt program with these lists only.
apt() {
	local program=$1
	shift
	timeout 900 "$program" -qq -o Dir::Etc::SourceList="$lists/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$lists/state" -o Dir::Cache="$lists/cache" -o APT::Sandbox::User=root "$@"
}

# fetch SERIES: fetches it completely into KERNEL_FOLDER/SERIES, or leaves nothing.
fetch() {
	local series=$1 folder=$KERNEL_FOLDER/$1 suite mirror image packages deb name
	suite=$(suites "$series")
	[ -n "$suite" ] || { echo "no release of Debian is known to have it"; return 1; }
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -1)
	[ -n "$mirror" ] || { echo "this machine has no packages of Debian's"; return 1; }
	mkdir -p "$lists"/{state,cache}/partial "$lists/cache/archives/partial" "$lists/debs" "$lists/root" || return 1
	echo "deb $mirror $suite main" >"$lists/sources.list"
	apt apt-get update >"$lists/log" 2>&1 || { echo "no list of $suite: $(grep -m 1 '^[EW]:' "$lists/log")"; return 1; }
	# The unsigned kernel has the series in its name, too. The newest is last.
	image=$(apt apt-cache pkgnames "linux-image-$series." | grep -E "^linux-image-$series\.[0-9]+[^-]*(-[0-9]+)?-amd64$" | sort -V | tail -1)
	[ -n "$image" ] || { echo "$suite has no linux-image-$series.*-amd64"; return 1; }
	name=${image#linux-image-}
	packages=("$image" "linux-headers-$name" "linux-headers-${name%-amd64}-common" "linux-source-$series")
	packages+=($(apt apt-cache show "linux-headers-$name" | grep -oE 'linux-kbuild-[^ ,(]+' | sort -u))
	(cd "$lists/debs" && apt apt-get download "${packages[@]}") >>"$lists/log" 2>&1 ||
		{ echo "${packages[*]}: $(grep -m 1 '^E:' "$lists/log")"; return 1; }
	for deb in "$lists"/debs/*.deb; do
		dpkg-deb --extract "$deb" "$lists/root" || { echo "$deb does not unpack"; return 1; }
	done
	# Paths as if it were installed.
	rm -f "$lists"/root/lib/modules/*/{build,source}
	sed -i "s|/usr/src/|$folder/usr/src/|" "$lists/root/usr/src/linux-headers-$name/Makefile"
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$lists/root" "$name" || { echo "depmod fails for $name"; return 1; }
	rm -rf "$folder"
	mv "$lists/root" "$folder"
}

failed=0
[ $# -gt 0 ] || set -- $KERNELS
for series; do
	kernel_root "$series" >/dev/null && continue
	mkdir -p "$KERNEL_FOLDER" && lists=$(mktemp -d "$KERNEL_FOLDER/fetch.XXXXXX") || exit 1
	trap 'rm -rf "$lists"' EXIT
	fetched=$(fetch "$series") || { echo "Linux $series: $fetched"; failed=1; }
	rm -rf "$lists"
done
exit $failed

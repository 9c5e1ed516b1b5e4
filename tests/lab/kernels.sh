# SPDX-License-Identifier: BSD-3-Clause
# Finds the kernels that guests boot, by series such as "6.12". Sourced by run.sh, build.sh and fetch.sh.

KERNELS="6.1 6.12"
KERNEL_INSTALLED=${KERNEL_INSTALLED:-}
KERNEL_FOLDER=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rpcrdma-proxy/kernels

# kernel_name ROOT SERIES: prints the newest release of a series in ROOT that has its headers ("6.1.0-56-amd64"). Fails
# without one.
kernel_name() {
	local name newest=
	for name in "$1"/lib/modules/"$2".*; do
		[ -e "$1/boot/vmlinuz-${name##*/}" ] && [ -e "$1/usr/src/linux-headers-${name##*/}/Makefile" ] || continue
		newest+=${name##*/}$'\n'
	done
	[ -n "$newest" ] && sort -V <<<"${newest%$'\n'}" | tail -1
}

# kernel_root SERIES: prints the directory that has the image, headers and source. An installed kernel precedes a
# fetched one. An empty line means the root directory. Fails if neither is complete.
kernel_root() {
	local root
	for root in "$KERNEL_INSTALLED" "$KERNEL_FOLDER/$1"; do
		[ -e "$root/usr/src/linux-source-$1.tar.xz" ] && kernel_name "$root" "$1" >/dev/null || continue
		echo "$root"
		return
	done
	return 1
}

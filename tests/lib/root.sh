# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Roots of Debian releases: directories with a system, in which a test runs programs as on a machine of that release.
#
#	. "$srcdir/tests/lib/root.sh"
#	root_make trixie gcc make || ...
#	root_run "$(root_of trixie gcc make)" SOURCES COMMAND...
#
# mmdebstrap makes a root from packages, which costs most of a minute of processor time. So roots are kept in $ROOTS, and used by
# all builds of this machine. A root is made again after 30 days.

ROOTS=${ROOTS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rpcrdma-proxy}

# root_apt: prints how this machine reaches Debian's packages
root_apt() { apt-config dump | grep -E '^Acquire::(https?|Check|Retries)'; }

# root_unreachable FILE: true if what apt said there means that Debian's packages cannot be fetched
root_unreachable() { grep -qE 'Could not (resolve|connect)|Temporary failure|Unable to connect|Failed to fetch' "$1"; }

# root_of CODENAME PACKAGE...: prints the directory of a root with these packages, which nobody may change
root_of() { echo "$ROOTS/$1-$(cksum <<<"$*" | cut -d ' ' -f 1)"; }

# root_build ROOT CODENAME PACKAGE...: makes it
root_build() {
	local root=$1 codename=$2 options=(
		--quiet --mode=root --variant=apt --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*'
		--dpkgopt='path-exclude=/usr/share/locale/*'
		--essential-hook="chroot \"\$1\" debconf-set-selections <'$root.answers'"
	)

	shift 2
	echo "wireshark-common wireshark-common/install-setuid boolean false" >"$root.answers"
	# What it mounts goes with it, also when it is killed.
	unshare -m --propagation private mmdebstrap "${options[@]}" --include="$(IFS=,; echo "$*")" "$codename" "$root" &&
		root_apt >"$root/etc/apt/apt.conf.d/90machine" && touch "$root/.complete"
}

# root_make CODENAME PACKAGE...: makes a root with these packages, unless there is one. Fails with what mmdebstrap said.
root_make() {
	local root

	root=$(root_of "$@")
	mkdir -p "$ROOTS" || return
	(
		flock 9
		[ -z "$(find "$root/.complete" -mtime -30 2>/dev/null)" ] || exit 0
		rm -rf --one-file-system "$root"
		root_build "$root" "$@" || { rm -rf --one-file-system "$root"; exit 1; }
	) 9>"$root.lock"
}

# root_clear: removes the copies that a killed run left. A copy in use is locked.
root_clear() {
	local copy

	for copy in "$ROOTS"/copy.*; do
		[ ! -d "$copy" ] || ! flock -n "$copy" true || rm -rf --one-file-system "$copy"
	done
}

# root_run ROOT SOURCES COMMAND...: runs COMMAND in a copy of the root, with the directory SOURCES as its current one, and in
# namespaces of its own, except for the network. Changes of the root are dropped, changes of SOURCES stay. All processes end with
# COMMAND.
root_run() {
	local copy status all lock

	exec {all}<"$ROOTS" && flock "$all" || return
	root_clear
	copy=$(mktemp -d "$ROOTS/copy.XXXXXX") && exec {lock}<"$copy" && flock "$lock" || return
	exec {all}<&-
	mkdir "$copy/root" "$copy/upper" "$copy/work"
	unshare -m -u -i -p --fork --kill-child --propagation private bash -c '
		root=$1 sources=$2 copy=$3 at=$3/root
		shift 3
		mount -t overlay overlay -o "lowerdir=$root,upperdir=$copy/upper,workdir=$copy/work" "$at" 2>/dev/null ||
			{ cp -a --reflink=auto "$root/." "$at" && mount --bind "$at" "$at"; } || exit
		mount --rbind /dev "$at/dev" && mount -t proc proc "$at/proc" && mount --rbind /sys "$at/sys" &&
			mount -t tmpfs -o mode=755 tmpfs "$at/run" && mkdir -p "$at/root/rpcrdma-proxy" "$at/.machine" &&
			mount --bind "$sources" "$at/root/rpcrdma-proxy" && cp /etc/resolv.conf /etc/hosts "$at/etc" || exit
		cd "$at" && pivot_root . .machine && umount -l /.machine && cd /root/rpcrdma-proxy || exit
		exec env -i HOME=/root USER=root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' \
		root_run "$1" "$2" "$copy" "${@:3}" </dev/null
	status=$?
	exec {lock}<&-
	rm -rf --one-file-system "$copy"
	return $status
}

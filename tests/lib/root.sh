# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Roots of Debian releases: directories with a system, in which a test runs programs as on a machine of that release.
#
#	. "$srcdir/tests/lib/root.sh"
#	root_place "$build/roots"
#	root_make trixie gcc make || ...
#	root_run "$(root_of trixie gcc make)" SOURCES COMMAND...
#
# mmdebstrap makes a root from packages, which takes a minute of processor time. So all builds of this machine share
# the roots in $ROOTS. root_make rebuilds a root after 30 days, and removes the roots that no run has used for 30 days.
#
# Locks: root_make holds the exclusive lock of $ROOTS/NAME.lock while it makes a root; users of the root hold a shared
# lock. A root is complete once it has the file .complete. A root without this file was interrupted, and root_make
# makes it again.

ROOTS=${ROOTS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rpcrdma-proxy}

# If set, root_make and root_run end at this time, in seconds since the epoch.
ROOT_DEADLINE=${ROOT_DEADLINE:-}

root_lock= # the descriptor of the lock that root_make has

# root_place DIR: sets ROOTS to DIR if the machine's directory of roots cannot be written to
root_place() { { mkdir -p "$ROOTS" && [ -w "$ROOTS" ]; } 2>/dev/null || ROOTS=$1; }

# root_is_late: true if ROOT_DEADLINE has passed
root_is_late() { [ -n "$ROOT_DEADLINE" ] && ((EPOCHSECONDS >= ROOT_DEADLINE)); }

# root_limited COMMAND...: runs a program, until ROOT_DEADLINE at the latest
root_limited() {
	if [ -z "$ROOT_DEADLINE" ]; then
		"$@"
	elif root_is_late; then
		return 124
	else
		timeout -k 5 $((ROOT_DEADLINE - EPOCHSECONDS)) "$@"
	fi
}

# root_apt: prints this machine's sources of Debian packages, in apt's syntax
root_apt() { apt-config dump | grep -E '^Acquire::(https?|Check|Retries)'; }

# root_excuse FILE: prints why this machine cannot make a root, if mmdebstrap's output in FILE shows an external cause;
# otherwise fails
root_excuse() {
	if root_is_late; then
		echo "the time was over before its packages were installed"
	elif root_unreachable "$1"; then
		echo "Debian's packages cannot be fetched"
	elif grep -q NO_PUBKEY "$1"; then
		echo "debian-archive-keyring of this machine lacks the keys of that release"
	else
		return 1
	fi
}

# root_unreachable FILE: true if apt's output in FILE means that Debian's packages cannot be fetched
root_unreachable() {
	grep -qE 'Failed to fetch|Temporary failure|Network is unreachable|Connection (failed|refused|timed out)' "$1" ||
		grep -qE 'Could not (resolve|connect)|Unable to connect|Cannot initiate the connection' "$1"
}

# root_of CODENAME PACKAGE...: prints the directory of a root with these packages; the root is read-only
root_of() { echo "$ROOTS/$1-$(cksum <<<"$*" | cut -d ' ' -f 1)"; }

# root_is_made ROOT [TEST...]: true if it is complete, and its age passes these tests of find
root_is_made() { [ -n "$(find "$1/.complete" "${@:2}" 2>/dev/null)" ]; }

# root_build ROOT CODENAME PACKAGE...: makes it
root_build() {
	# Not --quiet, which hides apt's error messages.
	local root=$1 codename=$2 setting options=(
		--mode=root --variant=apt --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*'
		--dpkgopt='path-exclude=/usr/share/locale/*'
		--essential-hook='echo wireshark-common wireshark-common/install-setuid boolean false | chroot "$1" debconf-set-selections'
	)

	shift 2
	while read -r setting; do options+=("--aptopt=$setting"); done < <(root_apt)
	# In namespaces, so that its processes and mounts end with it, even if it is killed.
	root_limited unshare -m -p --fork --kill-child --mount-proc --propagation private mmdebstrap "${options[@]}" \
		--include="$(IFS=,; echo "$*")" "$codename" "$root" </dev/null && touch "$root/.complete"
}

# root_make CODENAME PACKAGE...: makes a root with these packages, unless there is one. Fails with mmdebstrap's message.
# This shell keeps a lock of the root until it makes another one, so do not call it in a subshell.
root_make() {
	local root

	root=$(root_of "$@")
	[ -z "$root_lock" ] || exec {root_lock}>&-
	mkdir -p "$ROOTS" && exec {root_lock}>>"$root.lock" && touch "$root.lock" || return
	while :; do
		root_limited flock -s "$root_lock" || return
		! root_is_made "$root" -mtime -30 || return 0
		if root_is_made "$root"; then
			# An old root that another run uses stays.
			flock -n "$root_lock" || { flock -s "$root_lock"; ! root_is_made "$root" || return 0; continue; }
		else
			flock -u "$root_lock"
			root_limited flock "$root_lock" || return
			! root_is_made "$root" || continue
		fi
		root_clear
		rm -rf --one-file-system "$root"
		root_build "$root" "$@" || { rm -rf --one-file-system "$root"; return 1; }
	done
}

# root_clear: removes the copies that a killed run left, and the roots that no run has used for 30 days. Roots in use
# are locked.
root_clear() {
	local copy lock all

	exec {all}<"$ROOTS" && flock "$all" || return
	for copy in "$ROOTS"/copy.*; do
		[ ! -d "$copy" ] || ! flock -n "$copy" true || rm -rf --one-file-system "$copy"
	done
	while read -r lock; do
		[ ! -d "${lock%.lock}" ] || flock -n "$lock" rm -rf --one-file-system "${lock%.lock}"
	done < <(find "$ROOTS" -maxdepth 1 -name '*.lock' -mtime +30)
	exec {all}<&-
}

# root_run ROOT SOURCES COMMAND...: runs COMMAND in a copy of the root, with SOURCES as its current directory, and in
# separate namespaces, except for the network. Changes of the root are dropped, changes of SOURCES stay. All processes
# end with COMMAND. Returns its status.
root_run() {
	local copy status all lock

	root_clear
	exec {all}<"$ROOTS" && flock "$all" || return
	copy=$(mktemp -d "$ROOTS/copy.XXXXXX") && exec {lock}<"$copy" && flock "$lock" || return
	exec {all}<&-
	mkdir "$copy/root" "$copy/upper" "$copy/work"
	root_limited unshare -m -u -i -p --fork --kill-child --propagation private bash -c '
		root=$1 sources=$2 copy=$3 at=$3/root
		shift 3
		mount -t overlay overlay -o "lowerdir=$root,upperdir=$copy/upper,workdir=$copy/work" "$at" 2>/dev/null ||
			{ cp -a --reflink=auto "$root/." "$at" && mount --bind "$at" "$at"; } || exit
		mount --rbind /dev "$at/dev" && mount -t proc proc "$at/proc" && mount --rbind /sys "$at/sys" &&
			mount -t tmpfs -o mode=755 tmpfs "$at/run" && mkdir -p "$at/root/rpcrdma-proxy" "$at/.machine" &&
			mount --bind "$sources" "$at/root/rpcrdma-proxy" || exit
		for file in resolv.conf hosts; do [ ! -e "/etc/$file" ] || cp "/etc/$file" "$at/etc" || exit; done
		cd "$at" && pivot_root . .machine && umount -l /.machine && cd /root/rpcrdma-proxy || exit
		exec env -i HOME=/root USER=root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' \
		root_run "$1" "$2" "$copy" "${@:3}" </dev/null
	status=$?
	exec {lock}<&-
	rm -rf --one-file-system "$copy"
	return $status
}

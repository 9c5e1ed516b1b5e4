# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Functions for scripts that start NFS-Ganesha in a separate mount namespace.

# ganesha_release: the number before the point, or nothing
ganesha_release() { ganesha.nfsd -v 2>/dev/null | sed -n 's/.*Release = *V\{0,1\}\([0-9]*\).*/\1/p'; }

# own_etc DIR: gives this mount namespace a separate /etc, kept in DIR on a tmpfs. It hides earlier mounts below /etc.
own_etc() {
	[ ! -d "$1" ] || return 0
	mkdir -p "$1/upper" "$1/work" &&
		mount -t overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" overlay /etc
}

# have_mtab DIR: NFS-Ganesha looks for file systems in /etc/mtab. A minimal Debian has no such file, and NFS-Ganesha 6
# ignores each tmpfs there. In both cases the function makes an mtab in own_etc DIR, with another type for each mounted
# tmpfs.
have_mtab() {
	[ ! -e /etc/mtab ] || [ "$(ganesha_release)" -ge 5 ] || return 0
	own_etc "$1" && rm -f /etc/mtab &&
		awk '$3 == "tmpfs" { $3 = "memory" } { print }' /proc/self/mounts >/etc/mtab
}

# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Functions for scripts that start NFS-Ganesha in a mount namespace of its own.

# ganesha_release: the number before the point, or nothing
ganesha_release() { ganesha.nfsd -v 2>/dev/null | sed -n 's/.*Release = *V\{0,1\}\([0-9]*\).*/\1/p'; }

# own_etc DIR: this mount namespace gets an /etc of its own, kept in DIR on a tmpfs. Earlier mounts below
# /etc are hidden then.
own_etc() {
	[ ! -d "$1" ] || return 0
	mkdir -p "$1/upper" "$1/work" &&
		mount -t overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" overlay /etc
}

# have_mtab DIR: NFS-Ganesha looks for file systems in /etc/mtab. A minimal Debian has no such file, and NFS-Ganesha 6
# ignores each tmpfs there. In both cases there is an mtab in an own_etc DIR that has another type for each tmpfs that is
# mounted now.
have_mtab() {
	[ ! -e /etc/mtab ] || [ "$(ganesha_release)" -ge 5 ] || return 0
	own_etc "$1" && rm -f /etc/mtab &&
		awk '$3 == "tmpfs" { $3 = "memory" } { print }' /proc/self/mounts >/etc/mtab
}

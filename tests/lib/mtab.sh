# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What scripts that start NFS-Ganesha in a mount namespace of their own source.

# have_mtab DIR: NFS-Ganesha looks for file systems in /etc/mtab, which a minimal Debian lacks: it gets one, over an /etc
# that only this mount namespace sees, kept in DIR on a tmpfs.
have_mtab() {
	[ ! -e /etc/mtab ] || return 0
	mkdir -p "$1/upper" "$1/work"
	mount -t overlay -o "lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" overlay /etc &&
		ln -s ../proc/self/mounts /etc/mtab
}

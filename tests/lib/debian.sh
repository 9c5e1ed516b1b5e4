# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The releases of Debian on which the proxy is built and tested, and the differences that scripts must know. doc/debian.md lists
# all differences.
#
# ./dev and tests source this.

# Numbers as in VERSION_ID, oldest first. Packages have the same names in both, except for those below.
debian_releases=(12 13)
declare -A debian_codename=([12]=bookworm [13]=trixie)
# debhelper of Debian 12 finds units in /lib only; lintian of Debian 13 rejects files in /lib. debian/rules decides by debhelper.
declare -A debian_unit_dir=([12]=/lib/systemd/system [13]=/usr/lib/systemd/system)
# The package of the kernel's source, from which the laboratory builds modules.
declare -A debian_kernel_source=([12]=linux-source-6.1 [13]=linux-source-6.12)

debian_os_release=${DEBIAN_OS_RELEASE:-/etc/os-release}

# debian_release: prints the number of this machine's release; fails if it is not one of the above
debian_release() {
	local id

	id=$(. "$debian_os_release" 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}")
	[[ $id = "debian "[0-9]* && -n ${debian_codename[${id#debian }]:-} ]] && echo "${id#debian }"
}

# debian_names: prints "Debian 12 (bookworm) and 13 (trixie)"
debian_names() {
	local release names=

	for release in "${debian_releases[@]}"; do names+=" and $release (${debian_codename[$release]})"; done
	echo "Debian${names# and}"
}

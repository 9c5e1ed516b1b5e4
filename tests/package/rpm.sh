#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpm.sh BUILD: tests that the RPM package, built by Debian's rpmbuild in BUILD/package/rpm, has the same contents as
# the package that deb.sh left in BUILD/package. TAP.
set -u
build=$(cd "${1:-build}" && pwd) || exit 1
srcdir=$(cd "$(dirname "$0")/../.." && pwd)
. "$srcdir/tests/lib/tap.sh"
work=$build/package/rpm
deb=$build/package/root

for tool in rpmbuild rpm2cpio cpio; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done
[ -x "$deb/usr/sbin/rpcrdma-proxy" ] || { echo "1..0 # SKIP no Debian package was built"; exit 0; }

rm -rf "$work" && mkdir -p "$work/root" || exit 1
version=$(sed -n 's/^Version: *//p' "$srcdir/rpm/rpcrdma-proxy.spec")
name=rpcrdma-proxy-$version
same "its version is that of the sources" "$(sed -n 's/^AC_INIT(\[rpcrdma-proxy\], \[\(.*\)\])/\1/p' "$srcdir/configure.ac")" "$version"
archive() {
	make -C "$build" -s distdir distdir="package/rpm/$name" top_distdir="package/rpm/$name" &&
		tar -C "$work" --use-compress-program "xz -0" -cf "$work/$name.tar.xz" "$name"
}
check "the sources are complete" archive
# Debian's packages have other names, which rpm does not know.
build_rpm() {
	rpmbuild -tb --nodeps --load "$srcdir/tests/package/rpm.macros" --define "_topdir $work/top" "$work/$name.tar.xz" \
		>"$work/build.log" 2>&1 || { tail -n 20 "$work/build.log"; false; }
}
check "the package is built" build_rpm
package=$(echo "$work"/top/RPMS/*/"$name"-*.rpm)
[ -e "$package" ] || { tap_end; exit 1; }
# asked ARGUMENTS...: prints the answer of rpm about the package
asked() { rpm --dbpath "$work/db" -qp "$@" "$package" 2>/dev/null; }
(cd "$work/root" && rpm2cpio "$package" | cpio -id --quiet)

# listed ROOT: prints files and modes. One of the packages compresses pages and texts. Debian 12 has units in /lib, and
# Debian has zsh's completion in another directory. Each has separate texts on licence and changes.
listed() {
	(cd "$1" && find . -type f -printf '%m %P\n') |
		sed -E 's,\.gz$,,; s, lib/, usr/lib/,; s,zsh/site-functions,zsh/vendor-completions,; /doc\/rpcrdma-proxy\/(changelog|copyright)/d; /usr\/share\/licenses/d' | LC_ALL=C sort -k 2
}
same "it has the files of Debian's package, with their modes" "$(listed "$deb")" "$(listed "$work/root")"
# content ROOT FILE
content() {
	local file

	for file in "$1/$2" "$1/$2.gz" "$1/${2#usr/}" "$1/${2/vendor-completions/site-functions}"; do
		case $file in
		*.gz) [ ! -e "$file" ] || gzip -dc "$file" ;;
		*) [ ! -e "$file" ] || cat "$file" ;;
		esac
	done
}
differing() {
	local file

	while read -r _ file; do
		[[ $file == usr/sbin/* ]] || cmp -s <(content "$deb" "$file") <(content "$work/root" "$file") || echo "$file"
	done < <(listed "$work/root")
}
same "what is no program has the same contents" "" "$(differing)"
libraries() { readelf -d "$1/usr/sbin/$2" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | LC_ALL=C sort; }
for program in rpcrdma-proxy rpcrdma-proxyctl; do
	same "$program needs the same libraries" "$(libraries "$deb" $program)" "$(libraries "$work/root" $program)"
	same "$program has the same functions" "$("$deb/usr/sbin/$program" -h)" "$("$work/root/usr/sbin/$program" -h)"
done
check "the programs are linked with LTO" grep -qE -- '-flto.* -o daemon/rpcrdma-proxy ' "$work/build.log"
same "all files are root's" "root root" "$(asked --qf '[%{FILEUSERNAME} %{FILEGROUPNAME}\n]' | sort -u)"
same "the configuration file is the administrator's, and an upgrade does not replace it" "cn /etc/rpcrdma-proxy.conf" \
	"$(asked --qf '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' | grep '^c')"
same "the licence is marked as one" "l /usr/share/licenses/rpcrdma-proxy/LICENSE" \
	"$(asked --qf '[%{FILEFLAGS:fflags} %{FILENAMES}\n]' | grep '^l')"
same "systemd's macros are in the scripts" \
	"systemd_post rpcrdma-proxy.service systemd_preun rpcrdma-proxy.service systemd_postun_with_restart rpcrdma-proxy.service" \
	"$(asked --scripts | sed -n 's/^echo \(systemd_\)/\1/p' | xargs)"

# removed FILE_STATUS COUNT: prints what the script of the old package does at an upgrade (1) and at the removal (0),
# when the new daemon exits with FILE_STATUS
removed() {
	mkdir -p "$work/script"
	printf '#!/bin/sh\necho "FILE:1: wrong" >&2\nexit %s\n' "$1" >"$work/script/rpcrdma-proxy" && chmod +x "$work/script/rpcrdma-proxy"
	asked --qf '%{POSTUN}\n' | sed "s,/usr/sbin/rpcrdma-proxy,$work/script/rpcrdma-proxy," >"$work/script/postun"
	sh -e "$work/script/postun" "$2" 2>"$work/script/errors"
}
same "at an upgrade it is restarted" "systemd_postun_with_restart rpcrdma-proxy.service" "$(removed 0 1)"
same "not if the new one rejects the file" "" "$(removed 1 1)"
check "which is said" grep -q 'rejects /etc/rpcrdma-proxy.conf' "$work/script/errors"
same "at the removal the file is not looked at" "systemd_postun_with_restart rpcrdma-proxy.service" "$(removed 1 0)"
tap_end

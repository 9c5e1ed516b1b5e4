#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# deb.sh BUILD [again]: builds the Debian package in BUILD/package from what `make dist` packs, and tests it. With
# "again" it builds a second time, in another environment; the result must be identical. TAP.
set -u
build=$(cd "${1:-build}" && pwd) || exit 1
srcdir=$(cd "$(dirname "$0")/../.." && pwd)
. "$srcdir/tests/lib/tap.sh"
. "$srcdir/tests/lib/debian.sh"
release=$(debian_release)
unit_dir=${debian_unit_dir[${release:-13}]}
work=$build/package

for tool in dpkg-buildpackage dh lintian; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not installed"; exit 0; }
done

# Starts without the files of an earlier or interrupted run.
rm -rf "$work" && mkdir "$work" || exit 1

# copy_sources DIR, build_deb DIR COMMAND...: below $work
copy_sources() { make -C "$build" -s distdir distdir="package/$1" top_distdir="package/$1"; }
build_deb() {
	local log=$work/${1%%/*}.log

	cd "$work/$1" && "${@:2}" dpkg-buildpackage -us -uc -b >"$log" 2>&1 || { tail -n 20 "$log"; false; }
}
check "the sources are complete" copy_sources source
# A file that the archive lacks is noticed only when a distribution runs the tests, so every file counts.
# tracked: prints the files of the sources; the repository may belong to another user
tracked() { git -c safe.directory="$srcdir" -C "$srcdir" ls-files; }
if [ -e "$srcdir/.git" ]; then
	check "git lists the sources" eval '[ "$(tracked | wc -l)" -gt 1000 ]'
	same "the archive has every file of the sources" "" "$(comm -23 \
		<(tracked | grep -vxE '\.gitignore|\.(ci|gitlab)/.*' | LC_ALL=C sort) \
		<(cd "$work/source" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort))"
else
	ok "the archive has every file of the sources # SKIP these are no git checkout, which would list them"
fi
check "the package is built" build_deb source env
deb=$(echo "$work"/rpcrdma-proxy_*.deb)
[ -e "$deb" ] || { tap_end; exit 1; }

# lintian runs as root, because only root can read what root has built.
same "lintian finds nothing in it" "" \
	"$(cd "$work" && lintian --allow-root --pedantic --fail-on none ./rpcrdma-proxy_*.changes 2>&1)"

same "every program is linked with LTO, and hardened" "" "$(
	grep -E -- ' -o daemon/(ctl/)?rpcrdma-proxy(ctl)? ' "$work/source.log" |
		grep -v -e '-flto.*-Wl,-z,relro.*-Wl,-z,now'
	grep -q -- ' -o daemon/rpcrdma-proxy ' "$work/source.log" || echo "it is not seen in the log"
)"

files="-rw-r--r-- /etc/rpcrdma-proxy.conf
-rw-r--r-- $unit_dir/rpcrdma-proxy.service
-rw-r--r-- /usr/lib/sysusers.d/rpcrdma-proxy.conf
-rw-r--r-- /usr/lib/tmpfiles.d/rpcrdma-proxy.conf
-rwxr-xr-x /usr/sbin/rpcrdma-proxy
-rwxr-xr-x /usr/sbin/rpcrdma-proxyctl
-rw-r--r-- /usr/share/bash-completion/completions/rpcrdma-proxy
-rw-r--r-- /usr/share/bash-completion/completions/rpcrdma-proxyctl
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/README.md.gz
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/changelog.gz
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/copyright
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/examples/rpcrdma-proxy.json
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/examples/rpcrdma-proxy.rules.yml
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/examples/source-client.conf
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/limits.md.gz
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/performance.md.gz
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/production.md.gz
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/recipes.md.gz
-rw-r--r-- /usr/share/doc/rpcrdma-proxy/troubleshooting.md.gz
-rw-r--r-- /usr/share/fish/vendor_completions.d/rpcrdma-proxy.fish
-rw-r--r-- /usr/share/fish/vendor_completions.d/rpcrdma-proxyctl.fish
-rw-r--r-- /usr/share/man/man5/rpcrdma-proxy.conf.5.gz
-rw-r--r-- /usr/share/man/man8/rpcrdma-proxy.8.gz
-rw-r--r-- /usr/share/man/man8/rpcrdma-proxyctl.8.gz
-rw-r--r-- /usr/share/zsh/vendor-completions/_rpcrdma-proxy"
same "it has these files, with these modes" "$(LC_ALL=C sort -k 2 <<<"$files")" \
	"$(dpkg-deb -c "$deb" | awk '!/^d/ { print $1, substr($6, 2) }' | LC_ALL=C sort -k 2)"
same "all of them are root's" "root/root" "$(dpkg-deb -c "$deb" | awk '{ print $2 }' | sort -u)"
same "the configuration file is the administrator's" "/etc/rpcrdma-proxy.conf" "$(dpkg-deb -I "$deb" conffiles)"

# The maintainer's scripts, as dpkg runs them at an upgrade: prerm upgrade, then postinst configure OLD.
dpkg-deb -e "$deb" "$work/control"
dpkg-deb -x "$deb" "$work/root"

# scripts ROOT ARGUMENTS...: prints their requests to systemd, whose programs are stubs in the given PATH
scripts() {
	mkdir -p "$work/said"
	for tool in systemctl deb-systemd-invoke deb-systemd-helper systemd-sysusers systemd-tmpfiles; do
		printf '#!/bin/sh\necho "%s $*" >>%s\n' $tool "$work/said/log" >"$work/said/$tool"
		chmod +x "$work/said/$tool"
	done
	# The result of the new daemon for the file.
	printf '#!/bin/sh\nexit %s\n' "${FILE_STATUS:-0}" >"$work/said/rpcrdma-proxy"
	chmod +x "$work/said/rpcrdma-proxy"
	: >"$work/said/log"
	PATH=$work/said:$PATH unshare -m sh -c '
		mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system && shift && sh -e "$@"' sh "$@" &&
		grep -E '^(deb-systemd-invoke|systemd-sysusers|systemctl)' "$work/said/log"
}
if unshare -m mount -t tmpfs tmpfs /run 2>/dev/null; then
	same "at an upgrade the old daemon runs until the new one is installed" "" \
		"$(scripts - "$work/control/prerm" upgrade 0.2.0)"
	installed="systemd-sysusers rpcrdma-proxy.conf
systemctl --system daemon-reload
deb-systemd-invoke start rpcrdma-proxy.service"
	same "and is restarted then, once" "$installed
deb-systemd-invoke try-restart rpcrdma-proxy.service" "$(scripts - "$work/control/postinst" configure 0.0.9)"
	same "not if the new version rejects the file" "$installed" \
		"$(FILE_STATUS=1 scripts - "$work/control/postinst" configure 0.0.9 2>"$work/said/errors")"
	check "which is said" grep -q 'rejects /etc/rpcrdma-proxy.conf' "$work/said/errors"
	same "nor at the first installation" "$installed" "$(scripts - "$work/control/postinst" configure "")"
	same "it is stopped when the package is removed" "deb-systemd-invoke stop rpcrdma-proxy.service" \
		"$(scripts - "$work/control/prerm" remove)"
else
	ok "what it does at an upgrade # SKIP needs root"
fi

same "the unit starts what is installed, with the file that is" \
	"/usr/sbin/rpcrdma-proxy -c /etc/rpcrdma-proxy.conf" \
	"$(sed -n 's/^ExecStart=//p' "$work/root$unit_dir/rpcrdma-proxy.service")"
same "and asks the client that is installed to reload" \
	"/usr/sbin/rpcrdma-proxyctl -c /etc/rpcrdma-proxy.conf reload" \
	"$(sed -n 's/^ExecReload=//p' "$work/root$unit_dir/rpcrdma-proxy.service")"
check "the daemon takes the file as it is installed" \
	"$work/root/usr/sbin/rpcrdma-proxy" -t -c "$work/root/etc/rpcrdma-proxy.conf"

# Another time, time zone, language, home directory, umask and number of processors, in a directory of another length.
if [ "${2:-}" = again ]; then
	later=()
	! command -v faketime >/dev/null || later=(faketime -f +400d)
	mkdir -p "$work/again/to"
	check "the sources are copied once more" copy_sources again/to/another-place
	check "the package is built once more" build_deb again/to/another-place env -i PATH="$PATH" HOME=/nonexistent TZ=Pacific/Apia \
		LC_ALL=C.UTF-8 DEB_BUILD_OPTIONS=parallel=1 "${later[@]}" bash -c 'umask 077; "$@"' -
	same "both are the same, bit for bit" "" "$(cd "$work" && for deb in *.deb; do cmp "$deb" "again/to/$deb" 2>&1; done)"
fi

tap_end

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# in_release.sh STEP: runs a step of release.sh, in the root of that release and in a copy of the sources. TAP.
set -u
srcdir=$PWD
. tests/lib/tap.sh
. tests/lib/debian.sh
release=$(debian_release) || { echo "in_release.sh: this is none of $(debian_names)" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1
jobs=$(nproc)
on="Debian $release: "

# block PAGE TEXT: prints the first indented block of PAGE below a line with TEXT
block() {
	awk -v text="$2" 'index($0, text) { found = 1; next }
		found && /^    / { sub(/^    /, ""); print; seen = 1; next }
		seen { exit }' "$1"
}

# typed COMMANDS: runs them as a user would type them, who answers yes to apt; the first failure ends them
typed() {
	[ -n "$1" ] || { echo "the page has no such lines"; return 1; }
	echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/91yes
	apt-get -qq update && MAKEFLAGS=-j$jobs bash -e -o pipefail -c "$1"
}

# runtime_line: prints the line of doc/install.md for this release
runtime_line() { block doc/install.md '## Runtime packages' | sed -n "/^# Debian $release\$/{n;p}"; }

# needed PROGRAM...: prints the packages of the libraries that the programs directly need, except libc's; sorted
needed() {
	local program library

	for program; do
		while read -r library; do
			dpkg -S "*/$(basename "$(ldd "$program" | awk -v library="$library" '$1 == library { print $3 }')")" | cut -d : -f 1
		done < <(readelf -d "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	done | grep -vxE 'libc6(-dev)?' | LC_ALL=C sort -u
}

# runtime_packages PROGRAM...: doc/install.md names these packages
runtime_packages() {
	same "${on}doc/install.md names the runtime packages of the programs" "$(needed "$@")" \
		"$(runtime_line | sed 's/^apt-get install //' | xargs -n 1 | LC_ALL=C sort)"
}

demo_is_ok() { ./dev demo >demo.said 2>&1 && grep '^demo: OK' demo.said || { tail -n 40 demo.said; false; }; }
quiet() { "$@" >quiet.said 2>&1 || { tail -n 30 quiet.said; false; }; }

step_demo() {
	check "$on./dev demo ends with OK" demo_is_ok
	same "${on}it installs nothing more than its packages" "" "$(grep '^== installing' demo.said)"
	runtime_packages build-demo/daemon/rpcrdma-proxy build-demo/daemon/ctl/rpcrdma-proxyctl
}

step_install() {
	check "${on}the lines of README.md install it" typed "$(block README.md '## Install it')"
	check "${on}the daemon takes the file that was installed" rpcrdma-proxy -t
	check "${on}its user is there" id rpcrdma-proxy
	runtime_packages /usr/sbin/rpcrdma-proxy /usr/sbin/rpcrdma-proxyctl
	check "${on}it can be installed elsewhere, for another host" make -s install DESTDIR="$PWD/host"
	check "${on}make uninstall leaves none of its files" eval 'make -s uninstall && ! ls /usr/sbin/rpcrdma-proxy*'
	check "$on./dev demo installs the rest, and ends with OK" eval 'make -s distclean && demo_is_ok'
}

step_runtime() {
	check "${on}the runtime packages are installed" typed "$(runtime_line)"
	check "${on}there is no compiler" eval '! command -v cc'
	cp -a host/. /
	check "${on}its user is made" eval 'systemd-sysusers && id rpcrdma-proxy'
	check "${on}the daemon runs" rpcrdma-proxy -t
	check "${on}the control client runs" eval 'rpcrdma-proxyctl -h'
}

step_package() {
	check "${on}what the build needs is installed" typed "$(block README.md '## Install it' | sed -n '/^apt-get/,/[^\\]$/p') debhelper"
	check "${on}the lines of README.md make a package and install it" typed "$(block README.md '**As a package**')"
	check "${on}the daemon takes the file that was installed" rpcrdma-proxy -t
	check "${on}its user is there" id rpcrdma-proxy
	check "${on}the package goes again" apt-get -qq -y purge rpcrdma-proxy
}

# built CC OPTIMIZATION: builds without a warning. configure's test programs have some. Warnings do not end the build,
# so that all are shown.
built() {
	local said=built-$1.said wrong status

	mkdir -p "build-$1" && (cd "build-$1" && quiet ../configure -q --enable-tests CC="$1" CFLAGS="$2") || return
	make -C "build-$1" -s -k -j"$jobs" check-programs e2e-programs >"$said" 2>&1
	status=$?
	wrong=$(grep -E ' (warning|error): |^make.*Error' "$said")
	[ $status = 0 ] && [ -z "$wrong" ] && return
	if [ -n "$wrong" ]; then echo "$wrong"; else tail -n 20 "$said"; fi
	false
}

# taps COMMAND...: prints the cases of its TAP stream, with the release before each name
taps() {
	local out status

	out=$("$@" 2>&1)
	status=$?
	sed -nE "s/^(not ok|ok) [0-9]+ - /\1 0 - $on/p; /^#/p" <<<"$out"
	[ $status = 0 ] || grep -q '^not ok' <<<"$out" || { not_ok "$on$*: status $status"; tail -n 20 <<<"$out" | sed 's/^/# /'; }
	grep -qE '^(not )?ok' <<<"$out" || not_ok "$on$*: no case ran"
}

# checked DIR [TESTS]: runs make check
checked() {
	quiet make -C "$1" -s -j"$jobs" check "${@:2}" || { grep -H '^not ok' -r --include='*.log' "$1/tests"; false; }
}

# Tests that depend on the server, the client, the libraries and systemd.
peers="bulk_data bulk_data.v2 bulk_data.draft03 big_directory ddp every_size peers twenty_clients client_killed server_restarted
	frozen_server several_servers reload signals journal http metrics capture rpcbind privileged_ports source_addresses
	client_addresses large_messages one_service latency top support ordinary_user gateway readme recipes demo_shown"

step_tests() {
	autoreconf -fi >/dev/null 2>&1
	check "${on}$(gcc --version | head -n 1) builds everything without a warning" built gcc -O2
	check "${on}$(clang --version | head -n 1) builds everything without a warning" built clang -O0
	# shellcheck disable=SC2086
	taps tests/e2e/run.sh -b build-gcc -j "$jobs" $peers
	taps bash tests/package/deb.sh build-gcc again
	taps bash tests/package/rpm.sh build-gcc
	taps bash tests/package/installed.sh build-gcc
	check "${on}make check passes" checked build-gcc
}

# Code that reads or writes data for other machines, without system calls.
codecs="test_chunk_select test_call_identity test_ccp test_characteristics test_exchange test_proto_sniff test_header test_header_lists
	test_header_v2 test_iwarp_codec test_rpc_header test_read_plan test_nfs3_call test_pcapng test_private_data
	test_proxy_protocol test_record_mark test_sockaddr test_xchar test_xchar_encode test_xdr"

# foreign PACKAGE...: unpacks these packages of s390x below /root/s390x; their dependencies come with the compiler. It
# does not use the update suites: package caches often have no lists of them for that machine, or old ones.
foreign() {
	sed -i -E '/-(updates|security) /d' /etc/apt/sources.list
	dpkg --add-architecture s390x && apt-get -qq update && mkdir -p /root/s390x && cd /root/s390x || return
	apt-get -qq download "${@/%/:s390x}" && for package in *.deb; do dpkg -x "$package" . || return; done
}

# Headers of libraries are those of this machine. The linker uses only the libraries of these tests, CRC32C and
# libcheck.
big_endian() {
	local lib=/root/s390x/usr/lib/s390x-linux-gnu sources

	sources=$(printf 'include Makefile\nprint-sources:\n\t@echo $(BUILT_SOURCES)\n' | make -C build -s -f - print-sources)
	# shellcheck disable=SC2086
	quiet make -C build -s $sources &&
		quiet make -C build -s -j"$jobs" VERBS_LIBS= OPENSSL_LIBS= LDFLAGS="-L$lib -Wl,--allow-shlib-undefined" \
			LDADD="tests/unit/libunit.a tests/nfs/librows.a tests/lib/libtest.a daemon/libdaemon.a $protocol_libs $(pkg-config --libs check)" "$@"
}

step_codecs() {
	local programs program protocol_libs='$(PROTOCOL_LIBS)'

	programs=$(printf ' tests/unit/%s' $codecs)$(make_list nfs_tests)
	check "${on}libraries of s390x are unpacked" foreign check libsubunit0 libsubunit-dev libisal2 libisal-dev
	autoreconf -fi >/dev/null 2>&1
	mkdir build
	check "${on}it is configured for s390x" eval 'cd build && quiet ../configure -q --host=s390x-linux-gnu --enable-tests \
		CFLAGS=-O1 CPPFLAGS="-idirafter /usr/include/$(gcc -print-multiarch)" PKG_CONFIG=pkg-config'
	# shellcheck disable=SC2086
	check "${on}the tests are built" big_endian $programs
	check "${on}they are those of a big-endian machine" eval 'readelf -h build/tests/unit/test_xdr | grep "big endian"'
	[ -x build/tests/unit/test_xdr ] || return 0 # which is told
	for program in $programs; do
		taps env srcdir="$PWD" qemu-s390x -L /usr/s390x-linux-gnu -E LD_LIBRARY_PATH=/root/s390x/usr/lib/s390x-linux-gnu \
			"build/$program"
	done
}

# make_list NAME: prints a list of a local.mk
make_list() { awk -v name="$1" '$1 == name && $2 == "=" { in_it = 1; next } in_it { printf " %s", $1 } in_it && !/\\$/ { exit }' tests/*/local.mk; }

"step_$1"

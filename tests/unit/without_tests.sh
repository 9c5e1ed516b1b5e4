#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that with the build packages alone, configure succeeds and make check reports what is missing.
set -u
: "${srcdir:=.}"
srcdir=$(cd "$srcdir" && pwd) || exit 1
if [ -e "$srcdir/config.status" ]; then
	echo "1..0 # SKIP a build in the folder of the sources is in the way of another"
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/lib/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL # of make check

# as_said COMMAND...: prints the output of the last program if the command fails
as_said() { "$@" || { tail -n 20 "$work/said"; false; }; }
said() { as_said grep -qF -- "$1" "$work/said"; }

# Packages that pkg-config does not find here.
{
	printf '#!/bin/sh\ncase " $* " in *" check "* | *libtirpc* | *libnfs*) exit 1 ;; esac\n'
	printf 'exec %s "$@"\n' "$(command -v pkg-config)"
} >"$work/pkg-config"
chmod +x "$work/pkg-config"

configures() { (cd "$work" && PKG_CONFIG=$work/pkg-config "$srcdir/configure" "$@") >"$work/said" 2>&1; }
makes() { make -C "$work" -s "$@" >"$work/said" 2>&1; }
fails() { ! "$@"; }

check "configure goes through without the tests' packages" as_said configures
check "and says that there are no tests" as_said grep -qE '^    tests +no$' "$work/said"
check "all is built from there" as_said makes -n all
check "the daemon is" said daemon/main.c
check "the demo's programs are built from there" as_said makes -n demo-programs
check "the daemon is among them" said daemon/main.c
check "and the control client" said daemon/ctl/main.c
check "and the NFS client" said tests/e2e/nfs_client.c
check "and the program of its time limits" said tests/lib/time_limit_main.c
same "and nothing else of the tests" "" "$(grep -o 'tests/[a-z/0-9_]*\.c' "$work/said" | grep -vE '/(nfs_client|time_limit|time_limit_main)\.c')"
check "make check fails" as_said fails makes check-local
check "and says what the tests lack" said "configured without check libtirpc"
check "with the packages of Debian" said "check libtirpc-dev rpcsvc-proto"
check "--enable-tests fails at once" as_said fails configures --enable-tests
check "and says why" said "the tests need check libtirpc"
tap_end

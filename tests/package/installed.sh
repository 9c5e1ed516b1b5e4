#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# installed.sh BUILD: tests that the programs of the package that deb.sh left there serve NFS, with one edit of the
# installed file. TAP.
# shellcheck disable=SC2034
E2E_BUILD=${1:-${E2E_BUILD:-build}}
. "$(dirname "$0")/../e2e/lib.sh"
root=$E2E_BUILD/package/root
[ -x "$root/usr/sbin/rpcrdma-proxy" ] || skip_all "no package was built"
enter "$@"
PROXY=$root/usr/sbin/rpcrdma-proxy
CTL=$root/usr/sbin/rpcrdma-proxyctl

# edited NAME SUBSTITUTIONS: prints the installed file with the example of that name, edited as its comments say
edited() { sed "/^#  { name  *= \"$1\"/,/}\$/ s/^#//; $2" "$root/etc/rpcrdma-proxy.conf"; }

start_ganesha
edited to-filer 's,filer\.example\.net,[::1],; s,127\.0\.0\.1:2049";,127.0.0.1:12049";,' >$T/a.conf
edited exports '1i control = "/run/e2e/b.sock";' >$T/b.conf
mkdir /run/rpcrdma-proxy
start b "$PROXY" -c $T/b.conf
serves b 20049 || bail "proxy b does not start"
start a "$PROXY" -c $T/a.conf
serves a 12049 || bail "proxy a does not start"

V4="nfs://127.0.0.1/export?version=4&nfsport=12049"
head -c 3000000 /dev/urandom >$T/file
check "a file is written" nfs_client "$V4" put $T/file file
check "and is at the server" cmp $T/file $T/export/file
check "and is read" nfs-cp "${V4/\?//file?}" $T/back
check "and is what it was" cmp $T/file $T/back
has_client() { "$CTL" -c $T/a.conf -j services | jq -e '.services[0].connections_total > 0'; }
check "rpcrdma-proxyctl asks the daemon by its default socket" has_client
finish

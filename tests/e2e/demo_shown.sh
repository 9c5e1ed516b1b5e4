#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The output of `./dev demo`: the recipe of doc/recipes.md, in its order, without jq. --verbose also shows counters and
# version two. The demo stops everything that it starts.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
can_open_by_handle || skip_all "NFS-Ganesha's VFS needs root outside user namespaces"
for tool in ganesha.nfsd nfs-cp; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done

# demo [--verbose]: runs it in nested namespaces, with a jq that fails
demo() { env -u E2E_INSIDE PATH="$T/bin:$PATH" bash "$E2E_SRC/demo.sh" "$@" >$T/demo.out 2>&1; }
shows() { grep -qE -- "$1" $T/demo.out; }
# in_order PATTERN...: matching lines follow one another in this order
in_order() {
	local at=0 next

	for pattern; do
		next=$(tail -n +$((at + 1)) $T/demo.out | grep -nE -m 1 -- "$pattern" | cut -d : -f 1)
		[ -n "$next" ] || { echo "not after line $at: $pattern"; return 1; }
		at=$((at + next))
	done
}
says_how_it_is_used() { bash "$E2E_SRC/demo.sh" "$@" 2>&1 | grep -q '^usage:'; }
# cannot_unshare: the demo fails, and gives the reason
cannot_unshare() {
	env -u E2E_INSIDE PATH="$T/no_unshare:$PATH" bash "$E2E_SRC/demo.sh" >$T/demo.out 2>&1
	[ $? = 1 ] && shows '^demo: FAILED: unshare is not permitted'
}

mkdir bin no_unshare
printf '#!/bin/sh\nexit 1\n' | tee bin/jq >no_unshare/unshare
chmod +x bin/jq no_unshare/unshare
check "the demo ends well" demo
check "its last line says so" eval 'tail -n 1 $T/demo.out | grep -q "^demo: OK: "'
check "it does what a user does, in that order" in_order '/etc/exports on the filer' '/export 127.0.0.1.rw' \
	'name = "exports"' 'filer.conf: OK' 'rpcrdma-proxy -c filer.conf' \
	'name = "to-filer"' 'client.conf: OK' 'rpcrdma-proxy -c client.conf' \
	'rpcrdma-proxyctl check to-filer' ': good$' 'nfs_client is the demo.s own' ' put file file' 'nfs-cp ' '^ *equal$' '^ *equal$' \
	' hold held ' 'rpcrdma-proxyctl connections' ' open' \
	'rpcrdma-proxyctl status' 'no problems' 'rpcrdma-proxyctl latency' ' WRITE ' ' READ '
check "without --verbose there are no counters and no version two" not shows 'calls_sent|version 2'
check "--verbose: it ends well, too" demo --verbose
check "--verbose: with the counters, and with version two and its receives" in_order 'rpcrdma-proxyctl latency' \
	calls_sent 'connect_version = 2' 'RPC-over-RDMA  *version 2$' '  receive size  *32 KiB$' '^demo: OK: '
check "another option: it says how it is used" says_how_it_is_used --quick
check "one more: it does too" says_how_it_is_used --verbose extra
check "where namespaces are not permitted it fails, and says so" cannot_unshare
check "no process is left" not pgrep -x 'ganesha.nfsd|rpcbind|rpcrdma-proxy'
finish

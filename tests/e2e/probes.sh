#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The USDT probes: the program has those of its manual, and bpftrace shows the traffic with the manual's examples.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

manual=$E2E_SRC/../../man/rpcrdma-proxy.8.in
in_the_program() { readelf -n "$PROXY" | sed -n '/Provider: rpcrdma_proxy/{n;s/.*Name: //p}' | sort -u; }
in_the_manual() { sed -n '/^\.Sh PROBES/,/^\.Sh SEC/s/^\.It Fn \([a-z_]*\).*/\1/p' "$manual" | sort; }

[ -n "$(in_the_program)" ] || skip_all "the program was built without sys/sdt.h"
check "the program has the probes that the manual names" is "$(in_the_program)" "$(in_the_manual)"
arguments() { readelf -n "$PROXY" | awk '/Name: / { name = $2 } /Arguments: / && name != "" { print name, NF - 1; name = "" }' | sort -u; }
check "… with as many arguments" is "$(arguments)" \
	"$(sed -n '/^\.Sh PROBES/,/^\.Sh SEC/s/^\.It Fn //p' "$manual" | awk '{ print $1, NF - 1 }' | sort)"

# looks SCRIPT: starts bpftrace, which runs until it is stopped; returns when it is attached
looks() {
	start bpftrace bpftrace -e "BEGIN { printf(\"attached\\n\"); } $1"
	wait_for 30 eval "! alive bpftrace || grep -q attached $T/bpftrace.log"
	alive bpftrace
}
bpf_works() {
	mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
	looks "usdt:$PROXY:rpcrdma_proxy:call__in { }" || return 1
	kill -INT "${pid_of[bpftrace]}" && stop bpftrace TERM
	! grep -qE 'ERROR: (failed|Could not|Error)|No such file' $T/bpftrace.log
}

if ! command -v bpftrace >/dev/null || ! bpf_works; then
	ok "bpftrace sees them # SKIP bpftrace cannot probe programs here"
	finish
	exit
fi
start_ganesha
start_chain
check "a file is written" nfs_client "$V3" write file 3m 5
mapfile -t examples < <(sed -n "/^\.Sh PROBES/,/^\.Sh SEC/s/^\(\.Dl \)\{0,1\}bpftrace -e '\(.*\)'$/\2/p" "$manual" | sed "s,@sbindir@/rpcrdma-proxy,$PROXY,g")
check "the manual has two examples" is ${#examples[@]} 2
for example in "${examples[@]}"; do
	: >$T/bpftrace.log
	check "bpftrace takes ${example//$PROXY/PROXY}" looks "$example"
	check "… while a file is read" nfs_client "$V3" verify file 3m 5
	kill -INT "${pid_of[bpftrace]}"
	check "… and it ends when it is asked to" wait_for 30 not alive bpftrace
	stop bpftrace KILL
	check "… and prints nothing that it keeps for itself" not grep -q '^@sent' $T/bpftrace.log
	check "… and sees it" grep -qE '^@(us\[READ\]|server_us):' $T/bpftrace.log
	note "$(grep -E '@|\|' $T/bpftrace.log | head -n 12)"
done
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The alerts for Prometheus are valid, fire when they should and not before, and name statuses and problems that exist.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"
rules=$srcdir/contrib/prometheus/rpcrdma-proxy.rules.yml

# named: prints the statuses in the expressions
named() { grep -o 'status[!=]*[=~]"[A-Z_|]*"' "$rules" | cut -d '"' -f 2 | tr '|' '\n' | sort -u; }
same "the alerts name some statuses" "DELAY EXIST NOENT NOTEMPTY" "$(named | xargs)"
same "all of them are statuses of NFS" "" "$(comm -23 <(named) <("$builddir/tests/docs/print_tables" statuses | sort -u))"
# problems: prints the problems in the expressions
problems() { grep -o 'problem=~"[a-z_|]*"' "$rules" | cut -d '"' -f 2 | tr '|' '\n' | sort; }
check "the alerts name some problems" grep -qx source_ports_short <(problems)
same "all of them are problems of status" "" \
	"$(comm -23 <(problems) <("$builddir/tests/docs/print_tables" problems | cut -d ' ' -f 2 | sort))"

if command -v promtool >/dev/null; then
	check "the rules are valid" promtool check rules "$rules"
	check "alerts fire when they should" promtool test rules "$srcdir/tests/docs/alerts.test.yml"
else
	ok "alerts fire when they should # SKIP promtool is not installed"
fi
tap_end

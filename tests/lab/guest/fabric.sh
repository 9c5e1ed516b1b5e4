#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The verbs fabric by itself, over the kernel's siw and rxe: fabric_pair's cases are the rows.
. "$(dirname "$0")/lib.sh"

# pair FABRIC ADDRESS LABEL: each case becomes a row; a program that does not end is one too.
pair() {
	local line log=/run/share/pair-$3.log
	timeout 100 "$LAB_BUILD/tests/lab/fabric_pair" "$1" "$2" >"$log" 2>&1
	local status=$?
	while IFS= read -r line; do
		case $line in
		*"# SKIP"*) say "skip $3: ${line#*: }" ;;
		"ok "*) say "ok $3: ${line#*: }" ;;
		"not ok "*) say "not ok $3: ${line#*: }" ;;
		esac
	done <"$log"
	grep -q '^1\.\.' "$log" || say "not ok $3: fabric_pair ended with status $status"
}

guest_start
guest_rxe
pair verbs 10.0.2.15 siw
pair verbs 10.9.0.1 rxe
say done

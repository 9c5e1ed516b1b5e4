#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tests the guarantees of fabric.h with verbs on the device in memory: of either kind, plain and with a driver's profile. Also
# tests that every object of the device is destroyed. TAP.
set -u

build=${builddir:-.}
here=$(cd "$build/tests/standin" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
number=0

# pair KIND [PROFILE]
pair() {
	STANDIN_MEMORY=$1 STANDIN_PROFILE=${2-} LD_PRELOAD="$here/standin.so:$here/memory.so" \
		"$build/tests/lab/fabric_pair" verbs 127.0.0.1 >"$work/out" 2>"$work/err"
	status=$?
	while IFS= read -r line; do
		case $line in
		"ok "* | "not ok "*)
			number=$((number + 1))
			result=${line%% [0-9]*}
			echo "$result $number - $1${2:+ as $2}: ${line#*: }"
			;;
		"# "*) echo "$line" ;;
		esac
	done <"$work/out"
	number=$((number + 1))
	if grep -q '^1\.\.' "$work/out" && ! grep -E '^standin: (left|misuse)' "$work/err" >"$work/bad"; then
		echo "ok $number - $1${2:+ as $2}: ends, and has given everything back"
	else
		echo "not ok $number - $1${2:+ as $2}: ends, and has given everything back"
		sed 's/^/# /' "$work/err" | tail -n 20
		echo "# status $status"
	fi
}

pair roce
pair iwarp
pair roce mlx5
pair roce mlx4
pair iwarp cxgb4
echo "1..$number"

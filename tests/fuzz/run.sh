#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs every libFuzzer program of a fuzzing build for a share of the time, on a copy of its corpus. TAP.
set -u

if [ $# -ne 2 ]; then
	cat >&2 <<-END
	usage: tests/fuzz/run.sh BUILD_DIR SECONDS
	BUILD_DIR was configured with CC=clang --enable-fuzzing and built with make fuzz-programs
	SECONDS   in total; each target gets an equal share, at least one second
	What is found is left in BUILD_DIR/tests/fuzz/findings; the exit status is then 1.
	END
	exit 2
fi
build=$(cd "$1" && pwd) || exit 2
seconds=$2
corpora=$(cd "$(dirname "$0")/corpus" && pwd) || exit 2
findings=$build/tests/fuzz/findings

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

set --
for corpus in "$corpora"/*/; do
	set -- "$@" "$(basename "$corpus")"
done
share=$((seconds / $#))
[ "$share" -ge 1 ] || share=1

echo "1..$#"
number=0
failed=0
for name in "$@"; do
	number=$((number + 1))
	program=$build/tests/fuzz/fuzz_$name
	if [ ! -x "$program" ]; then
		echo "not ok $number - $name: $program is not built"
		failed=1
		continue
	fi
	mkdir -p "$work/$name" "$findings"
	cp "$corpora/$name"/* "$work/$name/"
	if "$program" -max_total_time="$share" -timeout=5 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix="$findings/$name-" "$work/$name" >"$work/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
		if [ "${runs:-0}" -gt 0 ]; then
			echo "ok $number - $name: $runs runs in $share s"
			continue
		fi
	fi
	failed=1
	echo "not ok $number - $name"
	grep -v '^#[0-9]' "$work/$name.log" | tail -n 40 | sed 's/^/# /'
done
exit $failed

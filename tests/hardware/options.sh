#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests ./dev hardware without a device, and with wrong options: its messages, and that it changes nothing. Tests
# undoing, questions and results.
# shellcheck disable=SC1091,SC2015
set -u
: "${srcdir:=.}"
. "$srcdir/tests/lib/tap.sh"
hardware=$srcdir/tests/hardware/hardware.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build"

# says STATUS PATTERN OPTIONS...: compares the status, and its first line with PATTERN
says() {
	local wanted=$1 pattern=$2 said status=0
	shift 2
	said=$("$hardware" --build "$work/build" "$@" 2>&1 </dev/null) || status=$?
	head -n 1 <<<"$said" | grep -E -e "$pattern" && [ $status = "$wanted" ] || { echo "status $status: $said"; false; }
}

check "help names each option" says 0 '^usage: ./dev hardware' --help
for option in --serve --peer --device --only --minutes --quick --nfs --dir --port --output --may-cut --may-drop --may-reset --may-configure; do
	check "help names $option" grep -qF -- "$option" <("$hardware" --help)
	check "the page names $option" grep -qF -- "$option" "$srcdir/doc/hardware.md"
done
check "an option that does not exist" says 2 'there is no such option' --may
check "an option without its value" says 2 '--peer needs a value' --peer
check "a check that does not exist" says 2 'there are checks 1 to 12' --only 3,13
check "a check that is no number" says 2 'there are checks 1 to 12' --only all
check "a time that is no number" says 2 "--minutes needs a number, not 'x'" --minutes x
check "a port above which there are no ten" says 2 'ten ports are needed' --port 65530
check "an NFS server without a path" says 2 '--nfs needs ADDRESS:PATH' --nfs filer
check "an interface that is not there" says 2 'there is no such interface' --may-drop=none0
check "a build that is not there" says 2 'there is no build' --build "$work/none"
if [ "$(id -u)" = 0 ]; then
	check "a device that is not there" says 3 'there is no RDMA device none0' --device none0
	[ -n "$(ls /sys/class/infiniband 2>/dev/null)" ] ||
		check "a host without a device" says 3 'this host has no RDMA device'
	echo "touch '$work/undone'" >"$work/build/hardware/undo"
	check "what a run that was killed has left is undone first" says 3 'an earlier run was killed' --device none0
	check "it was" [ -e "$work/undone" ]
	check "and is not undone twice" [ ! -e "$work/build/hardware/undo" ]
else
	check "without root" says 3 'needs root'
fi

# ---------------------------------------------------------------- its functions

# shellcheck disable=SC2034
top=$srcdir here=$srcdir/tests/hardware build=$work/build state=$work/state T=$work/t device=none0 proxy_dir=$T LAB_BUILD=$build
mkdir -p "$state" "$T"
. "$srcdir/tests/hardware/lib.sh"

# result_of PARTS...: prints the result line of a check with these parts
result_of() {
	local part
	check_begin
	for part; do "${part%%:*}" "${part#*:}" >/dev/null; done
	check_result 5
}
same "all parts passed" "result 5: ok" "$(result_of passed:a passed:b)"
same "a part failed" "result 5: failed: b; c" "$(result_of passed:a failed:b failed:c absent:d)"
same "a part cannot run here" "result 5: ok (cannot run here: b; c)" "$(result_of passed:a absent:b absent:c)"
same "none can" "result 5: cannot run here: b" "$(result_of absent:b)"
same "nothing was said" "result 5: cannot run here: nothing was tried" "$(result_of)"

undo_add touch "$work/with a blank"
undo_add eval "echo first >>'$work/order'"
undo_add eval "echo second >>'$work/order'"
undo_add false
undo_done eval "echo second >>'$work/order'"
undo_add touch "$work/never"
undo_forget touch "$work/never"
check "what was undone at once is off the list" [ "$(wc -l <"$state/undo")" = 3 ]
undo_all 2>"$work/undo.err"
check "what cannot be undone is said" grep -qxF "hardware: could not be undone: 'false'" "$work/undo.err"
check "names with blanks are undone" [ -e "$work/with a blank" ]
same "the last one first" "second first" "$(paste -sd ' ' "$work/order")"
check "what was forgotten is not done" [ ! -e "$work/never" ]
check "nothing is left to be undone" [ ! -e "$state/undo" ]
check "no question is asked without a terminal" eval '! ask "pull the cable" </dev/null'
tap_end

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests that json_at finds the values for which other tests poll.
set -u
: "${srcdir:=.}" "${builddir:=.}"
. "$srcdir/tests/lib/tap.sh"

document='{"connections": [{"service": "nfs", "client": {"calls": 1, "local": "a b", "none": null}},
	{"service": "mount", "client": {"calls": 4}, "calls": 16}], "memory": {"used": 64, "list": [256, {"used": 1024}]}, "calls": "x"}'
at() { "$builddir/tests/lib/json_at" "$@" <<<"$document"; }
status() { "$@" >/dev/null 2>&1; echo $?; }

same "a value" 64 "$(at memory used)"
same "strings have no quotes, other values are JSON" '1|"a b"|null' "$(at connections service=nfs client | tr -d '{}' |
	sed 's/"[a-z]*"://g; s/,/|/g')"
same "each value has a line" $'a b' "$(at connections '*' client local)"
same "null is a value" null "$(at connections service=nfs client none)"
same "what is not there is none" "" "$(at connections service=tcp client)"
same "the sum at any depth" 21 "$(at --sum '**' calls)"
same "the sum of several paths" 1088 "$(at --sum memory used + memory list '*' used)"
same "the sum of none" 0 "$(at --sum nothing '*')"
same "the number of items" 2 "$(at --count connections '*')"
same "the number of those that have a text" 1 "$(at --count connections service=mount)"
same "no JSON: status 1" 1 "$(document='{' status at calls)"
same "no step: status 2" "2 2" "$(status at) $(status at --sum)"
same "an unknown option: status 2" 2 "$(status at --most calls)"
tap_end

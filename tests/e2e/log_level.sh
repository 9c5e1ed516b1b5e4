#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The log level from the file, from -v and from the control client, and the effect of a reload on it.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect

level() { ctl a -j status | jq -r .log_level; }
# with LEVEL: sets that level in the file, and reloads it
with() {
	A_GLOBAL="log_level = \"$1\";"
	proxy_config a >$T/a.conf
	ctl a reload >/dev/null
}

A_GLOBAL='log_level = "warning";'
start_proxy a
check "the file's level is that of the start" [ "$(level)" = warning ]
check "and of its first lines" not logged a " info: "
with debug
check "a reload takes another one" [ "$(level)" = debug ]
check "and says so" wait_for 10 logged a "log level is now debug (was warning), as the file says"
ctl a log error >/dev/null
ctl a reload >/dev/null
check "what the control client has set stays, if the file says what it said" [ "$(level)" = error ]
with info
check "and goes if that has changed" [ "$(level)" = info ]
A_GLOBAL='log_level = "loud";'
proxy_config a >$T/a.conf
check "an invalid level is reported with the valid ones" \
	eval "! ctl a reload >$T/said 2>&1 && grep -q 'a.conf:[0-9]*: .*loud' $T/said && grep -q 'error.*warning.*info.*debug' $T/said"
check "and changes nothing" [ "$(level)" = info ]
stop_proxy a

A_GLOBAL='log_level = "error";'
proxy_config a >$T/a.conf
: >$T/a.log
start a "$PROXY" -v -c $T/a.conf
serves a $FRONT_PORT || bail "proxy a does not start"
check "-v wins over the file" [ "$(level)" = debug ]
with warning
check "at a reload, too" [ "$(level)" = debug ]
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The effect of signals on a daemon that serves, and on one whose log has no reader.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
start_chain

said_so() { grep -q 'reloaded: services kept 2' "$T/a.log"; }

kill -HUP "${pid_of[a]}"
check "SIGHUP reads the file again, and says so" wait_for 30 said_so
check "the daemon continues" alive a
check "and serves" nfs_client "$V3" mixed three 4m 3
stop_proxy a

# A log without a reader.
mkfifo "$T/full"
exec 9<>"$T/full"
"$PROXY" -c "$T/a.conf" 2>"$T/full" </dev/null &
pid_of[a]=$!
serves a "$FRONT_PORT" "$FRONT_MNT" || bail "proxy a does not start"
dd if=/dev/zero of="$T/full" bs=4096 oflag=nonblock 2>/dev/null # until it is full
check "with an unread log it serves" nfs_client "$V3" mixed four 4m 4
stop_proxy a
exec 9>&-
finish

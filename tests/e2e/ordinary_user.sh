#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The proxies run as an ordinary user without any capability.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
can_open_by_handle || skip_all "needs root outside user namespaces"
start_ganesha
chmod 777 $T
PROXY_WRAP="setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -all"
start_chain

uid() { awk '/^Uid:/ { print $2 }' "/proc/${pid_of[$1]}/status"; }

check "proxy a is not root" [ "$(uid a)" = 65534 ]
check "NFSv3 works" nfs_client "$V3" mixed three 4m 3
check "NFSv4.0 works" nfs_client "$V4" mixed four 4m 4
finish

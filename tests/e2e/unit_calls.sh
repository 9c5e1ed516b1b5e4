#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The systemd unit permits each system call that the daemon makes, from its start to its end, and has good sandboxing.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
not_sanitized
command -v systemd-analyze >/dev/null || skip_all "systemd-analyze is not installed"
unit=$E2E_BUILD/systemd/rpcrdma-proxy.service

# members GROUP...: prints the system calls of groups, including nested groups
members() {
	local word

	for word; do
		case $word in
		@*)
			# shellcheck disable=SC2046
			members $(systemd-analyze --no-pager syscall-filter "$word" | sed -n 's/^ \+\([-@a-z0-9_]*\)$/\1/p')
			;;
		*) echo "$word" ;;
		esac
	done
}

# As systemd reads the lines: a list of permitted calls, then a ~ removes some, and so on.
allowed() {
	local line

	members @default >"$T/allowed"
	while read -r line; do
		# shellcheck disable=SC2086
		if [ "${line#\~}" != "$line" ]; then
			members ${line#\~} | sort -u >"$T/taken"
			sort -u "$T/allowed" | comm -23 - "$T/taken" >"$T/left" && mv "$T/left" "$T/allowed"
		else
			members $line >>"$T/allowed"
		fi
	done < <(sed -n 's/^SystemCallFilter=//p' "$unit")
	sort -u "$T/allowed"
}

start_ganesha
PROXY_WRAP="strace -f -qq -e signal=none -o $T/calls" start_proxy b
start_proxy a
V3="nfs://127.0.0.1/export?version=3&nfsport=$FRONT_PORT&mountport=$FRONT_MNT"
check "it serves" nfs_client "$V3" mixed three 1m 3
check "it reads its file again" ctl b reload
check "it is stopped" ctl b stop
ends_well b "it ends"
allowed >"$T/may"
sed -n 's/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p' "$T/calls" | sort -u >"$T/does"
check "it makes system calls" [ "$(wc -l <"$T/does")" -gt 20 ]
none_but() { local more; more=$(comm -23 "$T/does" "$T/may"); echo "$more"; [ -z "${more/execve/}" ]; }
check "all of which the unit allows" none_but

# exposure [CAPABILITY]: prints systemd's exposure level of the unit, with an additional capability
exposure() {
	sed "s/^\(AmbientCapabilities\|CapabilityBoundingSet\)=/&${1:-} /" "$unit" >"$T/unit.service"
	systemd-analyze security --no-pager --offline=yes "$T/unit.service" | awk '/Overall exposure/ { print $(NF - 2) }'
}
at_most_two() { echo "$1"; awk -v level="$1" 'BEGIN { exit !(level != "" && level <= 2.0) }'; }
check "its exposure is 2.0 at most" at_most_two "$(exposure)"
check "with CAP_NET_RAW, too" at_most_two "$(exposure CAP_NET_RAW)"
finish

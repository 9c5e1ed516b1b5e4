# SPDX-License-Identifier: BSD-3-Clause
# Waiting for a state, on the host and in the guest alike: sourced by both sides.

# wait_for SECONDS COMMAND...: until the command succeeds; fails when the time is over.
wait_for() {
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < limit)) || return 1
		sleep 0.1
	done
}

# accepts PORT: somebody takes connections there, on this host.
accepts() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

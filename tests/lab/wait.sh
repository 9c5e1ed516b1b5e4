# SPDX-License-Identifier: BSD-3-Clause
# Waits for a state. Host and guest both source it.

TIME_LIMIT=$LAB_BUILD/tests/lib/time_limit
# Starting a program costs the host 40 ms per guest. So this shell itself waits, by reading from a socket without a
# sender, and checks rarely.
LOOK_S=0.1 LOOK_LATE_S=0.5
pause() {
	if [ -n "${pause_fd:-}" ] || { exec {pause_fd}<>/dev/udp/127.0.0.1/9; } 2>/dev/null; then
		read -r -t "$1" -u "$pause_fd" || true
	else
		sleep "$1"
	fi
}
. "$(dirname "${BASH_SOURCE[0]}")/../lib/time_limit.sh"

# accepts PORT: a program accepts connections at this port of this host.
accepts() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# SPDX-License-Identifier: BSD-3-Clause
# Waiting for a state, on the host and in the guest alike: sourced by both sides.

TIME_LIMIT=$LAB_BUILD/tests/lib/time_limit
LOOK_S=0.1
pause() { sleep "$1"; }
. "$(dirname "${BASH_SOURCE[0]}")/../lib/time_limit.sh"

# accepts PORT: somebody takes connections there, on this host.
accepts() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

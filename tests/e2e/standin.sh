# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Functions for tests over verbs: one proxy on an in-memory device that behaves like a driver's (tests/standin). It has
# a service for clients, and a second service, over verbs, which is the server of the first.

STANDIN=$E2E_PROGRAMS/tests/standin

# stand_in KIND PROFILE [FAULTS]: prints the command to put before the proxy; KIND is roce or iwarp
stand_in() {
	export STANDIN_MEMORY=$1 STANDIN_PROFILE=$2 STANDIN_FAULTS=${3:-}
	PROXY_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD=$STANDIN/standin.so:$STANDIN/memory.so"
}

# The two services use different addresses, because a daemon must not connect to itself.
device_config() {
	cat <<-END
	control = "$T/a.sock";
	workers = ${WORKERS:-2};
	drain_timeout_s = ${DRAIN_S:-30};
	services = (
	$(service front "tcp://127.0.0.1:$FRONT_PORT" "verbs://127.0.0.3:$FABRIC_PORT"),
	$(service back "verbs://127.0.0.2:$FABRIC_PORT" "tcp://127.0.0.1:${BACK_PORT:-$NFS_PORT}")
	$([ -z "${OTHER_PORT:-}" ] || { echo ,; device_more; })
	);
	END
}

start_device() {
	device_config >$T/a.conf
	# shellcheck disable=SC2086
	start a $PROXY_WRAP "$PROXY" -c $T/a.conf
	serves a "$FRONT_PORT" || bail "the proxy does not start"
}

# nothing_left: all resources of the device were destroyed, and no call violated its rules
nothing_left() { ! grep -E '^standin: (left|misuse)' $T/a.log; }

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A proxy has few descriptors, and more clients than it can accept. They wait, the proxy disconnects no client that it
# serves, and it recovers.
BACK_PORT=3049
# shellcheck disable=SC2034
A_SERVICE='probe_interval_s = 1;'
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
chooses_dialect
not_sanitized

has_descriptors() { [ "$(descriptors a)" -le "$1" ]; }
served() { grep -q ready "$T/$1.log"; }
client() { start "$1" "$BIN/held_call" ask 127.0.0.1 $FRONT_PORT idle; }
all_served() { local i; for i in "$@"; do served "client-$i" || return 1; done; }

start_proxy b
start server "$BIN/held_call" serve 127.0.0.1 $BACK_PORT
serves server $BACK_PORT || bail "the server does not start"
LIMIT=40
PROXY_WRAP="prlimit --nofile=$LIMIT:$LIMIT"
proxy_config a >$T/a.conf
start a $PROXY_WRAP "$PROXY" -c $T/a.conf
wait "${pid_of[a]}"
check "with less than it needs for one connection it does not start" [ $? = 1 ]
check "and says what it needs" grep -qE "cannot start: the limit of descriptors .* is $LIMIT, but [0-9]+ are needed" $T/a.log

LIMIT=130
PROXY_WRAP="prlimit --nofile=$LIMIT:$LIMIT"
start_proxy a
# What it shows is what it accepts, and no less than -tv shows.
shown=$(ctl a -j services | jq '.services[0].max_connections')
planned=$($PROXY_WRAP "$PROXY" -tv -c $T/a.conf | grep -oE 'max_connections = "auto" is [0-9]+' | grep -oE '[0-9]+$' | head -n 1)
note "-tv: $planned, the daemon: $shown"
shows_limit() { ctl a config | grep -qF "max_connections = \"auto\"; # the default; $shown, by the limit of descriptors (LimitNOFILE= in the unit)"; }
check "with few it shows how many connections that allows" shows_limit
check "and -tv shows no more, and hardly less" test "$planned" -le "$shown" -a "$planned" -ge $((shown - 4))
check "which needs no warning" not logged a max_connections
idle=$(descriptors a)
client first
wait_for 20 served first || bail "no client is served"

# Clients without a Call.
fds=()
for _ in {1..60}; do
	exec {fd}<>/dev/tcp/127.0.0.1/$FRONT_PORT || bail "a client cannot connect"
	fds+=("$fd")
done
check "60 silent clients keep no other out" eval 'client second; wait_for 20 served second'
check "nor the control client" ctl a status
for fd in "${fds[@]}"; do exec {fd}>&-; done
stop second
check "none of their descriptors is left" wait_for 20 has_descriptors $((idle + 2))

# Clients with a Call: more than the proxy has descriptors for.
for i in {1..60}; do client "client-$i"; done
short() { logged a "clients wait: the limit of descriptors"; }
check "too many clients that are served are a warning" wait_for 20 short
check "some of them wait" not all_served {1..60}
are_served() { [ "$(grep -l ready $T/client-*.log $T/first.log | wc -l)" = "$1" ]; }
check "as many are served as it shows" wait_for 20 are_served "$shown"
# No descriptor is left to try the server. The daemon logs this, and does not consider the server down.
checked() { ctl a check nfs >$T/check.txt; [ $? -lt 3 ]; }
check "a check of the server is answered" checked
note "$(cat $T/check.txt)"
check "and its server is known to answer" wait_for 10 eval 'ctl a -j services | jq -e ".services[0].server.state == \"ok\""'
check "the control client does not" ctl a status
check "and no served client is closed" alive first
turns() {
	local i

	for i in {1..60}; do
		served "client-$i" && stop "client-$i"
	done
	((${#pid_of[@]} == 4)) # the proxies, the server, the first client
}
check "each has its turn as others leave" wait_for 60 turns
check "and then there is room again" wait_for 20 has_descriptors $((idle + 2))
check "the first client is there all the time" alive first
check "a new one is served" eval 'client last; wait_for 20 served last'
finish

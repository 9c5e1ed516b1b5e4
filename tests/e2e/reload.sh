#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The daemon reloads its file, drains services and stops, while clients write and verify.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
start_ganesha
start_chain

refused() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# rewrite SIDE KEYS: writes the side's file with further keys for each service
rewrite() {
	local A_SERVICE=$2 B_SERVICE=$2

	proxy_config "$1" >"$T/$1.conf"
}

# says STATUS TEXT COMMAND...: the output has the text
says() {
	local status=$1 text=$2

	shift 2
	"$@" >"$T/said" 2>&1
	[ $? = "$status" ] && grep -qF -- "$text" "$T/said" || { cat "$T/said"; return 1; }
}

begin() {
	start three nfs_client "$V3" write three-$1 "${2:-100m}" 3 128k
	start four nfs_client "$V4" write four-$1 "${2:-100m}" 4 128k
	wait_for_growth 30 export/three-$1 10000000
	wait_for_growth 30 export/four-$1 10000000
}

end() {
	for version in three four; do
		ends_well $version "$2: the client $version finishes"
	done
	check "$2: what NFSv3 wrote is there" nfs_client "$V3" verify three-$1 "${3:-100m}" 3
	check "$2: what NFSv4.0 wrote is there" nfs_client "$V4" verify four-$1 "${3:-100m}" 4
}

# Twenty reloads, each of which changes all services of one side; one in between is invalid.
begin 1 300m
failed=0 under_load=0
for i in {1..10}; do
	for side in a b; do
		rewrite $side "stall_timeout_s = $((60 + i));"
		! { alive three || alive four; } || under_load=$((under_load + 1))
		ctl $side reload >"$T/said" 2>&1 || { failed=$((failed + 1)); cat "$T/said"; }
	done
	[ $i = 5 ] || continue
	rewrite a "stall_timeout_s = never;"
	check "an invalid file is reported with its line" says 1 "$T/a.conf:" ctl a reload
	check "and that nothing has changed" says 1 "nothing has changed" ctl a reload
done
check "twenty reloads" [ $failed = 0 ]
check "while clients were writing: $under_load" [ $under_load -gt 0 ]
end 1 "reloads" 300m

# Unchanged services are not affected.
cp "$T/a.conf" "$T/same.conf"
start holder "$BIN/nfs_client" "$V3" hold same 8m 3 128k
wait_while 30 'counter a tcp calls_received' grep -q running holder.log || bail "no client is served"
ids() { ctl a -j connections | jq -r '[.connections[].id] | sort | join(" ")'; }
was=$(ids)
check "a reload that changes nothing keeps all" says 0 "kept: nfs, mount" ctl a reload
check "the connections are the same" [ -n "$was" -a "$was" = "$(ids)" ]
passed=$(counter a tcp calls_received)
check "and their client continues" wait_for 30 counter_is a tcp calls_received -gt $((passed + 200))
check "it has found each byte as it was" alive holder
stop holder KILL

# SIGHUP does the same.
reloaded() { [ "$(grep -c 'reloaded: ' "$T/a.log")" -gt "$times" ]; }
times=$(grep -c 'reloaded: ' "$T/a.log")
kill -HUP "${pid_of[a]}"
check "SIGHUP reads the file again" wait_for 30 reloaded

# Drained and resumed under load.
begin 2
check "a side is drained" says 0 "draining: nfs, mount" ctl a drain
check "no client is accepted" wait_for 10 refused $FRONT_PORT
check "its connections end" wait_for 60 no_connections a
check "services says so" says 0 "nfs: drained" ctl a services
check "it resumes" says 0 "resumed: nfs, mount" ctl a resume
end 2 "drain and resume"

# Stopped under load, it ends between Calls; the next daemon continues.
begin 3
stop a
check "a stop under load ends with success" [ "$exit_status" = 0 ]
left_unanswered() { sed '1,/ stopping: /d' "$T/a.log" | grep -E ', [1-9][0-9,]* unanswered'; }
check "between Calls: nothing was left unanswered" not left_unanswered
start_proxy a
end 3 "a stop"

check "--now is for stop alone" says 2 "--now is for stop" ctl a --now status
check "stop --now" says 0 "stopping" ctl a stop --now
ends_well a "it ends with success, too"
finish

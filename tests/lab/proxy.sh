# SPDX-License-Identifier: BSD-3-Clause
# Starts and queries a proxy for one row. Host and guest source it. proxy_dir is the directory of configuration, control
# sockets and logs; LAB_BUILD is the directory of the programs.

# proxy_start NAME LISTEN[,LISTEN] CONNECT[,CONNECT] [KEYS...]: starts a proxy with KEYS for its service and $PROXY_KEYS
# for all services, and waits until its control socket answers. PROXY_IN is a command that starts it elsewhere.
proxy_start() {
	local name=$1 conf=$proxy_dir/$1.conf keys="${*:4}" connect="\"${3//,/\", \"}\"" listen="\"${2//,/\", \"}\""
	[[ $3 != *,* ]] || connect="[ $connect ]"
	[[ $2 != *,* ]] || listen="[ $listen ]"
	# Linux kernels connect over siw from ports above 1023, and the exports are `secure`.
	case $2/$3 in *iwarp:*/*tcp:* | *rdma:*/*tcp:*) keys+=' trusted_proxies = [ "0.0.0.0/0", "::/0" ];' ;; esac
	cat >"$conf" <<-CONF
	control = "$proxy_dir/$name.sock";
	workers = ${PROXY_WORKERS:-1};
	memory_limit_mib = ${PROXY_MEMORY_MIB:-256}; ${PROXY_KEYS:-}
	services = (
	  { name = "$name";
	    listen = $listen;
	    connect = $connect; $keys
	    require_privileged_port = false; }
	);
	CONF
	case $2 in
	tcp:*) ;;
	*) sed -i '/require_privileged_port/d; s/\(connect = .*\);/\1; }/' "$conf" ;;
	esac
	${PROXY_IN:-} "$LAB_BUILD/daemon/rpcrdma-proxy" -c "$conf" >>"$proxy_dir/$name.log" 2>&1 &
	echo $! >"$proxy_dir/$name.pid"
	proxy_ready "$name"
}

proxy_answers() { proxy_says "$1" status >/dev/null 2>&1; }
has_ended() { ! kill -0 "$1" 2>/dev/null; }
proxy_answers_or_ended() { proxy_answers "$1" || has_ended "$(<"$proxy_dir/$1.pid")"; }

# proxy_ready NAME: waits until its control socket answers. Fails if it has ended.
proxy_ready() {
	wait_for 30 proxy_answers_or_ended "$1" && ! has_ended "$(<"$proxy_dir/$1.pid")" && return
	echo "proxy $1 does not start: $(tail -1 "$proxy_dir/$1.log")"
	return 1
}

# proxy_stop NAME [SIGNAL]: sends the signal (SIGTERM drains), and waits for the end.
proxy_stop() {
	local pid
	pid=$(cat "$proxy_dir/$1.pid" 2>/dev/null) || return 0
	kill -"${2:-TERM}" "$pid" 2>/dev/null || true
	# It may be the child of another subshell.
	wait "$pid" 2>/dev/null || wait_for 10 has_ended "$pid"
	rm -f "$proxy_dir/$1.pid"
}

# proxy_restart NAME: kills it by SIGKILL, and starts it again with the same configuration.
proxy_restart() {
	proxy_stop "$1" KILL
	proxy_again "$1"
}

# proxy_again NAME: starts it with its last configuration.
proxy_again() {
	"$LAB_BUILD/daemon/rpcrdma-proxy" -c "$proxy_dir/$1.conf" >>"$proxy_dir/$1.log" 2>&1 &
	echo $! >"$proxy_dir/$1.pid"
}

# proxy_says NAME COMMAND...: prints the answer of the control client.
proxy_says() {
	local name=$1
	shift
	with_limit 5 "$LAB_BUILD/daemon/ctl/rpcrdma-proxyctl" -s "$proxy_dir/$name.sock" "$@"
}

# figures: prints values of JSON on standard input (tests/lib/json_at.c).
figures() { "$LAB_BUILD/tests/lib/json_at" "$@"; }

# proxy_bytes NAME: prints the bytes that both legs have received and sent.
proxy_bytes() { proxy_says "$1" -j stats | figures --sum '**' bytes_received + '**' bytes_sent; }

# proxy_count NAME COUNTER: prints the sum of all counters of that name.
proxy_count() { proxy_says "$1" -j stats | figures --sum '**' "$2"; }

# proxy_crc_faults NAME ADDRESS: prints a line such as "RDMA Write" for each FPDU with a wrong CRC, on connections of
# clients with that address.
proxy_crc_faults() {
	sed -nE "s/^.* \[$1#[0-9]+ ${2//./\\.}:[0-9]+\] (server|client): peer sent an FPDU with a wrong CRC \((.*)\);.*/\2/p" \
		"$proxy_dir/$1.log"
}

# proxy_targets NAME: prints the number of connections to each server of its service.
proxy_targets() {
	proxy_says "$1" -j services | jq -r '.services[0].targets | map(.connections | tostring) | join(" ")'
}

# proxy_held NAME: prints how many Calls wait for a credit, on the connection with the most.
proxy_held() {
	proxy_says "$1" -j connections | jq '[.connections[].upstream.calls_held? | numbers] | max // 0'
}

# holds_nothing NAME: it has no connections and holds no memory. Sets status to its answer.
holds_nothing() {
	status=$(proxy_says "$1" -j status)
	[ "$(figures --sum connections + memory claimed_bytes + memory waiting_claims + memory in_use_bytes <<<"$status")" = 0 ]
}

# proxy_drained NAME: waits up to a minute until it has no connections and holds no memory; if it still does, prints
# them.
proxy_drained() {
	local status=
	wait_for 60 holds_nothing "$1" && return
	echo "proxy $1 still holds: $(jq -c '[.connections, .memory]' <<<"$status")"
	return 1
}

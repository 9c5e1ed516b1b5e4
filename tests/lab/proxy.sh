# SPDX-License-Identifier: BSD-3-Clause
# A proxy for one row. Host and guest both source it. proxy_dir is the directory of configuration, control sockets and
# logs; LAB_BUILD that of the programs.

# proxy_start NAME LISTEN[,LISTEN] CONNECT[,CONNECT] [KEYS...]: starts it, with more KEYS for its service and $PROXY_KEYS for all, and waits until its control
# socket answers. PROXY_IN, if set, is a command that starts it elsewhere.
proxy_start() {
	local name=$1 conf=$proxy_dir/$1.conf keys="${*:4}" connect="\"${3//,/\", \"}\"" listen="\"${2//,/\", \"}\""
	[[ $3 != *,* ]] || connect="[ $connect ]"
	[[ $2 != *,* ]] || listen="[ $listen ]"
	# Linux kernels come over siw from ports above 1023, and the exports are `secure`.
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

# proxy_ready NAME: waits until its control socket answers, as long as it lives.
proxy_ready() {
	wait_for 30 proxy_answers_or_ended "$1" && ! has_ended "$(<"$proxy_dir/$1.pid")" && return
	echo "proxy $1 does not start: $(tail -1 "$proxy_dir/$1.log")"
	return 1
}

# proxy_stop NAME [SIGNAL]: ends it (SIGTERM drains) and waits.
proxy_stop() {
	local pid
	pid=$(cat "$proxy_dir/$1.pid" 2>/dev/null) || return 0
	kill -"${2:-TERM}" "$pid" 2>/dev/null || true
	# It may be the child of another subshell.
	wait "$pid" 2>/dev/null || wait_for 10 has_ended "$pid"
	rm -f "$proxy_dir/$1.pid"
}

# proxy_restart NAME: kills it without a word and starts it again with the same configuration.
proxy_restart() {
	proxy_stop "$1" KILL
	proxy_again "$1"
}

# proxy_again NAME: starts it with the configuration that it had.
proxy_again() {
	"$LAB_BUILD/daemon/rpcrdma-proxy" -c "$proxy_dir/$1.conf" >>"$proxy_dir/$1.log" 2>&1 &
	echo $! >"$proxy_dir/$1.pid"
}

# proxy_says NAME COMMAND...: what its control client has to say.
proxy_says() {
	local name=$1
	shift
	with_limit 5 "$LAB_BUILD/daemon/ctl/rpcrdma-proxyctl" -s "$proxy_dir/$name.sock" "$@"
}

# figures: values of what the control client says, which is on standard input. See tests/lib/json_at.c.
figures() { "$LAB_BUILD/tests/lib/json_at" "$@"; }

# proxy_bytes NAME: what it received and sent on both its legs since it started.
proxy_bytes() { proxy_says "$1" -j stats | figures --sum '**' bytes_received + '**' bytes_sent; }

# proxy_count NAME COUNTER: the sum of that counter over all that has it.
proxy_count() { proxy_says "$1" -j stats | figures --sum '**' "$2"; }

# proxy_crc_faults NAME ADDRESS: what its peers have sent with a wrong CRC since it started, on connections of clients with that
# address: a line each, "RDMA Write".
proxy_crc_faults() {
	sed -nE "s/^.* \[$1#[0-9]+ ${2//./\\.}:[0-9]+\] (server|client): peer sent an FPDU with a wrong CRC \((.*)\);.*/\2/p" \
		"$proxy_dir/$1.log"
}

# proxy_targets NAME: how many connections lead to each server of its service.
proxy_targets() {
	proxy_says "$1" -j services | jq -r '.services[0].targets | map(.connections | tostring) | join(" ")'
}

# proxy_held NAME: how many Calls wait for a credit, on the connection on which most do.
proxy_held() {
	proxy_says "$1" -j connections | jq '[.connections[].upstream.calls_held? | numbers] | max // 0'
}

# holds_nothing NAME: neither a connection nor memory. Sets status to what it says.
holds_nothing() {
	status=$(proxy_says "$1" -j status)
	[ "$(figures --sum connections + memory claimed_bytes + memory waiting_claims + memory in_use_bytes <<<"$status")" = 0 ]
}

# proxy_drained NAME: waits, up to a minute, until it has no connection and holds no memory; else says what it holds.
proxy_drained() {
	local status=
	wait_for 60 holds_nothing "$1" && return
	echo "proxy $1 still holds: $(jq -c '[.connections, .memory]' <<<"$status")"
	return 1
}

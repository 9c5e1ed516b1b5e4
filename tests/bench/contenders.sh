# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The contenders: the programs between the load generator and the server. Source it after lib.sh and hosts.sh.
#
#	serve                      # starts the server on the far side
#	start_contender NAME
#	front_of NAME              # prints its "ADDR PORT" for clients
#	stop_contender NAME
#
# The near side has the clients and the first hop, the far side the second hop and the server, whose address is $FAR.
# On loopback both are the same host. Each hop has one worker, or $WORKERS. Our proxy uses any source port to its
# server, as the others do, except the contenders of the kind auto: they use reserved ports first, as the daemon does
# by default. HAProxy's buffers are as long as those of the copy proxy, because with its default it moves bytes at half
# the speed.

FAR=127.0.0.1
WORKERS=1
BUFFER=262144
CONNECTIONS_MAX=9600 # those of idle-c9500, and some

# NAME KIND HOPS REFERENCE CLASS KEYS # TITLE: the name in the results, the kind of a hop, the number of hops, the
# contender for comparison ("-": none), the class in plots (report/style.py; +pale for a variant), further keys, the
# title
contender_table() {
	cat <<-END
	direct          none    0 -        none         # no proxy
	socat           socat   1 haproxy  socat        # socat
	haproxy         haproxy 1 -        haproxy      # HAProxy
	haproxy-splice  haproxy 1 haproxy  haproxy+pale option splice-auto # HAProxy, splice
	haproxy2        haproxy 2 -        haproxy      # two HAProxies
	copy            copy    1 haproxy  copy         # copy proxy
	copy2           copy    2 haproxy2 copy         # two copy proxies
	tcp             ours    1 haproxy  ours         # ours, tcp to tcp
	tcp-reserved    auto    1 haproxy  ours+pale    # ours, reserved ports
	chain           ours    2 haproxy2 ours         # our two, iwarp
	chain-reserved  auto    2 haproxy2 ours+pale    # our two, reserved ports
	chain-nocrc     ours    2 haproxy2 ours+pale    mpa_crc = false; # our two, no CRC
	chain-64k       ours    2 haproxy2 ours+pale    fpdu_max = "64k"; # our two, FPDU 64 KiB
	chain-mss       ours    2 haproxy2 ours+pale    fpdu_max = "mss"; # our two, FPDU of MSS
	chain-v2        two     2 haproxy2 ours+pale    inline_threshold_bytes = 131072; receive_max_bytes = 131072; # our two, version two
	tcp-beside      beside  1 haproxy  beside       # other build, tcp to tcp
	chain-beside    beside  2 haproxy2 beside       # other build, iwarp
	END
}

# name_contenders: prints the table for the report
name_contenders() {
	local name kind hops reference class rest

	echo contender,hops,reference,class,title
	while read -r name kind hops reference class rest; do
		printf '%s,%s,%s,%s,"%s"\n' "$name" "$hops" "${reference#-}" "${class//+/ }" "${rest#*# }"
	done < <(contender_table)
}

# contender NAME: sets kind, hops and keys from the table, and base to its first port; these are variables of the caller
contender() {
	local name reference class

	base=10000
	while read -r name kind hops reference class keys; do
		((base += 10))
		[ "$name" = "$1" ] || continue
		keys=${keys%%#*}
		return 0
	done < <(contender_table)
	die "there is no contender $1"
}

front_of() {
	local kind hops keys base

	contender "$1"
	[ "$hops" = 0 ] && echo "$FAR $NFS_PORT" || echo "127.0.0.1 $base"
}

# ---------------------------------------------------------------- a hop

# haproxy_config LISTEN_ADDR LISTEN_PORT ADDR PORT KEYS
haproxy_config() {
	cat <<-END
	global
	  maxconn $CONNECTIONS_MAX
	  maxpipes 64
	  nbthread $WORKERS
	  tune.bufsize $BUFFER
	defaults
	  mode tcp
	  timeout connect 60s
	  timeout client 600s
	  timeout server 600s
	  $5
	listen hop
	  bind $1:$2 backlog 4096
	  server one $3:$4
	END
}

# our_config CONTROL LISTEN CONNECT KEYS
our_config() {
	local more="require_privileged_port = false;"

	case $2 in tcp*) ;; *) more= ;; esac
	cat <<-END
	control = "$1";
	workers = $WORKERS;
	services = ( { name = "hop"; listen = "$2"; connect = "$3"; max_connections = $CONNECTIONS_MAX; $more $4 } );
	END
}

# start_hop_on HOST NAME COMMAND...: starts it; $hops_wrap is put before the command
# shellcheck disable=SC2086
start_hop_on() { start_on "$1" "$2" ${hops_wrap:-} "${@:3}"; }

# start_hop NAME KIND HOST LISTEN_ADDR LISTEN_PORT ADDR PORT FABRICS KEYS: starts a hop. FABRICS is "LISTEN CONNECT",
# each tcp or iwarp
start_hop() {
	local name=$1 kind=$2 host=$3 listen_addr=$4 listen_port=$5 addr=$6 port=$7 fabrics=$8 keys=$9 program=$PROXY

	case $kind in
	socat)
		start_hop_on "$host" "$name" socat -b $BUFFER \
			"TCP-LISTEN:$listen_port,bind=$listen_addr,fork,reuseaddr,backlog=4096,nodelay" "TCP:$addr:$port,nodelay"
		;;
	copy) start_hop_on "$host" "$name" "$BENCH/copy_proxy" -a "$listen_addr" "$listen_port" "$addr" "$port" $BUFFER ;;
	haproxy)
		haproxy_config "$listen_addr" "$listen_port" "$addr" "$port" "$keys" >"$T/$name.cfg"
		start_hop_on "$host" "$name" haproxy -db -f "$T/$name.cfg"
		;;
	*)
		[ "$kind" != beside ] || program=$BESIDE
		[ "$kind$fabrics" != "twotcp iwarp" ] || keys+=" connect_version = 2;"
		case "$kind $fabrics" in auto*) ;; *\ tcp) keys+=' source_port = "any";' ;; esac
		our_config "$T/$name.sock" "${fabrics% *}://$listen_addr:$listen_port" "${fabrics#* }://$addr:$port" \
			"$keys" >"$T/$name.conf"
		start_hop_on "$host" "$name" "$program" -c "$T/$name.conf"
		;;
	esac
	opens "$host" "$name" "$listen_port" || die "$name does not start: $(tail -n 5 "$T/$name.log")"
}

# ---------------------------------------------------------------- all of it

# hops_of NAME: prints the names of its processes, as in $pid_of
hops_of() {
	local kind hops keys base i

	contender "$1"
	for ((i = 1; i <= hops; i++)); do echo "$1.$i"; done
}

start_contender() {
	local kind hops keys base

	contender "$1"
	case $hops in
	1) start_hop "$1.1" "$kind" near 127.0.0.1 $base "$FAR" $NFS_PORT "tcp tcp" "$keys" ;;
	2)
		start_hop "$1.2" "$kind" far "$FAR" $((base + 1)) "$FAR" $NFS_PORT "iwarp tcp" "$keys"
		start_hop "$1.1" "$kind" near 127.0.0.1 $base "$FAR" $((base + 1)) "tcp iwarp" "$keys"
		;;
	esac
}

stop_contender() {
	local hop

	for hop in $(hops_of "$1"); do stop "$hop"; done
}

# serve: starts the server on the far side for all contenders
serve() {
	# shellcheck disable=SC2086
	start_on far server ${load_wrap:-} "$BENCH/nfs_serve" -a "$FAR" $NFS_PORT
	opens far server $NFS_PORT || die "the server does not start"
}

# stop_serving: stops the server, which reports whether each byte was correct
stop_serving() {
	stop server
	[ "$exit_status" = 0 ] || die "VOID: the server has seen wrong bytes: $(tail -n 1 "$T/server.log")"
}

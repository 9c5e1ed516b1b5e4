#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The log line and the exit status for each cause that keeps a daemon from starting, and the lines about what it lacks
# after the start.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies

# one SERVICE_TEXT [TOP]: writes one.conf
one() { printf 'control = "%s";\nworkers = 1;\n%s\nservices = ( %s );\n' "$T/one.sock" "${2:-}" "$1" >$T/one.conf; }

# said TEXT: the last or the running daemon has logged a line with it
said() { grep -qF -- "$1" $T/one.log; }

# starts WRAP...: a daemon with one.conf starts
starts() {
	: >$T/one.log
	start one "$@" "$PROXY" -c $T/one.conf
	wait_for 20 eval '! alive one || said " is up: "'
	said " is up: "
}

# fails STATUS COMMAND...: the command ends with that status; its output is in one.log
fails() {
	local want=$1 status

	shift
	with_limit 20 "$@" >$T/one.log 2>&1 </dev/null
	status=$?
	cat $T/one.log
	[ $status = "$want" ]
}

# fails_saying WHAT STATUS TEXT [WRAP...]: a daemon with one.conf fails and logs TEXT
fails_saying() {
	local what=$1 status=$2 text=$3

	shift 3
	check "$what: status $status" fails "$status" "$@" "$PROXY" -c $T/one.conf
	check "$what: $text" wait_for 10 said "$text"
}

# ---------------------------------------------------------------- the command line

one_line() { [ "$(wc -l <$T/one.log)" = 1 ] && said "$1" && said "see rpcrdma-proxy --help"; }

# wrong TEXT ARGS...: the error is one line
wrong() {
	local text=$1

	shift
	check "rpcrdma-proxy $*: status 64" fails 64 "$PROXY" "$@"
	check "rpcrdma-proxy $*: one line" one_line "$text"
}
wrong "unknown option -x" -x
wrong "unknown option --check" --check
wrong "-c needs a file" -c
wrong "unexpected argument 'start'" start
for word in -h --help help; do
	check "rpcrdma-proxy $word: status 0" fails 0 "$PROXY" $word
	check "rpcrdma-proxy $word names the file" wait_for 10 said "configuration file ("
done
for word in -V --version; do
	check "rpcrdma-proxy $word" eval "fails 0 $PROXY $word && said 'rpcrdma-proxy '"
done

# ---------------------------------------------------------------- the configuration file

SERVICE='{ name = "one"; listen = "tcp://127.0.0.1:12049"; connect = "tcp://127.0.0.1:2049"; source_port = "any"; }'
stamped() { grep -qE '^20[0-9-]*T[0-9:.]*Z error: .*one\.conf:[0-9]+: ' $T/one.log; }

one "$SERVICE" "max_connection = 3;"
fails_saying "an error of the file" 78 "one.conf:3: "
check "an error of the file has time and level" stamped
check "it is said how to check the file" wait_for 10 said "rpcrdma-proxy -t -c $T/one.conf"
check "with -t: status 1" fails 1 "$PROXY" -t -c $T/one.conf
# A pointer without a value was freed then, so some runs crashed.
check "with -t: status 1 in each of 50 runs" \
	eval 'for i in {1..50}; do fails 1 "$PROXY" -t -c $T/one.conf || break; done; [ $i = 50 ] && fails 1 "$PROXY" -t -c $T/one.conf'
check "with -t the line is plain" grep -q "^$T/one.conf:3: " $T/one.log
check "a file that is not there: status 78" fails 78 "$PROXY" -c $T/nothing.conf
check "a file that is not there: its name and why" wait_for 10 said "$T/nothing.conf: cannot read the configuration: No such file"

# as_journal STATUS COMMAND...: as fails, with a socket as standard error, like under systemd
as_journal() {
	local status=$1

	shift
	fails "$status" bash -c 'JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr) exec "$@"' - "$@"
}
one "$SERVICE" "max_connection = 3;"
check "to the journal: status 78" as_journal 78 "$PROXY" -c $T/one.conf
check "to the journal an error has priority 3" grep -q "^<3>$T/one.conf:3: " $T/one.log
one "$SERVICE" 'log = "a: warning: b" x;'
check "a line is quoted: status 78" as_journal 78 "$PROXY" -c $T/one.conf
check "what is quoted has the priority of its error" grep -qF '<3>'"$T/one.conf:3:     log = \"a: warning: b\" x;" $T/one.log
one '{ name = "one"; listen = "tcp://0.0.0.0:12049"; connect = "tcp://127.0.0.1:12049"; }'
check "another error: status 78" as_journal 78 "$PROXY" -c $T/one.conf
check "each line has its priority" not grep -qv '^<[3-7]>' $T/one.log

one '{ name = "one"; listen = "tcp://0.0.0.0:12049"; connect = "tcp://127.0.0.1:2049"; source_port = "any"; }'
check "a file with a warning starts" starts
check "the warning has its level, once" \
	wait_for 10 grep -qE '^20[0-9-]*T[0-9:.]*Z warning: .*one\.conf:[0-9]+: service one listens beyond loopback without allow' $T/one.log
check "one service is one service" wait_for 10 said " is up: 1 service, 1 worker"
stop one
check "after SIGTERM: status 0" [ "$exit_status" = 0 ]
check "the user of the stop is logged" wait_for 10 said "stop requested by SIGTERM from uid 0"
check "stopping is followed by stopped" eval "grep -A1 'info: stopping\$' $T/one.log | grep -q 'info: stopped\$'"

# ---------------------------------------------------------------- what is unavailable at the start

# listening ADDRESS [MORE]: a service that listens there
listening() { one "{ name = \"one\"; listen = \"$1\"; connect = \"tcp://127.0.0.1:2049\"; source_port = \"any\"; allow = [ \"127.0.0.1\" ]; }"; }
bare=(setpriv --inh-caps=-all --bounding-set=-all --reuid 65534 --regid 65534 --clear-groups)
can_be_bare() { "${bare[@]}" true 2>/dev/null; }

printf 'control = "/run/nothing/control.sock";\nservices = ( %s );\n' "$SERVICE" >$T/one.conf
fails_saying "no run directory" 1 "cannot bind /run/nothing/control.sock: the directory does not exist (the unit makes it): create it or set control"

listening tcp://127.0.0.1:12049
start holder "$PROXY" -c $T/one.conf
serves holder 12049 || bail "the first daemon does not start"
fails_saying "a port that is taken" 1 "one: cannot listen on tcp://127.0.0.1:12049: Address already in use: is another NFS server using it? See ss -ltnp"
listening tcp://127.0.0.1:12050
fails_saying "a control socket that is taken" 1 "already running: a daemon listens on $T/one.sock; stop it, or set control"
stop holder

# As the address of a standby host, which keepalived adds later.
for address in tcp://192.0.2.1:12049 iwarp://192.0.2.1:20049; do
	listening $address
	check "$address, which is not here: up" starts
	check "… a warning" wait_for 10 said "warning: one: the address of $address is not configured on this host (yet): the service becomes reachable once it is"
	check "… and no listener is there" fails 1 bash -c ": </dev/tcp/192.0.2.1/${address##*:}"
	ip address add 192.0.2.1/32 dev lo
	check "… until it is" with_limit 10 bash -c ": </dev/tcp/192.0.2.1/${address##*:}"
	ip address del 192.0.2.1/32 dev lo
	stop one
done
if [ ! -e /sys/class/infiniband ]; then
	listening verbs://127.0.0.1:20049
	fails_saying "an RDMA device that is not here yet" 1 "listen: this host has no RDMA device: use rdma:// or iwarp://"
fi
listening tcp://nowhere.invalid:12049
fails_saying "a name to listen at that does not resolve" 1 "one: cannot listen on tcp://nowhere.invalid:12049: the name nowhere.invalid does not resolve: "

if can_be_bare; then
	chmod 777 $T
	listening tcp://127.0.0.1:111
	fails_saying "a port below 1024 without the capability" 1 \
		"one: cannot listen on tcp://127.0.0.1:111: Permission denied: a port below 1024 needs CAP_NET_BIND_SERVICE" "${bare[@]}"
	listening iwarp://127.0.0.1:111
	fails_saying "a port below 1024 for RDMA without the capability" 1 \
		"one: cannot listen on iwarp://127.0.0.1:111: Permission denied: a port below 1024 needs CAP_NET_BIND_SERVICE" "${bare[@]}"
	mkdir -m 700 $T/closed
	printf 'control = "%s";\nservices = ( %s );\n' $T/closed/sock "$SERVICE" >$T/one.conf
	fails_saying "a directory that is another's" 1 \
		"cannot bind $T/closed/sock: Permission denied: allow the daemon's user to write in that directory" "${bare[@]}"
fi

# A server's name may become available later.
one '{ name = "one"; listen = "tcp://127.0.0.1:12049"; connect = "tcp://nowhere.invalid:2049"; source_port = "any"; allow = [ "127.0.0.1" ]; }'
check "a server's name that does not resolve keeps nothing from starting" starts
stop one

# ---------------------------------------------------------------- what it lacks when it has started

ADDRESSES='listen = "tcp://127.0.0.1:12049"; connect = "tcp://127.0.0.1:2049"; allow = [ "127.0.0.1" ];'
warned() { grep -F " warning: " $T/one.log | grep -qF -- "$1"; }
NO_PORT="one: cannot use source ports below 1024: CAP_NET_BIND_SERVICE is missing"

# a_call: a client makes a Call, and ends when it loses its connection
a_call() {
	(exec 3<>/dev/tcp/127.0.0.1/12049 &&
		printf '\x80\0\0\x28\0\0\0\1\0\0\0\0\0\0\0\2\0\1\x86\xa3\0\0\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >&3 &&
		with_limit 20 cat <&3) >/dev/null
}

if can_be_bare; then
	one "{ name = \"one\"; $ADDRESSES source_port = \"reserved\"; }"
	check "reserved ports without the capability: it starts" starts "${bare[@]}"
	check "and a warning at the start says what is missing" wait_for 10 warned "$NO_PORT (source_port = \"reserved\")"
	a_call
	check "a connection that fails for it says the same" wait_for 20 \
		said "no source port: ports below 1024 need CAP_NET_BIND_SERVICE, which is missing"
	check "and nothing about memory" not said "out of memory"
	stop one

	one "{ name = \"one\"; $ADDRESSES source_port = \"auto\"; }"
	check "ports as they come, without the capability: it starts" starts "${bare[@]}"
	check "and a warning says what that means" wait_for 10 warned "$NO_PORT (source_port = \"auto\"): connections come from ports of 1024 or above"
	# A client without such a port would be the cause itself.
	rpc_peer 12049 0 0 0 steps from=127.0.0.1:713 \
		hex=80000028000000010000000000000002000186a3000000040000000000000000000000000000000000000000 closed >/dev/null
	check "a connection from a port above says which of two causes it has" wait_for 20 \
		warned "come from unprivileged ports: CAP_NET_BIND_SERVICE is missing"
	stop one

	one "{ name = \"one\"; $ADDRESSES source_port = \"any\"; }"
	check "any ports, without the capability: it starts" starts "${bare[@]}"
	check "and says nothing" not said "no source port"
	stop one
fi
one "{ name = \"one\"; $ADDRESSES source_port = \"reserved\"; }"
check "reserved ports with the capability: it starts" starts
check "and says nothing" not said "no source port"
stop one

one "{ name = \"one\"; $ADDRESSES source_port = \"any\"; max_connections = 5000; }"
check "few descriptors: it starts" starts prlimit --nofile=700:700
check "and a warning names max_connections and both limits" \
	wait_for 10 warned "max_connections of all services come to 5000, but the limit of descriptors"
check "… and how much is enough" wait_for 10 said "raise the limit to 10"
check "… the unit's and the shell's" wait_for 10 warned "(LimitNOFILE= in the unit, ulimit -n in a shell)"
stop one
# Silent clients are evicted for waiting ones, one after the other.
one "{ name = \"one\"; $ADDRESSES source_port = \"any\"; }"
check "descriptors for one connection: it starts" starts prlimit --nofile=64:64
crowd() { for _ in {1..12}; do exec {fd}<>/dev/tcp/127.0.0.1/12049; done; exec tail -f /dev/null; }
came() { [ "$("$CTL" -s $T/one.sock -j services | jq '.services[0].connections_total')" -ge "$1" ]; }
start crowd crowd
check "clients take turns" wait_for 30 came 5
check "that they wait is a warning with its cure" wait_for 10 warned "one: clients wait: the limit of descriptors (LimitNOFILE= in the unit, ulimit -n in a shell) allows only 1 connections in total: raise it"
stop crowd KILL
stop one
check "… and logged once" [ "$(grep -c 'clients wait: ' $T/one.log)" = 1 ]
fails_saying "hardly any descriptors" 1 \
	"cannot start: the limit of descriptors (LimitNOFILE= in the unit, ulimit -n in a shell) is 14, but 50 are needed" \
	prlimit --nofile=14:14

finish

# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by every end-to-end test: private namespaces, an NFS server, two proxies, and TAP.
#
#	. "$(dirname "$0")/lib.sh"
#	enter "$@"                  # continues in private namespaces; $T is an empty tmpfs
#	start_ganesha
#	start_chain
#	check "what must hold" command...
#	finish                      # stops everything, checks how the proxies ended, prints the plan
#
# E2E_BUILD is the build directory. E2E_PROGRAMS is another build directory for the clients and servers of the tests,
# which are faster without sanitizers. E2E_KEEP is a directory for logs and captures. E2E_CHAIN=direct runs the tests
# without proxies, to test the tests. E2E_VERSION=2 makes the first proxy use version two towards the second; both must
# then send no message of version one. E2E_COMPAT=draft03 makes them use all extras of the draft of version one,
# including its configuration protocol.

set -u
E2E_SRC=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
E2E_BUILD=$(cd "${E2E_BUILD:-$E2E_SRC/../../build}" && pwd) || exit 1
E2E_PROGRAMS=$(cd "${E2E_PROGRAMS:-$E2E_BUILD}" && pwd) || exit 1
E2E_CHAIN=${E2E_CHAIN:-proxies}
export E2E_BUILD E2E_CHAIN
. "$E2E_SRC/../lib/mtab.sh"
TIME_LIMIT=$E2E_PROGRAMS/tests/lib/time_limit JSON_AT=$E2E_PROGRAMS/tests/lib/json_at
# pause SECONDS: waits, by reading from tick_fd, to which nothing is ever written
pause() { read -r -t "$1" -u "$tick_fd" || true; }
. "$E2E_SRC/../lib/time_limit.sh"

T=/run/e2e
PROXY=$E2E_BUILD/daemon/rpcrdma-proxy
CTL=$E2E_BUILD/daemon/ctl/rpcrdma-proxyctl
BIN=$E2E_PROGRAMS/tests/e2e
READ_CTL=$E2E_PROGRAMS/daemon/ctl/rpcrdma-proxyctl # for read_ctl()

NFS_PORT=2049    # of the server
MNT_PORT=20048   # of the server
FRONT_PORT=12049 # NFS as clients of the first proxy see it
FRONT_MNT=12048  # MOUNT as they see it
FABRIC_PORT=20049
FABRIC_MNT=2050
FABRIC=${FABRIC:-iwarp://127.0.0.1} # how the first proxy reaches the second, without a port

declare -i cases=0 failures=0 sent_in_two=0 configured=0 to_configure=0
declare -A pid_of=()

# ---------------------------------------------------------------- TAP

ok() { cases+=1; echo "ok $cases - $*"; }
not_ok() { cases+=1; failures+=1; echo "not ok $cases - $*"; }
note() { sed 's/^/# /' <<<"$*"; }

# check DESCRIPTION COMMAND...: a case; prints the output of the command if it fails
check() {
	local what=$1 out=$T/check.out

	shift
	if "$@" >"$out" 2>&1; then
		ok "$what"
	else
		not_ok "$what"
		note "$* failed"
		tail -n 20 "$out" | sed 's/^/# /'
	fi
}

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# bail WHAT: fails and ends the test, because further cases have no meaning
bail() { not_ok "$*"; show_logs; keep; echo "1..$cases"; exit 1; }

# ---------------------------------------------------------------- namespaces

namespaces=(-n -m -p -u -i --fork --kill-child --mount-proc)

can_unshare() { unshare "$@" "${namespaces[@]}" mount -t tmpfs tmpfs /run >/dev/null 2>&1; }

# enter ARGS...: runs this script again in separate namespaces, where it continues from here
enter() {
	if [ -z "${E2E_INSIDE:-}" ]; then
		local user=()
		can_unshare || user=(-r)
		can_unshare "${user[@]}" ||
			skip_all "unshare is not permitted: needs root or user namespaces"
		E2E_INSIDE=1 exec unshare "${user[@]}" "${namespaces[@]}" bash "$0" "$@"
	fi
	mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p $T && ip link set lo up || exit 1
	exec {tick_fd}<> <(:)
	umask 022
	cd $T || exit 1
}

# ---------------------------------------------------------------- the server

# Ganesha's VFS opens files by handle, which a user namespace does not permit.
can_open_by_handle() { [ "$(readlink /proc/self/ns/user)" = "${E2E_INIT_USER_NS:-user:[4026531837]}" ]; }

ganesha_config() {
	cat <<-END
	NFS_CORE_PARAM {
		Protocols = 3, 4;
		NFS_Port = $NFS_PORT;
		MNT_Port = $MNT_PORT;
		Enable_NLM = false;
		Enable_RQUOTA = false;
		Enable_UDP = false;
		RPC_Idle_Timeout_S = 3600;
		mount_path_pseudo = true;
		Allow_Set_Io_Flusher_Fail = true;
	}
	NFSv4 {
		Graceless = true;
		Minor_Versions = 0, 1, 2;
		RecoveryBackend = fs;
		RecoveryRoot = "$T/recovery";
	}
	EXPORT {
		Export_Id = 1;
		Path = $T/export;
		Pseudo = /export;
		Access_Type = RW;
		Squash = No_Root_Squash;
		SecType = sys;
		Transports = TCP;
		Protocols = 3, 4;
		PrivilegedPort = ${GANESHA_PRIVILEGED:-false};
		FSAL { Name = VFS; }
	}
	LOG { Default_Log_Level = EVENT; }
	END
}

# start NAME COMMAND...: starts it in the background, with its output in $T/NAME.log
start() {
	local name=$1

	shift
	"$@" >>"$T/$name.log" 2>&1 </dev/null &
	pid_of[$name]=$!
}

# stop NAME [SIGNAL]: ends it, and sets $exit_status
stop() {
	[ -n "${pid_of[$1]:-}" ] || return 0
	kill "-${2:-TERM}" "${pid_of[$1]}" 2>/dev/null
	wait "${pid_of[$1]}" 2>/dev/null
	exit_status=$?
	unset "pid_of[$1]"
}

# has_cpu NAME: it has used processor time
has_cpu() { awk '{ exit !($14 + $15 > 0) }' "/proc/${pid_of[$1]}/stat"; }
not() { ! "$@"; }
# short_tier: this is a part of ./dev test without names and without --all
short_tier() { [ -n "${E2E_SHORT:-}" ]; }
is() { [ "$1" = "$2" ]; }
alive() { kill -0 "${pid_of[$1]}" 2>/dev/null; }
has_ended() { ! alive "$1"; }

# ends_well NAME DESCRIPTION: a case: the program ends by itself, with success
ends_well() {
	wait "${pid_of[$1]}"
	exit_status=$?
	unset "pid_of[$1]"
	check "$2" [ "$exit_status" = 0 ]
}

# descriptors NAME: prints the number of its open descriptors
descriptors() { find "/proc/${pid_of[$1]}/fd" -mindepth 1 | wc -l; }

# at_least FILE BYTES: the file has at least BYTES
at_least() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }

# wait_for_growth SECONDS FILE BYTES: waits until the file has BYTES; fails if it has not grown for SECONDS
wait_for_growth() { wait_while "$1" "stat -c %s '$2'" at_least "$2" "$3"; }

listens() { ss -Hltn "sport = :$1" | grep -q .; }

# serves NAME PORT...: within 20 s it listens on all of them; fails immediately if it has ended
serves() {
	local name=$1 port

	shift
	for port in "$@"; do
		wait_for 20 eval "! alive $name || listens $port"
		alive "$name" && listens "$port" || return 1
	done
}

start_ganesha() {
	can_open_by_handle || skip_all "NFS-Ganesha's VFS needs root outside user namespaces"
	command -v ganesha.nfsd >/dev/null || skip_all "NFS-Ganesha is not installed"
	mkdir -p $T/export $T/recovery
	chmod 777 $T/export
	have_mtab $T/etc || bail "NFS-Ganesha needs /etc/mtab"
	ganesha_config >$T/ganesha.conf
	if [ -z "${pid_of[rpcbind]:-}" ]; then
		start rpcbind rpcbind -f -w
		serves rpcbind 111 || bail "rpcbind does not start"
	fi
	start ganesha ganesha.nfsd -F -f $T/ganesha.conf -L $T/ganesha.log -p $T/ganesha.pid -N NIV_EVENT
	serves ganesha $NFS_PORT $MNT_PORT || bail "NFS-Ganesha does not start"
}

# ---------------------------------------------------------------- the proxies

# service NAME LISTEN CONNECT [MORE]: prints a service; MORE has further keys
service() {
	printf '  { name = "%s"; listen = "%s"; connect = "%s"; require_privileged_port = false; %s }' "$1" "$2" "$3" "${4:-}"
}

# draft_keys SIDE: prints the keys for all extras of the draft of version one between the proxies
draft_keys() {
	[ "$1" = a ] && echo "connect_compat = \"$E2E_COMPAT\";" || echo "listen_compat = \"$E2E_COMPAT\";"
	echo "config_protocol = true; padding_align_bytes = 64;"
}

# proxy_config SIDE: prints the file of a (clients' side) or b (server's side). A_GLOBAL, B_GLOBAL: further top-level
# keys; A_SERVICE, B_SERVICE: further keys of each service; A_MORE, B_MORE: a command that prints further services.
proxy_config() {
	local side=$1 global=${1^^}_GLOBAL more=${1^^}_SERVICE services=${1^^}_MORE
	local more_keys=${!more:-}

	[ "${E2E_VERSION:-1}$side" != 2a ] || more_keys="connect_version = 2; $more_keys"
	[ -z "${E2E_COMPAT:-}" ] || more_keys="$(draft_keys "$side") $more_keys"
	echo "control = \"$T/$side.sock\";"
	echo "workers = ${WORKERS:-2};"
	echo "${!global:-}"
	echo "services = ("
	if [ "$side" = a ]; then
		service nfs "tcp://127.0.0.1:$FRONT_PORT" "$FABRIC:${GATE_PORT:-$FABRIC_PORT}" "$more_keys"
		echo ","
		service mount "tcp://127.0.0.1:$FRONT_MNT" "$FABRIC:$FABRIC_MNT" "$more_keys"
	else
		service nfs "$FABRIC:$FABRIC_PORT" "tcp://127.0.0.1:${BACK_PORT:-$NFS_PORT}" "$more_keys"
		echo ","
		service mount "$FABRIC:$FABRIC_MNT" "tcp://127.0.0.1:$MNT_PORT" "$more_keys"
	fi
	[ -z "${!services:-}" ] || { echo ","; ${!services}; }
	echo ");"
}

# start_proxy SIDE: starts it; PROXY_WRAP is put before the command
start_proxy() {
	local side=$1 port=$FRONT_PORT mnt=$FRONT_MNT

	[ "$side" = a ] || { port=$FABRIC_PORT; mnt=$FABRIC_MNT; }
	proxy_config "$side" >"$T/$side.conf"
	# shellcheck disable=SC2086
	start "$side" ${PROXY_WRAP:-} "$PROXY" -c "$T/$side.conf"
	serves "$side" "$port" "$mnt" || bail "proxy $side does not start"
}

# start_chain: starts two proxies in a row with iwarp between them; with E2E_CHAIN=direct neither
start_chain() {
	if [ "$E2E_CHAIN" = direct ]; then
		FRONT_PORT=${BACK_PORT:-$NFS_PORT} FRONT_MNT=$MNT_PORT
	else
		[ -x "$PROXY" ] || bail "$PROXY is not built"
		start_proxy b
		start_proxy a
	fi
	V3="nfs://127.0.0.1/export?version=3&nfsport=$FRONT_PORT&mountport=$FRONT_MNT"
	V4="nfs://127.0.0.1/export?version=4&nfsport=$FRONT_PORT"
}

# not_sanitized: skips the test in a build with sanitizers
not_sanitized() { [ -z "${E2E_SANITIZED:-}" ] || skip_all "not under a sanitizer"; }

# chooses_dialect: skips the test in other dialects, because it chooses one itself
chooses_dialect() { [ -z "${E2E_COMPAT:-}${E2E_VERSION:-}" ] || skip_all "has a dialect of its own"; }

# needs_proxies: skips the test without proxies
needs_proxies() { [ "$E2E_CHAIN" = proxies ] || skip_all "about the proxies"; }

ctl() { local side=$1; shift; "$CTL" -s "$T/$side.sock" "$@"; }
# read_ctl SIDE ARGUMENTS...: prints the daemon's answer in JSON; for tests that read it repeatedly
read_ctl() { local side=$1; shift; "$READ_CTL" -s "$T/$side.sock" -j "$@"; }

# counter SIDE PART NAME: prints the sum over all services; PART is tcp, rdma, iwarp or closes
counter() {
	read_ctl "$1" stats | "$JSON_AT" --sum services '*' "$2" '**' "$3"
}

# counter_is SIDE PART NAME OP VALUE: OP as in test(1)
counter_is() { test "$(counter "$1" "$2" "$3")" "$4" "$5"; }

# connections SIDE: prints the number of open connections
connections() { read_ctl "$1" connections | "$JSON_AT" --count connections '*'; }
no_connections() { [ "$(connections "$1")" = 0 ]; }

# came SIDE: prints the number of connections to all its services so far; has_come SIDE COUNT: at least COUNT
came() { read_ctl "$1" services | "$JSON_AT" --sum services '*' connections_total; }
has_come() { [ "$(came "$1")" -ge "$2" ]; }

# logged SIDE TEXT: a line has TEXT; logged_lines SIDE COUNT TEXT: COUNT lines have it. A thread of the daemon writes
# the log, so a line appears some time after its event. All lines are there when the daemon has ended.
logged() { grep -qF -- "$2" "$T/$1.log"; }
logged_lines() { [ "$(grep -cF -- "$3" "$T/$1.log")" = "$2" ]; }

# no_control_clients SIDE: the daemon has closed all control connections
no_control_clients() { ! ss -Hx src "$T/$1.sock" | grep -q ESTAB; }

# nfs_leg SIDE client|upstream MEMBER: prints a member of the only NFS connection; nfs_leg_is SIDE END MEMBER VALUE:
# compares it
nfs_leg() {
	read_ctl "$1" connections | "$JSON_AT" connections service=nfs "$2" "$3"
}
nfs_leg_is() { [ "$(nfs_leg "$1" "$2" "$3")" = "$4" ]; }

sanitizer_report() { grep -hE 'ERROR: (Address|Leak|Thread)Sanitizer|WARNING: ThreadSanitizer|runtime error:' "$T"/[abg].log; }

# speaks_two SIDE: a case: it has sent nothing in version one
speaks_two() {
	sent_in_two+=$(counter "$1" rdma sends_version_two)
	check "proxy $1 sent no message of version one" counter_is "$1" rdma sends_version_one = 0
}

# count_configured: counts proxies that were started with draft_keys and have sent Calls to the other one
count_configured() {
	grep -qF "connect_compat = \"$E2E_COMPAT\"" "$T/a.conf" && counter_is a rdma calls_sent -gt 0 || return 0
	to_configure+=1
	counter_is a rdma conf_answered -eq 0 || configured+=1
}

# stop_proxy SIDE: a case: it ends by itself, with success and without a sanitizer's report
stop_proxy() {
	[ -n "${pid_of[$1]:-}" ] || return 0
	[ -z "${E2E_VERSION:-}" ] || [ "$1" = g ] || speaks_two "$1"
	[ -z "${E2E_COMPAT:-}" ] || [ "$1" != a ] || count_configured
	stop "$1"
	check "proxy $1 ends in good order on SIGTERM" [ "$exit_status" = 0 ]
}

show_logs() {
	local log

	for log in a b g ganesha; do
		[ -s "$T/$log.log" ] || continue
		echo "# --- $log.log"
		sed '0,/NFS SERVER INITIALIZED/{/nfs-ganesha-/d}; /:EVENT :/d' "$T/$log.log" | tail -n 15 | sed 's/^/# /'
	done
}

# keep: copies the files of the test to the directory E2E_KEEP, if set
keep() {
	[ -n "${E2E_KEEP:-}" ] || return 0
	mkdir -p "$E2E_KEEP" && find "$T" -maxdepth 1 -type f -exec cp {} "$E2E_KEEP" \;
}

# finish: stops everything and prints the plan
finish() {
	local name

	stop_proxy a
	stop_proxy b
	[ -z "${E2E_VERSION:-}" ] || check "they did speak version two" [ "$sent_in_two" -gt 0 ]
	((to_configure == 0)) || check "they did configure their connections as the draft has it" [ "$configured" = "$to_configure" ]
	if sanitizer_report >$T/sanitizer.out 2>/dev/null; then
		not_ok "no sanitizer reports anything"
	fi
	for name in "${!pid_of[@]}"; do stop "$name" KILL; done
	((failures == 0)) || show_logs
	keep
	echo "1..$cases"
	exit $((failures != 0))
}

# ---------------------------------------------------------------- clients

# Less than the silence limit of run.sh, so that the case fails by its name.
nfs_client() { with_limit 240 "$BIN/nfs_client" "$@"; }
rpc_peer() { with_limit 240 "$BIN/rpc_peer" "$@"; }
timed_reads() { with_limit 120 "$BIN/timed_reads" "$@"; }

# asks NAME PORT [held]: starts a client with one answered Call, and with "held" another one that the server holds; it
# stays until it is stopped
asks() {
	rm -f "$T/$1.log"
	start "$1" "$BIN/held_call" ask 127.0.0.1 "$2" "${3:-idle}"
	wait_for 20 grep -q ready "$T/$1.log"
}

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The control client: its command line, how it finds the daemon, its output, and the cost of a thousand connections.
BACK_PORT=3049
# shellcheck disable=SC2034
A_SERVICE='max_connections = 4096;'
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
ulimit -n 4096 || skip_all "1,000 connections take more descriptors than are allowed here"

# ends STATUS COMMAND...: compares the exit status; the output is in $T/out and $T/err
ends() {
	local want=$1

	shift
	"$@" >$T/out 2>$T/err
	[ $? = "$want" ] || { cat $T/out $T/err; false; }
}
# says STATUS TEXT COMMAND...: standard error has one line with TEXT, and nothing else
says() {
	local want=$1 text=$2

	shift 2
	ends "$want" "$@" && grep -qF -- "$text" $T/err && [ "$(wc -l <$T/err)" = 1 ] && [ ! -s $T/out ] ||
		{ cat $T/out $T/err; false; }
}
# shows TEXT COMMAND...: succeeds with TEXT on standard output
shows() {
	local text=$1

	shift
	ends 0 "$@" && grep -qF -- "$text" $T/out || { cat $T/out $T/err; false; }
}
# fits COMMAND...: prints something, and no line of more than 80 columns
fits() { ends 0 "$@" && [ -s $T/out ] && ! awk 'length > 80' $T/out | grep .; }

# ---------------------------------------------------------------- the command line

LISTS="'rpcrdma-proxyctl --help' lists them"
check "--version" shows "rpcrdma-proxyctl " "$CTL" --version
check "--help has the commands" shows "  connections " "$CTL" --help
# A long argument does not move the description: it is on the next line.
in_columns() { "$CTL" --help | grep -E '^  [a-z].*  +[a-z]' >$T/out && not grep -vE '^.{18} [^ ]' $T/out; }
check "… and what they do in a column" in_columns
check "… and how to get the options of a command" shows "'rpcrdma-proxyctl help COMMAND' shows the options of a command" "$CTL" --help
check "help, too" shows "  connections " "$CTL" help
check "help on a command" shows "usage: rpcrdma-proxyctl [OPTION]... stats [SERVICE]" "$CTL" help stats
check "… has its own options" shows "options: -d, --delay SECONDS" "$CTL" help top
check "… and those of no other" eval '! grep -qF -- --now $T/out'
check "help on none" says 2 "unknown command 'wibble'; $LISTS" "$CTL" help wibble
check "an unknown option is one line that points to the help" says 2 "unknown option -x; $LISTS" "$CTL" -x status
check "a long one, too" says 2 "unknown option --jason; $LISTS" "$CTL" --jason status
check "a long option with too much" says 2 "option --json=1 takes no argument; $LISTS" "$CTL" --json=1 status
check "an option without its argument" says 2 "option -s takes an argument; $LISTS" "$CTL" status -s
check "an unknown command" says 2 "unknown command 'connection': did you mean 'connections'?" "$CTL" connection
check "a misspelt command" says 2 "unknown command 'sttaus': did you mean 'status'?" "$CTL" sttaus
check "no command" says 2 "a command is missing; $LISTS" "$CTL"
check "a word too many" says 2 "unexpected word 'now': 'rpcrdma-proxyctl help status'" "$CTL" status now
check "a word too few" says 2 "log takes an argument, LEVEL: 'rpcrdma-proxyctl help log'" "$CTL" log
check "a full disk is reported" says 2 "cannot write the answer: No space left on device" \
	bash -c 'exec "$0" --help >/dev/full' "$CTL"

# ---------------------------------------------------------------- finding the daemon

check "no daemon" says 3 \
	"cannot reach the daemon ($T/a.sock: No such file or directory): is it running? systemctl status rpcrdma-proxy" \
	"$CTL" -s $T/a.sock status
start_chain
check "the socket of a configuration file" shows "version " "$CTL" -c $T/a.conf status
check "a missing file is reported" says 2 "$T/none.conf: No such file or directory" "$CTL" -c $T/none.conf status
check "-s goes before -c" shows "version " "$CTL" -s $T/a.sock -c $T/none.conf status

# The installed file, in a copy of its directory.
file=$("$CTL" --help | sed -n 's/.* default: \(\/.*\.conf\);$/\1/p')
folder=$(dirname "$file")
if [ -d "$folder" ]; then
	cp -a "$folder" $T/folder && mount --bind $T/folder "$folder" || bail "$folder cannot be replaced"
	cp $T/a.conf "$file" && chmod 644 "$file"
	check "without -s and -c it is that of the file that is installed" shows "version " "$CTL" status
	check "-v says so" eval 'ends 0 "$CTL" -v status && grep -qxF "rpcrdma-proxyctl: connecting to $T/a.sock" $T/err'
	echo 'control = ;' >"$file"
	check "a broken one is passed over silently" says 3 "cannot reach the daemon (/" "$CTL" status
	check "but not with -v" eval 'ends 3 "$CTL" -v status; grep -qF "$file:1: syntax error" $T/err'
	umount "$folder"
fi

as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
nobody() { "${as_nobody[@]}" "$@"; }
if nobody true 2>/dev/null; then
	check "a user without permission gets the owner of the socket" says 3 \
		"no permission for $T/a.sock: it is for root and the group $(id -gn)" nobody "$CTL" -s $T/a.sock status
	chmod 666 $T/a.sock
	check "a user who may read may not change anything" says 1 "only root and the daemon's own user may do that" \
		nobody "$CTL" -s $T/a.sock log debug
	# Silent clients, many more than are allowed, repeatedly.
	# shellcheck disable=SC2016
	start holders "${as_nobody[@]}" perl -e 'use IO::Socket::UNIX; $SIG{PIPE} = "IGNORE"; my @all;
		for (;;) { push @all, IO::Socket::UNIX->new($ARGV[0]); shift @all if @all > 60; select undef, undef, undef, 0.01 if @all > 40 }' $T/a.sock
	held() { [ "$(ss -Hx src $T/a.sock | grep -c ESTAB)" -ge 8 ]; }
	check "a read-only user holds connections" wait_for 20 held
	check "but not more than its share: a further client is refused" \
		says 1 "your user has too many clients on the control socket: try again" nobody "$CTL" -s $T/a.sock status
	check "root's commands do not wait" eval 'for i in {1..20}; do with_limit 2 "$CTL" -s $T/a.sock log info || exit 1; done'
	check "the log has the refusal" wait_for 10 grep -q 'refused a client of uid 65534 on the control socket: too many connections' $T/a.log
	stop holders KILL
	wait_for 10 no_control_clients a
	for i in 1 2 3; do start watch$i "${as_nobody[@]}" "$CTL" -s $T/a.sock trace; done
	two_watch() { [ "$(ss -Hx src $T/a.sock | grep -c ESTAB)" = 2 ] && grep -q 'too many clients of trace: try again later' $T/watch[123].log; }
	check "of streams it has two" wait_for 20 two_watch
	check "and root another one" ends 0 "$CTL" -s $T/a.sock trace --seconds 1
	for i in 1 2 3; do stop watch$i; done
	chmod 660 $T/a.sock
fi

# ---------------------------------------------------------------- what it shows

calls() { rpc_peer "$FRONT_PORT" "$BACK_PORT" 0 0 flow 2 1 100 0 resume; }

check "a group without counts says so" shows "  rdma  (all zero)" ctl a stats nfs
check "two clients are served" calls
check "stats of one service" shows "connections_accepted   " ctl a stats nfs
check "… with what its counters mean" grep -qF "client connections accepted" $T/out
check "… and those of no other" not grep -q '^mount' $T/out
check "stats of no service" says 1 "there is no service none" ctl a stats none
check "no poll carries texts" not grep -qF "taken over" <(ctl a -j stats)
closed_by() { ctl "$1" -j stats | jq -e --arg by "$2" '.services.nfs.closes[$by] | add > 0' >/dev/null; }
check "closes are counted by side: clients close at the first proxy" wait_for 20 closed_by a client
check "and no server closes there" not closed_by a server
check "each answer has a schema" [ "$(for c in status services connections stats counters config; do ctl a -j $c | jq .schema; done | sort -u)" = 1 ]

config_again() {
	ctl a config >"$T/again.conf" && grep -q "stall_timeout_s = 60; # the default" "$T/again.conf" &&
		"$PROXY" -t -c "$T/again.conf"
}
check "what config prints is a file" config_again
check "services fit a line" fits ctl a services
check "their server has a column" grep -q '^SERVICE .*SERVER ' $T/out
check "with -a there is all of it" shows "LISTENS ON" ctl a -a services

# ---------------------------------------------------------------- a server that is not there

stop_proxy b
reach_nobody() { bash -c "exec 3<>/dev/tcp/127.0.0.1/$FRONT_PORT; printf '\x80\0\0\x28\0\0\0\x1\0\0\0\0\0\0\0\x2\0\x1\x86\xa3\0\0\0\x3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >&3; read -t 1 -u 3"; }
failed() { reach_nobody; counter_is a rdma connect_failures -gt 0; }
check "attempts by RDMA that fail are counted" wait_for 20 failed
check "and none by TCP" counter_is a tcp connect_failures = 0

# ---------------------------------------------------------------- requests that are none

# answers REQUEST: prints the daemon's answer to these bytes
answers() { printf "$1" | with_limit 10 socat -t 600 - "UNIX-CONNECT:$T/a.sock"; }
refuses() { [ "$(answers "$1")" = "{\"schema\":1,\"error\":\"$2\"}" ]; }
long=$(printf '%01025d' 0)
check "an empty request is refused" refuses '\n' "the request is empty"
check "a command that is none" refuses 'reboot\n' "unknown command"
check "bytes that are no text" refuses 'stats \xff\n' "the request is not UTF-8"
check "an end in the middle" refuses 'statu' "unknown command"
check "a zero byte" eval 'answers "status\\0stop\\n" | jq -e .error'
check "a word too many" refuses 'status now\n' "the command takes no argument"
check "a word that is none of a command's" refuses 'stop later\n' "stop takes --now, or nothing"
check "JSON that is not whole" refuses '{"command": "stop"\n' "the request is no JSON object"
check "JSON with a command twice" refuses '{"command": "status", "command": "stop"}\n' "the request is no JSON object"
check "a request without an end" refuses "$long" "the request is too long"
check "a TLS client's greeting" eval 'answers "\x16\x03\x01\x02\x00\n" | jq -e .error'
check "none of them has done anything" eval 'alive a && ctl a status'

# ---------------------------------------------------------------- a thousand connections

fds=()
for _ in $(seq 1000); do
	exec {fd}<>/dev/tcp/127.0.0.1/$FRONT_PORT || bail "a client cannot connect"
	fds+=("$fd")
done
are_1000() { [ "$(connections a)" -ge 1000 ]; }
check "1,000 connections come" wait_for 20 are_1000
check "they are shown within 5 s" ends 0 with_limit 5 "$CTL" -s $T/a.sock connections
check "each" [ "$(grep -c ' nfs ' $T/out)" -ge 1000 ]
check "by number" eval 'tail -n +2 $T/out | sort -c -k 2,2 -k 1,1n'
check "on lines of 80 columns" fits ctl a connections
check "one alone as a list" fits ctl a connections "$(awk 'NR == 2 {print $1}' $T/out)"
check "with its client and its server" [ "$(grep -cE '^(connection|client|server) ' $T/out)" = 3 ]
check "those of an address" fits ctl a connections 127.0.0.1
check "each" [ "$(grep -c '^connection ' $T/out)" -ge 1000 ]
check "all with -a" fits ctl a -a connections
check "none of another one, which is said" says 1 "there is no connection 10.1.1.1" ctl a connections 10.1.1.1
# The output is longer than a pipe's buffer, and its reader exits after one line.
first_line() { ctl a "$@" 2>$T/err | head -n 1 >$T/out; [ "${PIPESTATUS[*]}" = "0 0" ] && [ ! -s $T/err ] && [ -s $T/out ]; }
check "a reader that leaves ends it quietly" first_line connections
check "with JSON, too" first_line -j connections
# The commands of the manual. With --exit-code, 1 and 2 are valid results, too.
as_shown() { (set -o pipefail; rpcrdma-proxyctl() { ctl a "$@"; }; eval "$1") || [[ $? -lt 3 && $1 == *--exit-code ]]; }
examples=$(sed -n 's/^\.Dl \(rpcrdma-proxyctl \)/\1/p' "$E2E_SRC/../../man/rpcrdma-proxyctl.8.in" | sed 's/\\(dq/"/g')
check "the manual has examples" [ "$(wc -l <<<"$examples")" -ge 3 ]
while read -r example; do
	check "$example" as_shown "$example"
done <<<"$examples"

# Clients that send requests and never read, as many as are served concurrently. One program makes them, so that they
# exist at the same time on a busy machine, too.
# shellcheck disable=SC2016
asks='use IO::Socket::UNIX; use IO::Poll qw(POLLHUP);
	my @all = map { IO::Socket::UNIX->new($ARGV[0]) or die } 1 .. 16;
	for (@all) { print $_ "connections\n"; $_->flush }
	my $poll = IO::Poll->new;
	$poll->mask($_ => POLLHUP) for @all;
	$| = 1;
	print "asked\n";
	while ($poll->handles) {
		$poll->poll;
		for my $one ($poll->handles(POLLHUP)) {
			my $unread = pack "i", 0;
			ioctl $one, 0x541B, $unread; # FIONREAD
			print "closed ", unpack("i", $unread), "\n";
			$poll->remove($one);
		}
	}'
start deaf perl -e "$asks" $T/a.sock
check "16 clients ask and do not read" wait_for 20 grep -q '^asked' deaf.log
began=$SECONDS
check "another one is answered when they have had their time" eval 'with_limit 20 "$CTL" -s $T/a.sock status && ! limit_passed $began 7'
closed_deaf() { [ "$(grep -c '^closed' deaf.log)" = 16 ]; }
check "which is over for all of them" wait_for 20 closed_deaf
# As much of an answer as the socket holds. On a busy machine some clients time out before their answer exists.
sent_deaf() { awk '$1 == "closed" && $2 > 100000 { sent = 1 } END { exit !sent }' deaf.log; }
check "and they were sent an answer" sent_deaf
stop deaf
for fd in "${fds[@]}"; do exec {fd}>&-; done
check "they leave nothing behind" wait_for 20 no_connections a

check "stop" shows "stopping" ctl a stop
ends_well a "… ends the daemon"
finish

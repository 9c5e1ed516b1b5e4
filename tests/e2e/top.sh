#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma-proxyctl top: live in a terminal, whose size and keys it follows, and which it restores when it ends; in
# blocks without a terminal.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
command -v tmux >/dev/null || skip_all "tmux is not installed"

prints() { cat $T/out; grep -qE -- "$1" $T/out; }
counts() { [ "$(grep -cE -- "$1" $T/out)" = "$2" ] || { cat $T/out; false; }; }
# says STATUS TEXT COMMAND...: compares the status, and finds TEXT on standard error
says() {
	local want=$1 text=$2

	shift 2
	"$@" >$T/out 2>$T/err
	[ $? = "$want" ] && grep -qF -- "$text" $T/err || { cat $T/out $T/err; false; }
}

# ---------------------------------------------------------------- the terminal

export LC_ALL=C.UTF-8
mux() { tmux -S $T/tmux -f /dev/null "$@"; }
key() { mux send-keys -t top "$@"; }
is() { [ "$(mux display-message -p -t top "#{$1}")" = "$2" ]; }
screen() { mux capture-pane -p -t top >$T/screen; }
shows() { screen; cat $T/screen; grep -qE -- "$1" $T/screen; }
# sees WHAT: the terminal soon shows it
sees() { wait_for 20 shows "$1" || { cat $T/screen; false; }; }
sees_not() { wait_for 20 not shows "$1" || { cat $T/screen; false; }; }
settings() { stty -g <"$(mux display-message -p -t top '#{pane_tty}')"; }
given_back() { is alternate_on 0 && is cursor_flag 1 && is wrap_flag 1 && [ "$(settings)" = "$before" ]; }
# ended STATUS: the shell has the terminal again, in its former state
ended() {
	wait_for 20 is alternate_on 0
	key "echo status=\$?" Enter
	sees "^status=$1" && wait_for 10 given_back && key clear Enter
}
# top [ARGS...]: starts it in the terminal
top() { key "clear; $CTL -s $T/a.sock -d 0.2 top $*" Enter; wait_for 20 is alternate_on 1 && sees ' over [0-9.]+ s'; }
resized() { mux resize-window -t top -x "$1" -y "$2"; }
fits() { screen; [ "$(wc -L <$T/screen)" -le "$1" ] && ! grep -E 'version .*version' $T/screen; }

start_ganesha
start_chain
nfs_client "$V3" write file 5m 3
# Reads until the script stops it.
start reader bash -c "while :; do '$BIN/timed_reads' '$V3' file 1000000 65536 4; done"
mux new-session -d -s top -x 80 -y 24 "PS1='prompt> ' bash --norc"
sees '^prompt>'
before=$(settings)
begun() { is alternate_on 1 && is cursor_flag 0 && [ "$(settings)" != "$before" ]; }

# ---------------------------------------------------------------- without a terminal

reads_in_each() { ctl a -n 3 -d 0.3 top >$T/out && counts '^nfs +READ +[1-9]' 3; }
check "in blocks" eval 'ctl a -n 3 -d 0.3 top >$T/out'
check "as many as were asked for" counts '^version ' 3
check "each with rates" counts '^Calls/s [0-9.,]+, errors/s [0-9.]+, .* over (0\.[3-9]|[1-9][0-9]*\.[0-9]) s$' 3
check "of each operation" wait_for 20 reads_in_each
check "in 80 columns" test "$(wc -L <$T/out)" -le 80
# Between two clients there is no connection.
of_connections() { ctl a -n 1 -d 0.3 --connections top nfs >$T/out && prints '^ *[0-9]+ +127\.0\.0\.1:[0-9]+ +nfs +[1-9]'; }
check "connections, of one service, have rates, too" wait_for 20 of_connections
check "in 80 columns" test "$(wc -L <$T/out)" -le 80
check "all of it, with all columns" eval 'ctl a -a -n 1 -d 0.3 --connections top nfs >$T/out && prints "MIB IN  MIB OUT$"'
check "a reader that has seen enough ends it" eval 'with_limit 20 "$CTL" -s $T/a.sock -d 0.1 top | head -n 1 >$T/out && prints "^version"'
check "a service that is none: status 1" says 1 "there is no service none" ctl a top none
check "of connections, too" says 1 "there is no service none" ctl a --connections top none
check "no JSON" says 2 "top has no JSON" ctl a -j top
check "no delay of nothing" says 2 "'0' is not a number of seconds" ctl a -d 0 top
check "no less than one block" says 2 "'0' is not a number of intervals" ctl a -n 0 top
check "its options are rejected for other commands" says 2 "--delay is for top" ctl a -d 1 status
key "TERM=dumb $CTL -s $T/a.sock -n 1 -d 0.2 top" Enter
check "in blocks, too, where the terminal cannot do more" sees '^Calls/s .* over [0-9.]+ s'
check "which is left as it is" wait_for 10 given_back

# A reload that replaces a service resets its counters.
start again "$CTL" -s $T/a.sock -n 20 -d 0.2 top nfs
wait_for 10 grep -q over $T/again.log
sed -i 's/name = "nfs";/name = "nfs"; max_connections = 77;/' $T/a.conf
check "the service is another one" ctl a reload
ends_well again "top ends in good order"
check "no rate is negative" not grep -E -- '-[0-9]' $T/again.log
# A client that has written once and is idle stays in the list while others mount and read.
nfs_client "$V3" write once 3m 3 >/dev/null
check "it has gone on" eval '[ "$(grep -c "^nfs *READ" $T/again.log)" -ge 3 ]'

# ---------------------------------------------------------------- keys

top
check "operations are shown" sees '^nfs +READ '
check "on a screen of its own, without a cursor" wait_for 10 begun
key c
check "c: connections" sees '^connections by OLDEST'
key Tab
check "Tab: operations again" sees '^operations by CALLS/S'
key '>'
check ">: by the next column" sees '^operations by ERR/S'
key Left Left
check "the arrow to the left: by those before" sees '^operations by OPERATION'
key R
check "R: the other way round" sees 'by OPERATION, reversed'
key i
check "i: what is idle, too" sees '^[a-z]+ +[A-Z_.]+ +0\.0 +0\.0 +0\.0 +- +-  '
key n
check "n asks how many rows" sees '^Number of rows'
key 1 Enter
check "which are shown" sees ', 1 of [0-9]+$'
key u
check "u asks for a service" sees '^Service \(empty: all\): *$'
key mount Enter
check "which alone is shown" sees 'only service mount'
key u none Enter
check "an unknown service is reported" sees '^No such service'
check "… and the other stays" sees 'only service mount'
key u Enter
check "nothing is all" sees_not 'alone'
key d 1 x Enter
check "d: an invalid time is reported" sees '^Not a number of seconds'
key d 0.5 Enter
check "d: another time" sees ' over (0\.[5-9]|[1-9][0-9]*\.[0-9]) s'
key h
check "h: help" sees '^Keys of'
key x
check "which any key ends" sees '^version'
key d 3600 Enter
key Space
sees ' over [0-9.]+ s'
screen
was=$(sed -n 2p $T/screen)
line=^$(printf '%s' "$was" | sed 's/[.]/[.]/g')\$
# Two answers may be equal.
asked_again() { key Space; not shows "$line"; }
check "the space asks at once" wait_for 20 asked_again
key q
check "q: the terminal is what it was" ended 0

# ---------------------------------------------------------------- its size

top
resized 60 8
check "a smaller terminal has less of it" wait_for 20 fits 60
check "at once" sees '^version'
check "in its lines" eval '[ "$(wc -l <$T/screen)" -le 8 ]'
resized 120 30
check "a larger one has all of it" sees 'REC MEM CRE SRV CLI$'
resized 80 24
key q
check "it ends in good order" ended 0

# ---------------------------------------------------------------- other ends

key "clear; $CTL -s $T/a.sock -d 0.2 -n 3 top" Enter
stays() { is alternate_on 0 && shows '^nfs +READ '; }
check "after so many intervals the last one stays" wait_for 20 stays
check "… to be read" sees '^nfs +READ '
check "the terminal is what it was" ended 0
top
key C-c
check "^C: the terminal is what it was" ended 130
top
kill -TERM "$(pgrep -f "^$CTL .*top")"
check "SIGTERM: the same" ended 143
top
key C-z
check "^Z: it is the shell's" sees 'Stopped'
check "as it was" wait_for 10 given_back
key fg Enter
check "and continues on request" sees '^Calls/s '
check "on its own screen" wait_for 10 is alternate_on 1
key q
check "until its end" ended 0
top
stop_proxy a
check "a daemon that ends is reported" sees '^rpcrdma-proxyctl: (cannot reach the daemon|the daemon closed)'
check "with status 3, and the terminal is what it was" ended 3
stop reader TERM
mux kill-server
finish

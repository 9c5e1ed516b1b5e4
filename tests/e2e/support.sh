#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma-proxyctl support: one archive for support, without secrets, even if programs do not answer.
# shellcheck disable=SC2034
A_GLOBAL='# password = "hunter2";'
. "$(dirname "$0")/lib.sh"
enter "$@"
chooses_dialect
needs_proxies

# The test replaces systemd's programs, which would report this host; one of them never ends.
mkdir $T/bin
printf '#!/bin/sh\necho "the log: $*"\n' >$T/bin/journalctl
printf '#!/bin/sh\n[ "$1" != status ] || exec sleep 1000\necho "Environment=API_TOKEN=hunter2"\n' >$T/bin/systemctl
chmod +x $T/bin/*
support() { PATH=$T/bin:$PATH "$CTL" "$@" support $T/x.tar.gz; }
members() { tar -tzf $T/x.tar.gz | sed 's,^[^/]*/,,' | sort; }
member() { tar -xzOf $T/x.tar.gz --wildcards "*/$1"; }
# has_all NAME...: the archive has these members, and none of them is empty
has_all() { local name; for name; do [ -n "$(member "$name")" ] || { echo "no $name"; return 1; }; done; }

start_proxy b
start_proxy a
check "an archive is written, though a program hangs" support -c $T/a.conf
check "and the folder that it was made from is gone" eval '! ls -d $T/x.tar.gz.*'
check "no other user can read it" [ "$(stat -c %a $T/x.tar.gz)" = 600 ]
check "all of it is in one folder that has the time in its name" \
	eval '! tar -tzf $T/x.tar.gz | grep -vE "^rpcrdma-proxy-support-[0-9]{8}-[0-9]{6}/"'
check "the daemon's answers are in it" has_all status.json services.json connections.json latency.json stats.json counters.json
check "and are JSON" eval 'member stats.json | jq -e .services.nfs.tcp'
check "the host is in it" has_all host/version host/uname host/address host/sockets unit
check "the limits of the daemon's process" eval 'member process/limits | grep -q "Max open files"'
check "the end of the log" eval 'member log | grep -q "the log: -u rpcrdma-proxy -n"'
check "the configuration file" eval 'member rpcrdma-proxy.conf | grep -q "services = ("'
no_secret() { ! tar -xzOf $T/x.tar.gz | grep -a hunter2; }
check "no password of it" no_secret
check "what was cut shows" eval 'member rpcrdma-proxy.conf | grep -qF "# password = [cut]"'
check "the killed program is reported" eval 'member unit | grep -q "systemctl was stopped after its time limit"'
check "missing programs are reported, too" eval 'PATH=$T/bin "$CTL" -c $T/a.conf support $T/y.tar.gz; [ $? = 2 ] && [ ! -e $T/y.tar.gz ]'

says() { "$@" >$T/out 2>$T/err; [ $? = "$status" ] && grep -qF -- "$text" $T/err || { cat $T/out $T/err; false; }; }
status=2 text="cannot write $T/x.tar.gz: File exists" check "no file is written over" says support -c $T/a.conf
status=2 text="cannot write $T/none/x.tar.gz: No such file" check "a missing directory is reported" \
	says "$CTL" -c $T/a.conf support $T/none/x.tar.gz
full() { mkdir $T/full && mount -t tmpfs -o size=4k tmpfs $T/full; }
check "a disk is full" full
status=2 text="cannot write $T/full/x.tar.gz" check "which is reported" says "$CTL" -c $T/a.conf support $T/full/x.tar.gz
check "and leaves nothing behind" eval '[ -z "$(ls -A $T/full)" ]'
check "the daemon does not know the command" eval "ctl a support </dev/null >/dev/null; echo support | socat - $T/a.sock | grep -q 'unknown command'"
rm -f $T/*.tar.gz ./*.tar.gz

stop_proxy a
printf '#!/bin/sh\ntrue\n' >$T/bin/systemctl
status=0 text="without the daemon's answers: cannot reach the daemon" check "a missing daemon is reported" \
	says support -c $T/a.conf
check "and all the rest is in the archive" has_all status.json rpcrdma-proxy.conf log host/uname
check "and why it has no answers" eval 'member status.json | grep -q "cannot reach the daemon"'
check "no more than one question is asked of it" not has_all services.json
rm $T/x.tar.gz
echo 'services = ( broken' >$T/broken.conf
status=0 text="without the daemon's answers" check "a broken file does not prevent the archive" says support -c $T/broken.conf
check "and is in the archive" eval 'member rpcrdma-proxy.conf | grep -qxF "services = ( broken"'
finish

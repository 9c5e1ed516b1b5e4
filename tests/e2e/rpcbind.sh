#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcbind has the listeners of the services that register, for as long as they exist, even if rpcbind or the daemon
# restarts.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
enter "$@"
chooses_dialect
needs_proxies
for tool in rpcbind rpcinfo; do command -v $tool >/dev/null || skip_all "$tool is not installed"; done

start_rpcbind() {
	# As under systemd: rpcbind keeps no state.
	rm -rf /run/rpcbind /run/rpcbind.*
	mkdir -p /run/rpcbind
	start rpcbind rpcbind -f
	wait_for 20 rpcinfo
}

# write_file REGISTER MORE: writes the file of proxy a
write_file() {
	cat >$T/a.conf <<-END
		control = "$T/a.sock"; workers = 1; register = $1;
		services = (
		$(service nfs "tcp://:12049" "iwarp://127.0.0.1:20049" "${2:-}"),
		$(service mount "tcp://127.0.0.1:12048" "iwarp://127.0.0.1:2050" "register = false;"),
		$(service gate "iwarp://127.0.0.1:12050" "tcp://127.0.0.1:3049"),
		$(service other "tcp://127.0.0.2:12051" "iwarp://127.0.0.1:20049")
		);
	END
}
start_a() { start a "${@:2}" "$PROXY" -c $T/a.conf; wait_for 20 listens 12049; }
# registered [PROGRAM]: prints "VERSION NETID ADDRESS OWNER" of the NFS program, or of another one
registered() { rpcinfo | awk -v program=${1:-100003} '$1 == program { print $2, $3, $4, $NF }' | sort; }
has() { [ "$(registered)" = "$*" ]; }
all="3 rdma 127.0.0.1.47.18 root
3 tcp 0.0.0.0.47.17 root
3 tcp6 ::.47.17 root
4 rdma 127.0.0.1.47.18 root
4 tcp 0.0.0.0.47.17 root
4 tcp6 ::.47.17 root"
all=${all// root/ superuser}
is_registered() { wait_for 20 has "$all" || { registered; false; }; }
is_gone() { wait_for 20 has "" || { registered; false; }; }
says() { wait_for 20 logged a "$1"; }
now_ms() { date +%s%3N; }

write_file true
check "without rpcbind the daemon starts" start_a
check "and says so" says "rpcbind registration failed: /run/rpcbind.sock: No such file or directory"
check "rpcbind comes" start_rpcbind
check "and has the listeners then: every address is that of IPv4, too" is_registered
check "which the log says" says "rpcbind registration succeeded again"
check "of two for one kind of address the log names the one that is left out" \
	says "other: rpcbind allows one tcp listener and has 0.0.0.0.47.17: not registering 127.0.0.2.47.19"
check "a client gets the port" eval '[ "$(rpcinfo -p | awk "\$1 == 100003 && \$2 == 4 { print \$4, \$3 }" | sort -u)" = "12049 tcp" ]'

stop rpcbind
check "rpcbind comes back" start_rpcbind
check "and has them again" is_registered
# answers_while_it_hangs: the daemon answers in less than the 5 s of rpcbind's time limit. If the machine is so slow
# that an answer takes longer, tries again, up to three times.
answers_while_it_hangs() {
	local began took_ms

	for _ in 1 2 3; do
		ctl a resume nfs
		is_registered || return
		kill -STOP "${pid_of[rpcbind]}"
		began=$(now_ms)
		ctl a drain nfs
		ctl a status || return
		took_ms=$(($(now_ms) - began))
		kill -CONT "${pid_of[rpcbind]}"
		((took_ms >= 5000)) || return 0
	done
	return 1
}
check "a hanging rpcbind delays no client" answers_while_it_hangs
kill -CONT "${pid_of[rpcbind]}"
left="3 rdma 127.0.0.1.47.18 superuser
3 tcp 127.0.0.2.47.19 superuser
4 rdma 127.0.0.1.47.18 superuser
4 tcp 127.0.0.2.47.19 superuser"
check "what is drained is not registered, and the next has its place" wait_for 20 has "$left"
ctl a resume nfs >/dev/null
check "until it resumes" is_registered
write_file false "register = true;"
check "the file is read again" ctl a reload
only="3 tcp 0.0.0.0.47.17 superuser
3 tcp6 ::.47.17 superuser
4 tcp 0.0.0.0.47.17 superuser
4 tcp6 ::.47.17 superuser"
check "one service alone is registered" wait_for 20 has "$only"

mount_has() { [ "$(registered 100005)" = "$*" ]; }
mount_is() { wait_for 20 mount_has "$1" || { registered 100005; false; }; }
check "MOUNT is not registered" mount_has ""
write_file false 'register = "mount";'
check "the file is read again: MOUNT, too" ctl a reload
mounts="3 tcp 0.0.0.0.47.17 superuser
3 tcp6 ::.47.17 superuser"
check "MOUNT is registered where NFS is" mount_is "$mounts"
check "the service is still registered for NFS" wait_for 20 has "$only"
stop rpcbind
check "rpcbind comes back" start_rpcbind
check "and has MOUNT again" mount_is "$mounts"
ctl a drain nfs >/dev/null
check "what is drained has no MOUNT" mount_is ""
ctl a resume nfs >/dev/null
check "until it resumes" mount_is "$mounts"
write_file '"mount"' 'mount = "off";'
check "the file is read again: no MOUNT is served" ctl a reload
check "and none registered" mount_is ""
check "but NFS is" is_registered
stop_proxy a
check "at the end nothing is left" has ""

# The end waits 1 s for a hanging rpcbind, other requests 5 s. If the machine is so slow that the end takes 5 s anyway,
# tries again, up to three times.
write_file true
for _ in 1 2 3; do
	start_a
	is_registered
	kill -STOP "${pid_of[rpcbind]}"
	began=$(now_ms)
	stop_proxy a
	took_ms=$(($(now_ms) - began))
	kill -CONT "${pid_of[rpcbind]}"
	stop rpcbind
	start_rpcbind
	((took_ms >= 5000)) || break
done
check "the end does not wait as long for a rpcbind that hangs as for an answer: $took_ms ms" test $took_ms -lt 5000

# As in the systemd unit.
user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 777 $T
check "an ordinary user registers, too" eval 'start_a - "${user[@]}" && all=${all//superuser/65534} is_registered'
stop a KILL
sed -i 's/12049/12052/' $T/a.conf
start a "${user[@]}" "$PROXY" -c $T/a.conf
moved=${all//superuser/65534}
moved=${moved//47.17/47.20}
check "one that was killed leaves what the next one puts right" wait_for 20 has "$moved"
check "and is not warned of" not logged a "another program is registered there"
stop_proxy a
check "and takes back at the end" has ""

# Another NFS server, of root. A proxy of root could remove registrations of another program, but must not.
write_file true
start_a
is_registered
cp $T/a.conf $T/c.conf
sed -i 's/a\.sock/c.sock/; s/:120/:130/' $T/c.conf
refused() { [ "$(grep -cF "another program is registered there" $T/c.log)" = 6 ]; }
# keeps_nfs USER [COMMAND...]: starts a proxy c of that user
keeps_nfs() {
	: >$T/c.log
	start c "${@:2}" "$PROXY" -c $T/c.conf
	check "$1: what another program has stays, and the log says that" wait_for 20 refused
	check "$1: it is as it was" is_registered
	stop c
	check "$1: also at the end of the other" is_registered
}
keeps_nfs 65534 "${user[@]}"
keeps_nfs superuser
stop_proxy a

# Wrong answers, silence, and half an answer.
stop rpcbind
rm -f /run/rpcbind.sock
: >$T/a.log
start nonsense socat UNIX-LISTEN:/run/rpcbind.sock,fork,mode=666 SYSTEM:'cat /dev/urandom'
wait_for 20 test -S /run/rpcbind.sock
start_a
check "nonsense is no answer" says "what it says makes no sense"
check "the daemon is well" ctl a status
stop nonsense
rm -f /run/rpcbind.sock
check "rpcbind comes" start_rpcbind
check "and has the listeners" is_registered
stop_proxy a
check "it is logged once" logged_lines a 1 "rpcbind registration failed"

# Another daemon of this host serves MOUNT. root_registers PROGRAM VERSION ADDRESS [PROCEDURE]: sends a request to
# rpcbind as that daemon of root, for tcp. Procedure 1 registers, 2 removes the registration of any owner.
root_registers() {
	python3 - "$@" <<-'END'
	import socket, struct, sys
	def text(s):
	    return struct.pack(">I", len(s)) + s.encode() + bytes(-len(s) % 4)
	program, version, address = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
	procedure = int(sys.argv[4]) if len(sys.argv) > 4 else 1
	call = struct.pack(">12I", 1, 0, 2, 100000, 3, procedure, 0, 0, 0, 0, program, version)
	call += text("tcp") + text(address) + text("")
	rpcbind = socket.socket(socket.AF_UNIX)
	rpcbind.connect("/run/rpcbind.sock")
	rpcbind.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
	sys.exit(rpcbind.recv(4096)[-1] != 1)
	END
}
own="3 tcp 0.0.0.0.78.80 superuser"
# keeps_own USER: a proxy of that user has left the registrations of the host's mountd
keeps_own() {
	local six="3 tcp6 ::.47.17 $1"

	write_file false 'register = "mount";'
	: >$T/a.log
	check "$1: MOUNT of another daemon: the proxy starts" start_a - "${@:2}"
	check "$1: the log names it" \
		says "rpcbind does not register program 100005 version 3 for tcp at 0.0.0.0.47.17: another program is registered there"
	check "$1: the other's registration stays, and the proxy has the other kind" mount_is "$own
$six"
	check "$1: NFS is registered" wait_for 20 has "${only//superuser/$1}"
	stop_proxy a
	check "$1: the other's registration is there at the end" mount_is "$own"
}
check "another daemon registers MOUNT" root_registers 100005 3 0.0.0.0.78.80
keeps_own superuser
keeps_own 65534 "${user[@]}"

# Another NFS server has registered NFSv3: clients would send it the file handles of the proxy's server.
stop rpcbind
start_rpcbind
check "another daemon registers NFSv3" root_registers 100003 3 0.0.0.0.8.1
start_a
check "without NFSv3 MOUNT is not registered" mount_is "3 tcp6 ::.47.17 superuser"
stop_proxy a
check "the other's NFSv3 is there at the end" wait_for 20 has "3 tcp 0.0.0.0.8.1 superuser"

# The host's own daemons start after the proxy, remove its registrations, and register themselves.
takes_over() { root_registers "$1" 3 "$2" 2 && root_registers "$1" 3 "$2"; }
# keeps_later USER [COMMAND...]: starts a proxy of that user
keeps_later() {
	local first=${mounts//superuser/$1} nfs="3 tcp 0.0.0.0.8.1 superuser"

	stop rpcbind
	start_rpcbind
	check "$1: the proxy starts first" start_a - "${@:2}"
	check "$1: and has MOUNT" mount_is "$first"
	check "$1: the host's NFS starts" takes_over 100003 0.0.0.0.8.1
	check "$1: and its MOUNT" takes_over 100005 0.0.0.0.78.80
	ctl a drain nfs >/dev/null
	check "$1: what the proxy takes back is not theirs: MOUNT" mount_is "$own"
	check "$1: and NFS" wait_for 20 has "$nfs"
	ctl a resume nfs >/dev/null
	check "$1: the proxy has the other kind again" wait_for 20 eval 'registered | grep -q "^4 tcp6 "'
	stop_proxy a
	check "$1: their MOUNT is there at the end" mount_is "$own"
	check "$1: and their NFS" wait_for 20 has "$nfs"
}
keeps_later superuser
keeps_later 65534 "${user[@]}"

# A rpcbind that keeps its mappings over a restart, as Debian's unit starts it. Meanwhile the host's NFS has replaced the
# proxy's, and clients would send it file handles of the proxy's MOUNT.
warm_rpcbind() { start rpcbind rpcbind -f -w; wait_for 20 rpcinfo; }
stop rpcbind
rm -rf /run/rpcbind /run/rpcbind.*
mkdir -p /run/rpcbind
chown _rpc /run/rpcbind 2>/dev/null || chown rpc /run/rpcbind # it writes this directory at its end
warm_rpcbind
start_a
check "a rpcbind that keeps mappings has MOUNT" mount_is "$mounts"
kill -STOP "${pid_of[a]}"
stop rpcbind
check "it restarts" warm_rpcbind
check "and still has MOUNT" mount_has "$mounts"
check "the host's NFS takes the place of the proxy's" takes_over 100003 0.0.0.0.8.1
kill -CONT "${pid_of[a]}"
check "the proxy takes back MOUNT where NFSv3 is another's" mount_is "3 tcp6 ::.47.17 superuser"
check "with NFSv3 free again MOUNT is back" eval 'root_registers 100003 3 0.0.0.0.8.1 2 && wait_for 60 mount_has "$mounts"'
stop_proxy a
check "and nothing is left at the end" eval 'wait_for 20 has "" && mount_is ""'

# Two proxies of one user: the second takes over registrations that a killed proxy could have left. The first one then
# leaves these alone.
stop rpcbind
start_rpcbind
start_a - "${user[@]}"
wait_for 20 has "${only//superuser/65534}"
cp $T/a.conf $T/c.conf
sed -i 's/a\.sock/c.sock/; s/:120/:130/' $T/c.conf
start c "${user[@]}" "$PROXY" -c $T/c.conf
second=${only//superuser/65534}
second=${second//47.17/50.249}
check "a second proxy of the same user registers" wait_for 20 has "$second"
stop_proxy a
check "and stays registered when the first ends" has "$second"
stop c

# NFS-Ganesha registers itself. With a rpcbind that starts later, only the proxy registers MOUNT.
shows_exports() { showmount -e --no-headers 127.0.0.1 | grep "^/export "; }
if ! command -v showmount >/dev/null; then
	ok "showmount finds the server's exports # SKIP showmount is not installed"
elif ! can_open_by_handle || ! command -v ganesha.nfsd >/dev/null; then
	ok "showmount finds the server's exports # SKIP NFS-Ganesha cannot run here"
else
	start_ganesha
	stop rpcbind
	start_rpcbind
	cat >$T/a.conf <<-END
		control = "$T/a.sock"; workers = 1;
		services = (
		$(service nfs "tcp://:12049" "tcp://127.0.0.1:$NFS_PORT" \
			"mount = \"tcp://127.0.0.1:$MNT_PORT\"; register = \"mount\"; allow = [ \"127.0.0.1\" ];")
		);
	END
	start_a
	mount_is "$mounts"
	check "showmount finds the server's exports" shows_exports
	stop_proxy a
	check "and no server at the end" not shows_exports
fi
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares which NFSv4 state two gateways from TCP to RDMA preserve: the kernel's re-export, which mounts 4.2 over siw
# and exports that mount, and the proxy. This guest is the gateway. The server is a second knfsd in network namespace 2,
# with a proxy on the host in front of it for RDMA. The client is in namespace 4. Namespace 3 has another client of the
# server, which uses no gateway. A row tests one feature with both gateways. It fails if the proxy does not preserve the
# state, and reports the result of the re-export.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"

# nfsd_here COMMAND...: runs it in the namespaces of the server
nfsd_here() { nsenter --net=/run/netns/c2 --mount="/proc/$server_ns/ns/mnt" "$@"; }

# state_server_start: starts a knfsd in namespace 2 with an ext4 file system
state_server_start() {
	client_start 2
	nsenter --net=/run/netns/c2 unshare --mount --propagation private sleep infinity &
	server_ns=$!
	wait_for 20 eval '[ "$(readlink /proc/'$server_ns'/ns/mnt)" != "$(readlink /proc/self/ns/mnt)" ]'
	truncate -s 256M /run/state.img
	mkfs.ext4 -q -F -E lazy_itable_init=1 /run/state.img
	mkdir -p /srv/state
	mount -o loop,user_xattr,acl /run/state.img /srv/state
	chmod 1777 /srv/state
	nfsd_here mount -o loop /run/state.img /srv/state 2>/dev/null || nfsd_here mount --bind /srv/state /srv/state
	nfsd_here sh -e -c '
		mount -t tmpfs tmpfs /var/lib/nfs
		mkdir -p /var/lib/nfs/sm /var/lib/nfs/v4recovery
		umount /proc/fs/nfsd 2>/dev/null || true
		mount -t nfsd nfsd /proc/fs/nfsd
		echo 10 >/proc/fs/nfsd/nfsv4gracetime
		echo 120 >/proc/fs/nfsd/nfsv4leasetime
		touch /var/lib/nfs/etab /var/lib/nfs/rmtab
		exportfs -o rw,fsid=0,no_root_squash,insecure,no_subtree_check "*:/srv/state"
		rpc.mountd -N 3
		rpc.nfsd --no-udp -N 3 -V 4 -V 4.1 -V 4.2 8'
}

# gateway_up, gateway_down: start and stop the re-export
gateway_up() {
	NFS4_PATH=/ nfs_where 4.2 2301 rdma
	mkdir -p /srv/re
	with_limit 40 mount -t nfs -o "${nfs_options/,actimeo=1/}" 10.0.2.2:/ /srv/re
	exportfs -o rw,fsid=0,no_root_squash,insecure,no_subtree_check "*:/srv/re"
	rpc.nfsd --no-udp -N 3 -V 4 -V 4.1 -V 4.2 8
}

gateway_down() {
	rpc.nfsd 0
	exportfs -ua
	exportfs -f
	umount /srv/re
}

# by WAY: mounts at /mnt/c4 in namespace 4, through the re-export or the proxy; the client caches no attributes
by() {
	local port=2049
	[ "$1" = re-export ] || port=2302
	mkdir -p /mnt/c4
	client_run 4 "$TIME_LIMIT" 60 mount -t nfs -o "vers=4.2,proto=tcp,port=$port,hard,actimeo=0,retry=0" "10.8.4.1:/" /mnt/c4
}

# away WAY: stops the gateway; back WAY: starts it again
away() {
	if [ "$1" = re-export ]; then rpc.nfsd 0; else proxy_stop way KILL; fi
}
back() {
	if [ "$1" = re-export ]; then
		rpc.nfsd --no-udp -N 3 -V 4 -V 4.1 -V 4.2 8
	else
		proxy_again way
		proxy_ready way
	fi
}

# held FILE: starts a process in namespace 4 that opens and locks the file. For each line on its input it writes a byte
# and reports the result
held() {
	coproc HELD { client_run 4 python3 -u -c '
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("locked")
for line in sys.stdin:
    try:
        os.pwrite(fd, line[:1].encode(), 0)
        os.fsync(fd)
        print("written")
    except OSError as error:
        print(error.strerror)
' "$1"; }
	held_pid=$HELD_PID
	exec {held_asks}>&"${HELD[1]}" {held_answers}<&"${HELD[0]}"
	eval "exec ${HELD[1]}>&-"
}
held_ends() {
	exec {other}>&-
	exec {held_asks}>&-
	wait "$held_pid" || true
}
held_says() {
	local line=
	read -r -t "$(limit_s 60)" -u "$held_answers" line || line="no answer"
	echo "$line"
}

# other_opens FILE: client 3 opens it. other_locks: reports whether it gets the lock. It opens the file first; otherwise
# the client of the gateway has a delegation, and client 3 would wait for its recall.
other_opens() {
	rm -f /run/other.in /run/other.out
	mkfifo /run/other.in
	client_run 3 python3 -u -c '
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
print("open")
sys.stdin.readline()
try:
    fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("granted")
except OSError as error:
    print("refused")
' "$1" </run/other.in >/run/other.out &
	other_pid=$!
	exec {other}>/run/other.in
	wait_for 60 grep -q open /run/other.out || fail "client 3 does not open the file"
}
other_locks() {
	echo >&$other
	wait_for 60 grep -qE 'granted|refused' /run/other.out || { echo "no answer"; return; }
	sed -n 2p /run/other.out
}

# handle_of FILE: prints the client's handle of it, which includes the file handle of the wire
handle_of() {
	client_run "$1" python3 -c '
import ctypes, os, sys
class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_ubyte * 128)]
handle, mount = Handle(bytes=128), ctypes.c_int()
if ctypes.CDLL(None, use_errno=True).name_to_handle_at(-100, sys.argv[1].encode(), ctypes.byref(handle), ctypes.byref(mount), 0):
    sys.exit(os.strerror(ctypes.get_errno()))
print(bytes(handle.data[:handle.bytes]).hex())
' "$2"
}

# Each of these functions prints its result for an existing mount, in a few words.
try_handles() {
	local here there
	echo one >/srv/state/handle
	here=$(handle_of 4 /mnt/c4/handle)
	there=$(handle_of 3 /mnt/c3/handle)
	if [ "$here" = "$there" ]; then echo "the server's"; else echo "its own, $(((${#here} - ${#there}) / 2)) bytes longer"; fi
}

delegations() { cat "$1"/clients/*/states 2>/dev/null | grep -c 'type: deleg'; }
try_delegation() {
	local fd count=0
	echo one >/srv/state/deleg.$1
	exec {fd}</mnt/c4/deleg.$1
	cat <&$fd >/dev/null
	if [ "$1" = re-export ]; then
		count=$(delegations /proc/fs/nfsd)
	else
		count=$(nfsd_here sh -c 'cat /proc/fs/nfsd/clients/*/states' | grep -c 'type: deleg')
	fi
	exec {fd}<&-
	if [ "$count" -gt 0 ]; then echo given; else echo none; fi
}

# seen FILE SIZE: the client, which caches no attributes, gets that size of the file
seen() { [ "$(client_run 4 stat -c %s "$1")" = "$2" ]; }

# Prints how long the client gets the old size after another client has changed it. No client has the file open.
try_fresh() {
	local begin ms
	echo one >/srv/state/fresh.$1
	seen /mnt/c4/fresh.$1 4 || { echo "not there"; return; }
	client_run 3 sh -c "echo another >>/mnt/c3/fresh.$1"
	begin=${EPOCHREALTIME/./}
	wait_for 90 seen /mnt/c4/fresh.$1 12 || { echo never; return; }
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	if [ $ms -lt 1500 ]; then echo "at once"; else echo "after $((ms / 1000)) s"; fi
}

try_lock() {
	echo one >/srv/state/lock.$1
	other_opens /mnt/c3/lock.$1
	held /mnt/c4/lock.$1
	echo "the client: $(held_says); another client of the server then: $(other_locks)"
	held_ends
}

# step WHAT: writes a time stamp to the row's log
step() { echo "$SECONDS s: $*" >&2; }

try_lock_restart() {
	local during after
	echo one >/srv/state/again.$1
	other_opens /mnt/c3/again.$1
	held /mnt/c4/again.$1
	[ "$(held_says)" = locked ] || { echo "no lock"; return; }
	step "the lock is held"
	away "$1"
	step "the gateway is away"
	during=$(other_locks)
	step "another client has tried: $during"
	back "$1"
	step "the gateway is back"
	echo two >&"$held_asks"
	after=$(held_says)
	step "its holder has written: $after"
	echo "another client meanwhile: $during; its holder then: $after"
	held_ends
}

try_xattr() {
	echo one >/srv/state/xattr.$1
	if setfattr -n user.word -v value /mnt/c4/xattr.$1 &&
		[ "$(getfattr --only-values -n user.word /srv/state/xattr.$1 2>/dev/null)" = value ]; then
		echo carried
	else
		echo "not carried"
	fi
}

try_acl() {
	echo one >/srv/state/acl.$1
	if nfs4_setfacl -a A::1234:RX /mnt/c4/acl.$1 >&2 && getfacl -cnp /srv/state/acl.$1 | grep -q '^user:1234'; then
		echo carried
	else
		echo "not carried"
	fi
}

# state NAME FUNCTION WANTED: with both; the proxy's must be as WANTED, an extended regular expression of the whole
state() {
	local way said=()
	for way in proxy re-export; do
		by $way
		said+=("$($2 $way)")
		echo "$way: ${said[-1]}"
		client_run 4 "$TIME_LIMIT" 60 umount -f /mnt/c4 || umount -f -l /mnt/c4
	done
	say "# state: $1: proxy: ${said[0]}; re-export: ${said[1]}"
	[[ ${said[0]} =~ ^($3)$ ]] || fail "through the proxy: ${said[0]}"
}

guest_start
mount -t nfsd nfsd /proc/fs/nfsd
echo 10 >/proc/fs/nfsd/nfsv4gracetime
echo 120 >/proc/fs/nfsd/nfsv4leasetime
rpcbind -w
wait_for 20 test -S /run/rpcbind.sock
rpc.mountd -p 20048
state_server_start
client_start 4
client_start 3
host_row state-server iwarp://10.0.2.2:2301 tcp://10.8.2.2:2049
guest_row way tcp://10.8.4.1:2302 verbs://10.0.2.2:2301
mkdir -p /mnt/c3
client_run 3 "$TIME_LIMIT" 60 mount -t nfs -o vers=4.2,proto=tcp,port=2049,hard,actimeo=0 10.8.2.2:/ /mnt/c3
gateway_up
row "state: the file handle" state "the file handle" try_handles "the server's"
row "state: a delegation of a file that is read" state "a delegation of a file that is read" try_delegation given
row "state: a change that another client of the server makes is seen" state "a change by another client is seen" try_fresh "at once"
row "state: a lock" state "a lock" try_lock "the client: locked; another client of the server then: refused"
row "state: xattrs" state "xattrs" try_xattr carried
row "state: access control lists" state "access control lists" try_acl carried
row "state: a lock while the gateway begins anew" state "a lock while the gateway begins anew" try_lock_restart \
	"another client meanwhile: refused; its holder then: written"
gateway_down
say done

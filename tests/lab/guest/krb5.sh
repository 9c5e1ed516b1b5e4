#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Kerberos through the proxy, which has no key. The proxies run on the host; the KDC and the kernel's client and server
# run in this guest. The export accepts only RPCSEC_GSS.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
krb=/run/krb5

# Names without DNS. The name in the mount command becomes the principal: "proxy.lab" for proxies, "direct.lab" for this
# guest, and "filer.lab", as in doc/recipes.md: the server's name on a loopback address.
names_start() {
	printf '%s\n' "127.0.0.1 localhost" "127.0.0.2 filer.lab" "127.0.0.3 other.lab" "10.0.2.15 direct.lab lab" "10.0.2.2 proxy.lab" >/etc/hosts
	printf '%s: files\n' passwd group hosts services protocols rpc >/etc/nsswitch.conf
}

# A realm with one keytab, for the client's machine and for all names of the server.
kdc_start() {
	mkdir -p $krb
	export KRB5_CONFIG=$krb/krb5.conf KRB5_KDC_PROFILE=$krb/kdc.conf
	cat >$KRB5_CONFIG <<-CONF
	[libdefaults]
	default_realm = LAB
	default_keytab_name = FILE:$krb/keytab
	permitted_enctypes = aes256-cts-hmac-sha1-96
	dns_lookup_kdc = false
	dns_lookup_realm = false
	dns_canonicalize_hostname = false
	rdns = false
	[realms]
	LAB = {
		kdc = 127.0.0.1:88
	}
	[domain_realm]
	.lab = LAB
	CONF
	cat >$KRB5_KDC_PROFILE <<-CONF
	[kdcdefaults]
	kdc_listen = 127.0.0.1:88
	kdc_tcp_listen = 127.0.0.1:88
	[realms]
	LAB = {
		database_name = $krb/principal
		key_stash_file = $krb/stash
		supported_enctypes = aes256-cts-hmac-sha1-96:normal
	}
	[logging]
	kdc = FILE:$krb/kdc.log
	CONF
	kdb5_util create -s -r LAB -P lab
	local name
	for name in direct.lab proxy.lab filer.lab; do
		kadmin.local -q "addprinc -randkey nfs/$name"
		kadmin.local -q "ktadd -k $krb/keytab nfs/$name"
	done
	krb5kdc -r LAB
}

# The daemons that establish contexts for the kernel: the client's, and the server's with all keys of the keytab.
gss_start() {
	modprobe -a auth_rpcgss rpcsec_gss_krb5
	mkdir -p /run/rpc_pipefs
	mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
	rpc.svcgssd -n -v
	rpc.gssd -p /run/rpc_pipefs -k $krb/keytab -v
}

# The work of a row. With krb5i and krb5p nothing is eligible for direct placement: arguments and results are opaque,
# and move as a whole.
work_krb5() {
	grep " /mnt/n " /proc/mounts | grep -q "sec=$FLAVOUR," || fail "the mount is not of sec=$FLAVOUR"
	work_files
	work_readdir 200
	work_names
	work_request_post_read
}

# One READ of 1 MiB, independent of the page cache.
work_request_post_read() {
	dd if=/run/seed of=/mnt/n/read bs=1M count=1 oflag=direct status=none
	cmp <(head -c 1M /run/seed) <(dd if=/mnt/n/read bs=1M count=1 iflag=direct status=none) || fail "1 MiB differs"
	rm -f /mnt/n/read
}

# direct PORT PROTO: mounts without a proxy, and writes and reads a file.
direct() {
	nfs_mount 4.1 direct.lab "$1" "$2"
	head -c 100000 /run/seed >/mnt/n/direct
	sync
	echo 3 >/proc/sys/vm/drop_caches
	cmp <(head -c 100000 /run/seed) /mnt/n/direct
	rm /mnt/n/direct
	umount /mnt/n
}

# direct_try PORT PROTO: prints the error of that, or nothing. Do not call it where errexit has no effect.
direct_try() {
	local log=/run/share/direct-$2.log
	(set +x -e; direct "$@") >"$log" 2>&1
	[ $? = 0 ] || direct_why="$2: $(tail -1 "$log" | cut -c1-120)"
	grep -q " /mnt/n " /proc/mounts && umount -f -l /mnt/n
}

# retransmitted COUNT: this guest's clients have retransmitted COUNT Calls in total.
retransmitted() { [ "$(awk '$1 == "rpc" { print $3 }' /proc/net/rpc/nfs)" -ge "$1" ]; }

# slow ADDRESS PORT: NFSv3; a frozen file system stops the server for longer than timeo. The client retransmits its
# MKDIR, each time with another sequence number. It must get the Reply of the first execution, because a second
# execution would fail with EEXIST. It must keep its connection.
slow() {
	local before made
	nfs_mount 3 "$1" "$2" tcp
	ls /mnt/n >/dev/null
	before=$(awk '$1 == "rpc" { print $3 }' /proc/net/rpc/nfs)
	fsfreeze -f /srv/export
	mkdir /mnt/n/slow &
	made=$!
	wait_for 60 retransmitted $((before + 2)) || echo "the client does not send its Call again"
	fsfreeze -u /srv/export
	wait $made || fail "MKDIR was not answered as the first time"
	retransmitted $((before + 2)) || fail "the client has not sent its Call again"
	rmdir /mnt/n/slow
	mount_clean
	umount /mnt/n
}

# A server with a working krb5p: NFS-Ganesha, in this guest because of the keys.
ganesha_start() {
	mkdir -p $krb/export $krb/recovery
	chmod 1777 $krb/export
	cat >$krb/ganesha.conf <<-CONF
	NFS_CORE_PARAM { Protocols = 4; NFS_Port = 2149; Enable_NLM = false; Enable_RQUOTA = false; Enable_UDP = false; }
	NFSv4 { Graceless = true; RecoveryBackend = fs; RecoveryRoot = "$krb/recovery"; Only_Numeric_Owners = true; }
	NFS_KRB5 { PrincipalName = "nfs@proxy.lab"; KeytabPath = "$krb/keytab"; CCacheDir = "$krb/cc"; Active_krb5 = true; }
	EXPORT { Export_Id = 1; Path = $krb/export; Pseudo = /export; Access_Type = RW; Squash = No_Root_Squash;
		SecType = krb5, krb5i, krb5p; Transports = TCP; Protocols = 4; FSAL { Name = VFS; } }
	LOG { Default_Log_Level = EVENT; }
	CONF
	ganesha.nfsd -L /run/share/ganesha.log -f $krb/ganesha.conf -p $krb/ganesha.pid
	wait_for 60 accepts 2149 || say "# NFS-Ganesha does not start: $(tail -1 /run/share/ganesha.log)"
}

names_start
guest_start
kdc_start
EXPORT_SEC=krb5:krb5i:krb5p server_start
gss_start
dd if=/dev/urandom of=/run/seed bs=1M count=5 status=none
# rpc.gssd establishes the contexts of an RDMA mount over TCP, at port 2049 of the same address.
host_row tcp-iwarp tcp://10.0.2.2:2049 iwarp://10.0.2.15:20049
host_row iwarp-tcp iwarp://10.0.2.2:2302 tcp://10.0.2.15:2049

WORK=work_krb5
for FLAVOUR in krb5 krb5i krb5p; do
	JUDGE=
	[ $FLAVOUR != krb5p ] || JUDGE=-p
	NFS_OPTIONS=sec=$FLAVOUR
	direct_why=
	if [ $FLAVOUR = krb5p ]; then
		direct_try 2049 tcp
		[ -n "$direct_why" ] && say "# $FLAVOUR without a proxy, $direct_why"
		direct_try 20049 rdma
	fi
	for side in "siw client, iwarp=>tcp, knfsd" "tcp client, tcp=>iwarp, knfsd over siw"; do
		name="$side, 4.1, sec=$FLAVOUR"
		if [ -n "$direct_why" ]; then
			say "skip $name # SKIP a mount of knfsd of Linux $(uname -r) without a proxy fails too, $direct_why"
			continue
		fi
		case $side in
		siw*) judged "$name" through host iwarp-tcp 4.1 proxy.lab 2302 rdma ;;
		tcp*) judged "$name" through host tcp-iwarp 4.1 proxy.lab 2049 tcp ;;
		esac
	done
done

# A proxy on the client's host, as in the recipe "Kerberos with a proxy on the client's host".
refused() {
	nfs_mount 4.1 "$1" 2050 tcp || true
	if grep -q ' /mnt/n ' /proc/mounts; then fail "$1 is mounted"; fi
}
# rpc.gssd connects from ports above 1023.
refused_ports() {
	sed -i 's/require_privileged_port = false/require_privileged_port = true/' $proxy_dir/loopback.conf
	proxy_says loopback reload
	refused filer.lab
	grep "source port is not privileged" $proxy_dir/loopback.log
}
guest_row loopback tcp://127.0.0.1:2050,tcp://127.0.0.2:2050,tcp://127.0.0.3:2050 iwarp://10.0.2.2:2302
for FLAVOUR in krb5 krb5i; do
	NFS_OPTIONS=sec=$FLAVOUR
	row "tcp client, proxy on its host, tcp=>iwarp, iwarp=>tcp, knfsd, 4.1, sec=$FLAVOUR: the server's name on 127.0.0.2" \
		through guest loopback 4.1 filer.lab 2050 tcp
done
NFS_OPTIONS=sec=krb5
row "tcp client, proxy on its host, 4.1, sec=krb5: another name has no principal" refused other.lab
row "tcp client, proxy on its host, 4.1, sec=krb5: 127.0.0.1 has no principal" refused 127.0.0.1
row "tcp client, proxy on its host, 4.1, sec=krb5: privileged ports are required" refused_ports

# The callbacks of a session with Kerberos.
host_row chain tcp://10.0.2.2:2304 iwarp://10.0.2.2:2302 "credits = 2;"
for FLAVOUR in krb5 krb5i; do
	NFS_OPTIONS=sec=$FLAVOUR,timeo=20,retrans=10
	row "tcp client, no proxy, knfsd, 3, sec=$FLAVOUR: slower than timeo" slow direct.lab 2049
	row "tcp client, tcp=>iwarp, knfsd over siw, 3, sec=$FLAVOUR: slower than timeo" slow proxy.lab 2049
	row "tcp client, tcp=>iwarp, iwarp=>tcp, knfsd, 3, sec=$FLAVOUR: slower than timeo" slow proxy.lab 2304
done
for version in 4.1 4.2; do
	JUDGE= NFS_OPTIONS=sec=krb5i \
		judged "tcp client, tcp=>iwarp, iwarp=>tcp, knfsd, $version, sec=krb5i: recalls while Calls wait for a credit" \
		recalls host chain "$version" proxy.lab 2304
done

ganesha_start
host proxy_stop tcp-iwarp
host_row iwarp-ganesha iwarp://10.0.2.2:2303 tcp://10.0.2.15:2149
host_row back-to-back tcp://10.0.2.2:2049 iwarp://10.0.2.2:2303
NFS4_PATH=/export FLAVOUR=krb5p JUDGE=-p NFS_OPTIONS=sec=krb5p
judged "tcp client, tcp=>iwarp, iwarp=>tcp, NFS-Ganesha, 4.1, sec=krb5p" \
	through host back-to-back 4.1 proxy.lab 2049 tcp
judged "siw client, iwarp=>tcp, NFS-Ganesha, 4.1, sec=krb5p" through host iwarp-ganesha 4.1 proxy.lab 2303 rdma
cp $krb/kdc.log /run/share/
verdicts_all
say done

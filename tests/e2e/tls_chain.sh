#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Files are the same through proxies that speak TLS to each other, over TCP alone and with iWARP between: proxy a connects by
# TLS, or accepts it, b connects by TLS, and g accepts it in front of NFS-Ganesha. A capture has no RPC after the probes.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
. "$E2E_SRC/tls_peers.sh"
command -v dumpcap >/dev/null || skip_all "dumpcap is not installed"
command -v tshark >/dev/null || skip_all "tshark is not installed"
command -v nfs-cp >/dev/null || skip_all "nfs-cp is not installed"
start_ganesha

DIRECT=12060 TLS_A=5049 TLS_G=5149
authority ca || bail "openssl makes no authority"
for name in a b g; do
	certificate $name ca "DNS:$name.example" || bail "openssl makes no certificate: $(tail -n 5 openssl.log)"
done
# by_tls NAME SERVER: keys of a service that connects by TLS, with its own certificate
by_tls() {
	echo "tls_connect = \"required\"; tls_ca_file = \"$T/ca.pem\"; tls_server_name = \"$2.example\";" \
		"tls_cert_file = \"$T/$1.pem\"; tls_key_file = \"$T/$1.key\";"
}
# for_tls NAME CLIENT...: of one that serves these clients only
for_tls() {
	local name=$1 clients

	clients=$(printf '"%s.example", ' "${@:2}")
	echo "$(tls_keys "$name") tls_ca_file = \"$T/ca.pem\"; tls_verify_client = \"required\"; tls_client_names = [ ${clients%, } ];"
}
two=
[ "${E2E_VERSION:-1}" = 1 ] || two="connect_version = 2;"
draft_a=${E2E_COMPAT:+$(draft_keys a)} draft_b=${E2E_COMPAT:+$(draft_keys b)}
cat >g.conf <<-END
	control = "$T/g.sock"; workers = 2;
	services = (
	$(service front tcp://127.0.0.1:$FRONT_PORT tcp://127.0.0.1:$TLS_A "$(by_tls g a)"),
	$(service back tcp://127.0.0.1:$TLS_G tcp://127.0.0.1:$NFS_PORT "$(for_tls g a b) mount = \"tcp://127.0.0.1:$MNT_PORT\";")
	);
END
cat >a.conf <<-END
	control = "$T/a.sock"; workers = 2;
	services = (
	$(service direct tcp://127.0.0.1:$DIRECT tcp://127.0.0.1:$TLS_G "$(by_tls a g)"),
	$(service nfs tcp://127.0.0.1:$TLS_A iwarp://127.0.0.1:$FABRIC_PORT "$(for_tls a g) $two $draft_a")
	);
END
cat >b.conf <<-END
	control = "$T/b.sock"; workers = 2;
	services = (
	$(service nfs iwarp://127.0.0.1:$FABRIC_PORT tcp://127.0.0.1:$TLS_G "$(by_tls b g) $draft_b")
	);
END
for side in g b a; do
	check "the file of $side is without mistake" "$PROXY" -t -c $side.conf
	start $side "$PROXY" -c $side.conf
done
serves g $FRONT_PORT $TLS_G && serves b $FABRIC_PORT && serves a $DIRECT $TLS_A || bail "a proxy does not start"

# ---------------------------------------------------------------- the same files

# url VERSION PORT [PATH]
url() { echo "nfs://127.0.0.1/export${3:-}?version=$1&nfsport=$2$([ "$1" = 4 ] || echo "&mountport=$2")"; }

start capture dumpcap -i lo -B 256 -w capture.pcapng \
	-f "tcp port $DIRECT or tcp port $FRONT_PORT or tcp port $TLS_A or tcp port $TLS_G"
wait_for 20 grep -q '^File:' capture.log || bail "dumpcap does not start: $(cat capture.log)"
for i in {1..2000}; do echo "line $i of a file that nobody else reads"; done >plain
cat "$PROXY" plain >file
for version in 3 4; do
	for port in $DIRECT $FRONT_PORT; do
		name=$version-$port
		check "NFSv$version at $port: a file is written" nfs_client "$(url $version $port)" put file $name
		check "… as it was" cmp file export/$name
		check "… and read" with_limit 60 nfs-cp "$(url $version $port /$name)" back-$name
		check "… as it was" cmp file back-$name
	done
done
quiet() { no_connections a && no_connections b && no_connections g; }
wait_for 20 quiet || bail "the clients are gone and their connections are not"
(exec 3<>/dev/tcp/127.0.0.1/$DIRECT && printf 'the end of it' >&3)
wait_for 20 grep -aq "the end of it" capture.pcapng || bail "dumpcap does not see the end"
stop capture INT

# ---------------------------------------------------------------- what the network has seen

# seen FILTER: how many frames
seen() { tshark -r capture.pcapng -2 -d tcp.port==$TLS_A,rpc -d tcp.port==$TLS_G,rpc -Y "$1" 2>>tshark.log | wc -l; }
# has_text PORT: how many segments of the connections to that port have a line of the file
has_text() { tshark -r capture.pcapng -Y "tcp.port == $1 && tcp contains \"that nobody else reads\"" 2>>tshark.log | wc -l; }
connected() { seen "tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.dstport == $1"; }

for port in $DIRECT $FRONT_PORT; do
	check "a capture has the file in clear at $port" [ "$(has_text $port)" -gt 0 ]
done
for port in $TLS_A $TLS_G; do
	check "… and not at $port" [ "$(has_text $port)" = 0 ]
	connections=$(connected $port)
	check "… where there were connections: $connections" [ "$connections" -gt 0 ]
	check "… each with one Call in clear, the probe" [ "$(seen "tcp.dstport == $port && rpc.msgtyp == 0")" = "$connections" ]
	check "… with the credential AUTH_TLS" [ "$(seen "tcp.dstport == $port && rpc.auth.flavor == 7")" = "$connections" ]
	check "… and one Reply" [ "$(seen "tcp.srcport == $port && rpc.msgtyp == 1")" = "$connections" ]
done

# ---------------------------------------------------------------- many at a time, and longer ones

for i in 1 2 3 4; do
	start writer$i nfs_client "$(url $((3 + i % 2)) $([ $i -gt 2 ] && echo $DIRECT || echo $FRONT_PORT))" write big-$i 40m $i 262144
done
for i in 1 2 3 4; do ends_well writer$i "writer $i of four finishes"; done
for i in 1 2 3 4; do
	check "… and all that it wrote is there" nfs_client "$(url $((3 + i % 2)) $FRONT_PORT)" verify big-$i 40m $i 262144
done
stop_proxy g
finish

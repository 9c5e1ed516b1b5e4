#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The output of rpcrdma-proxy -t about a file and the host. The program ends even if name servers do not answer.
. "$(dirname "$0")/lib.sh"
enter "$@"
needs_proxies
printf 'nameserver 127.0.0.2\n' >resolv.conf
echo 'hosts: files dns' >nsswitch.conf
echo '192.0.2.1 known.example' >hosts
for file in resolv.conf nsswitch.conf hosts; do
	mount --bind $file /etc/$file || bail "/etc/$file cannot be replaced"
done
# A cache of this machine would answer instead of the name servers.
[ ! -d /run/nscd ] || mount -t tmpfs tmpfs /run/nscd

# name_server MODE: restarts the name server 127.0.0.2 in that mode
name_server() {
	stop ns
	: >ns.log
	start ns "$BIN/name_server" 127.0.0.2 "$1"
	wait_for 10 grep -q ready ns.log || bail "the name server does not start"
}
# config GLOBAL SERVER...: writes a file with a service for each server
config() {
	local global=$1 port=$FRONT_PORT between='' server

	shift
	{
		printf '%s\nservices = (\n' "$global"
		for server in "$@"; do
			printf '%s  { name = "s%d"; listen = "tcp://127.0.0.1:%d"; connect = "rdma://%s"; }' \
				"$between" $((port - FRONT_PORT)) "$port" "$server"
			between=$',\n'
			port=$((port + 1))
		done
		printf '\n);\n'
	} >a.conf
}
# checked: -t finds no error, prints nothing else, and writes its warnings to `said`
checked() { with_limit 20 "$PROXY" -t -c a.conf >out 2>said && [ "$(cat out)" = "a.conf: OK" ]; }
says() { grep -qxF "a.conf:$1" said; }
silent() { [ ! -s said ]; }
# refused TEXT...: -t has these errors, and no other
refused() {
	! "$PROXY" -t -c a.conf >out 2>said && diff <(printf 'a.conf:%s\n' "$@") said
}

control="control = \"$T/a.sock\";"

printf 'services = (\n  { name = "a"; }\n  { name = "b"; }\n);\n' >a.conf
check "a missing comma is named, with its line" refused \
	'3: syntax error: a comma is missing between this service and the one before' '3:     { name = "b"; }'
printf 'workers = 2;\n@include "missing.conf"\n' >a.conf
check "so is a file that is not there" refused \
	'2: @include "missing.conf": cannot read missing.conf: No such file or directory'
printf '@include "."\n' >a.conf
check "a directory instead of a file is an error like others" refused '1: @include ".": cannot read .: not a file'

mkdir parts
printf '\n\nservices = (\n  { name = "part"; listen = "tcp://127.0.0.1:4000"; connect = "tcp://192.0.2.1"; max_connections = 360; } );\n' >parts/part.conf
echo "$control include_dir = \"$T/parts\"; services = ();" >a.conf
names_part() { with_limit 20 "$PROXY" -t -c a.conf 2>&1 >/dev/null | grep -c "^$T/parts/part.conf:4: warning: service part has max_connections" | grep -qx 1; }
check "a warning names the file of include_dir that it is about" names_part
config "$control" 192.0.2.1 known.example
check "a file for this host draws no warning" checked
check "… none at all" silent
# The last line is the same with -tv.
capacity() { with_limit 20 "$PROXY" "$@" -c a.conf >out 2>said && silent && [ "$(tail -n 1 out)" = "a.conf: OK" ]; }
check "with -tv it prints what the file comes to" capacity -tv
for what in 'memory: 1024 MiB for RPCs in flight' 'service s1: in addition, each connection uses up to' \
	'service s0: max_connections = "auto" is [0-9]+, by the (limit of descriptors|memory)' 'descriptors: [0-9]+ connections are guaranteed'; do
	check "… $what" grep -qE "^a.conf: $what" out
done
check "the order of the options does not matter" capacity -v -t

mkdir -p folder
touch folder/filer.cfg
echo "$control include_dir = \"$T/folder\"; services = ();" >a.conf
check "a folder without *.conf is checked" checked
check "… and warned of" says "1: warning: include_dir: $T/folder has no *.conf, so it adds no services; to use filer.cfg, give it a name that ends in .conf"
config "$control" 192.0.2.1:2049
check "a port of the other transport is checked" checked
check "… and warned of" says "3: warning: service s0: connect: rdma://192.0.2.1:2049 has the port of NFS over TCP: did you mean tcp://192.0.2.1:2049 or rdma://192.0.2.1:20049?"

name_server silent
# One after the other the lookups would take more than a minute on any machine.
config "$control" known.example files.example FILES.example other.example \
	name1.example name2.example name3.example name4.example name5.example name6.example \
	name7.example name8.example name9.example name10.example name11.example name12.example
started=$SECONDS
check "with a silent name server the check ends as well" checked
check "… after five seconds, not five for each: $((SECONDS - started)) s" test $((SECONDS - started)) -lt 30
check "… and names the service and its server's name" says \
	"4: warning: service s1: the name files.example does not resolve (no answer in 5 s): do the name servers answer? clients wait until it does"
check "… and the other" says \
	"6: warning: service s3: the name other.example does not resolve (no answer in 5 s): do the name servers answer? clients wait until it does"
check "… each name once" test "$(grep -c 'does not resolve' said)" = 14

# On a machine where the start takes as long as the time limit of an answer, the lookups must only have been sent.
name_server silent
started=$SECONDS
start a "$PROXY" -c a.conf
check "the daemon itself starts without an answer" serves a $FRONT_PORT
took=$((SECONDS - started))
waits_for_none() { [ $took -lt 5 ] || not grep -q query ns.log; }
check "… and does not wait for one: $took s" waits_for_none
stop_proxy a

stop ns
echo 'hosts: files' >nsswitch.conf
config "$control" files.example
check "an unknown name does not fail the check" checked
check "… and is warned of" says \
	"3: warning: service s0: the name files.example does not resolve (Name or service not known): is it right? clients wait until it does"

config "control = \"$T/nowhere/a.sock\";
memory_limit_mib = 1048576;" 192.0.2.1
check "a file that this host cannot do is checked" checked
check "… its control socket is in no directory" says \
	"1: warning: control: there is no directory $T/nowhere (No such file or directory): create it, or set control to another path"
check "… its limit is above the memory" \
	grep -q '^a.conf:1: warning: memory_limit_mib is 1048576, but this host has [0-9]* MiB of memory: lower it, or' said

config "$control" 0.0.0.0
check "a server without an address is checked" checked
check "… and warned of" says \
	"3: warning: service s0 connects to 0.0.0.0, which means this host itself: write the server's name or address"

config "$control" 192.0.2.1
few_descriptors() (ulimit -n 1000 && checked)
check "with few descriptors the file is checked" few_descriptors
check "… and a service has as many clients as they allow, without a warning" silent
sed -i 's/connect =/max_connections = 1024; connect =/' a.conf
check "with a number above them it is checked, too" few_descriptors
check "… and the limit named" grep -q '^a.conf:1: warning: .*max_connections.*LimitNOFILE.*ulimit -n' said
finish

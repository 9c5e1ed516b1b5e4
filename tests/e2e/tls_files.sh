#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The TLS files of a service: what -t and the start say of them, what a reload does with them, and that no key is in the
# archive for support.
# shellcheck disable=SC2034
. "$(dirname "$0")/lib.sh"
enter "$@"
chooses_dialect
needs_proxies
command -v openssl >/dev/null || bail "openssl is missing"

new_key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
openssl req -x509 "${new_key[@]}" -subj /CN=ca -days 3650 -keyout ca.key -out ca.pem 2>openssl.log
# certificate NAME DAYS [SAN]: NAME.pem and NAME.key
certificate() {
	openssl req "${new_key[@]}" -subj "/CN=$1" -addext "subjectAltName=${3:-IP:127.0.0.1}" -keyout "$1.key" -out "$1.csr" &&
		openssl x509 -req -in "$1.csr" -copy_extensions copyall -CA ca.pem -CAkey ca.key -days "$2" -out "$1.pem"
} 2>openssl.log

certificate a 100 && certificate old -1 && certificate late 5 && certificate named 100 DNS:nfs.example.net ||
	bail "openssl makes no certificate: $(cat openssl.log)"
A_SERVICE="tls = \"allowed\"; tls_cert_file = \"$T/a.pem\"; tls_key_file = \"$T/a.key\";"

# use NAME: the daemon's files are these from now on
use() { cat "$1.pem" >a.pem.new && mv a.pem.new a.pem && cp "$1.key" a.key; }
cp a.pem first.pem && cp a.key first.key
proxy_config a >a.conf

# checked: -t finds no error, and writes its warnings to `said`
checked() { with_limit 20 "$PROXY" -t -c "$T/a.conf" >out 2>said && [ "$(cat out)" = "$T/a.conf: OK" ] || { cat out said; false; }; }
silent() { ! grep tls said; }
warns() { grep -qF -- "$1" said || { cat said; false; }; }
# ends STATUS TEXT OPTION...: the daemon ends with that status and says so
ends() {
	local status=$1 text=$2

	shift 2
	with_limit 20 "$PROXY" "$@" -c "$T/a.conf" >out 2>said
	[ $? = "$status" ] && grep -qF -- "$text" said || { cat out said; false; }
}

check "-t accepts a pair" checked
check "… and warns of nothing" silent
with_limit 20 "$PROXY" -tv -c "$T/a.conf" >with 2>/dev/null
A_SERVICE='' proxy_config a >a.conf
with_limit 20 "$PROXY" -tv -c "$T/a.conf" >without 2>/dev/null
used() { sed -n 's/.*service nfs: in addition, each connection uses up to \([0-9.]*\) MiB.*/\1/p' "$1"; }
check "-tv counts the memory of TLS" eval '[ "$(used with)" != "$(used without)" ] && [ -n "$(used with)" ]'
proxy_config a >a.conf

use late
check "-t accepts a certificate that ends in five days" checked
check "… with a warning" warns "service nfs: tls_cert_file: the certificate in $T/a.pem expires at "
use named
check "-t accepts a certificate for another name" checked
check "… with a warning" warns "service nfs: tls_cert_file: the certificate in $T/a.pem is not for 127.0.0.1: clients can only mount by"
chmod 644 a.key
check "-t accepts a key that others can read" checked
check "… with a warning" warns "service nfs: tls_key_file: every user of this host can read the key in $T/a.key: chmod o-r $T/a.key"
chmod 600 a.key
# root reads every file, and the daemon's user does not. Within a user namespace there is no other user.
{ cat /etc/passwd; echo 'rpcrdma-proxy:x:64998:64998::/:/usr/sbin/nologin'; } >passwd
if can_open_by_handle && mount --bind passwd /etc/passwd; then
	check "-t by root accepts a key that the daemon's user cannot read" checked
	check "… with a warning" \
		warns "service nfs: tls_key_file: user rpcrdma-proxy, which runs the daemon, cannot read $T/a.key (Permission denied)"
	umount /etc/passwd
fi
use old
check "a certificate that has ended is an error" ends 1 "expired" -t
cp ca.key a.key
check "so is a key of another one" ends 1 "$T/a.key" -t
rm a.key
check "so is a file that is not there" ends 1 "service nfs: tls_key_file: cannot read $T/a.key: No such file or directory" -t
# Not 78: systemd starts it again, until the file is there.
check "the daemon does not start then, and may be started again" ends 1 "tls_key_file: cannot read $T/a.key: No such file or directory"
check "… and says that the file of the configuration is good" grep -q "not started: the configuration cannot be used now" said

use first
start_proxy b
start_proxy a
check "the daemon starts" alive a
check "config prints the keys" eval "ctl a config | grep -qF '    tls_key_file = \"$T/a.key\";'"

reload_count=0
# reloaded: SIGHUP was followed by a further reload
reloaded() { [ "$(grep -c 'reloaded: services kept 2' a.log)" = $reload_count ]; }
hangup() { reload_count=$((reload_count + 1)); kill -HUP "${pid_of[a]}"; wait_for 30 reloaded; }
check "SIGHUP with the same files" hangup
check "… changes nothing" eval "! logged a 'TLS files have changed'"
certificate first 200 && use first
check "SIGHUP with a renewed certificate" hangup
check "… uses it for new connections, and says until when it is valid" \
	grep -q "nfs: its TLS files have changed: new connections use them; the certificate is valid until 20" a.log
certificate first 300 && use first
check "the command does so too, and says for which services" eval "ctl a reload | grep -qx 'changed TLS files: nfs, mount'"
reload_count=$((reload_count + 1))
cp ca.key a.key
# rejected: the reload command fails and names the file
rejected() { ctl a reload >said 2>&1; [ $? = 1 ] && grep -qF "$T/a.key" said && grep -q "nothing has changed" said || { cat said; false; }; }
check "a key of another certificate is rejected" rejected
kill -HUP "${pid_of[a]}"
check "… by SIGHUP too, in the log" wait_for 30 logged_lines a 2 "not reloaded, nothing has changed"
use first
check "… and what the daemon had is what is there now" eval "ctl a reload | grep -c 'changed TLS files' | grep -qx 0"

# What systemd would say is not this host's business.
mkdir bin
printf '#!/bin/sh\ntrue\n' | tee bin/journalctl bin/systemctl >/dev/null
chmod +x bin/*
support() { PATH=$T/bin:$PATH "$CTL" -c "$T/a.conf" support "$T/x.tar.gz"; }
check "an archive for support" support
check "… has the names of the files" eval "tar -xzOf x.tar.gz --wildcards '*/rpcrdma-proxy.conf' | grep -qF 'tls_key_file = \"$T/a.key\"'"
no_key() { ! tar -xzOf x.tar.gz | grep -aF -e "-----BEGIN" -e "$(sed -n 2p a.key)" -e "$(sed -n 2p a.pem)"; }
check "… and neither a key nor a certificate" no_key
check "… nor a file of that name" eval "! tar -tzf x.tar.gz | grep -E 'pem|\.key'"
finish

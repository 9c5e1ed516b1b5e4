#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Rows over the userspace iWARP fabric: the proxies run on the host, the kernel's client and server here.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"

guest_start
server_start
say "# kernel $(uname -r), $(/usr/sbin/mount.nfs -V)"

host_row tcp-iwarp tcp://10.0.2.2:2101 iwarp://10.0.2.15:20049
host_row iwarp-tcp iwarp://10.0.2.2:2102 tcp://10.0.2.15:2049
host_row iwarp-ganesha iwarp://10.0.2.2:2103 tcp://127.0.0.1:2149

# The race that siw has between its accept and the first message (its reply comes before it listens).
fresh() {
	host null 2101 200 1000
}

judged "200 fresh connections, tcp=>iwarp, knfsd over siw: each answered within a second" fresh
for version in $(versions 4.2 3); do
	judged "tcp client, tcp=>iwarp, knfsd over siw, $version" through host tcp-iwarp "$version" 10.0.2.2 2101 tcp
done
for version in $(versions 4.1 3); do
	judged "siw client, iwarp=>tcp, knfsd with secure exports, $version" \
		through host iwarp-tcp "$version" 10.0.2.2 2102 rdma
done
for version in $(versions 4.2); do
	# NFS-Ganesha 4.3 has no user xattrs on its VFS, and who opens its files here does not recall delegations.
	NFS4_PATH=/export NFS3_PATH=/export FOREIGN_SERVER=yes \
		judged "siw client, iwarp=>tcp, NFS-Ganesha, $version" \
		through host iwarp-ganesha "$version" 10.0.2.2 2103 rdma 10.0.2.2 20148
done
JUDGE=-k judged "tcp client, tcp=>iwarp, knfsd over siw, 4.2: the proxy is killed under load" \
	survives proxy host tcp-iwarp 4.2 10.0.2.2 2101 tcp
JUDGE=-k judged "siw client, iwarp=>tcp, knfsd, 4.1: the proxy is killed under load" \
	survives proxy host iwarp-tcp 4.1 10.0.2.2 2102 rdma
JUDGE=-k judged "tcp client, tcp=>iwarp, knfsd over siw, 4.1: the server is restarted under load" \
	survives server host tcp-iwarp 4.1 10.0.2.2 2101 tcp
verdicts_all
say done

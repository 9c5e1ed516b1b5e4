#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Test programs of the NFS community. Each runs directly (the kernel's client mounts the kernel's server) and through a
# proxy, with the same transport for the client. The lists of results must be equal, except for the differences in
# community.known.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"
. "$(dirname "$0")/rows.sh"
. "$(dirname "$0")/differences.sh"

guest_start
server_start
say "# kernel $(uname -r); $(community_versions)"
host_row tcp-iwarp tcp://10.0.2.2:2101 iwarp://10.0.2.15:20049
host_row iwarp-tcp iwarp://10.0.2.2:2102 tcp://10.0.2.15:2049
community_missing
for version in 4.2 3; do
	for program in "${programs[@]}"; do
		row "$program, tcp client, tcp=>iwarp, knfsd over siw, $version: as directly" \
			as_directly "$program" "$version" host tcp-iwarp 10.0.2.2 2101 tcp
		row "$program, siw client, iwarp=>tcp, knfsd, $version: as directly" \
			as_directly "$program" "$version" host iwarp-tcp 10.0.2.2 2102 rdma
	done
done
libnfs_rows
verdicts_all
row "the server's file system is consistent" export_consistent
say done

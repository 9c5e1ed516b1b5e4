#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The laboratory without a proxy: the kernel's client mounts the kernel's server over RDMA.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/workload.sh"

direct() {
	nfs_mount "$1" "$2" 20049 rdma
	work_short "$1"
	mount_clean
	umount /mnt/n
}

guest_start
guest_rxe
server_start
row "direct siw 4.2" direct 4.2 10.0.2.15
row "direct siw 3" direct 3 10.0.2.15
row "direct rxe 4.1" direct 4.1 10.9.0.1
say done

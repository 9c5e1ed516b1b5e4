#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes and lists a directory of 10,000 entries, over NFSv3 and NFSv4.0.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain

mkdir -m 777 export/three export/four
check "NFSv3 makes 2,000 files" nfs_client "$V3" fill three 2000
(cd export/three && printf 'entry-%05d\n' {2000..9999} | xargs touch)
check "NFSv3 lists 10,000 entries, each once" nfs_client "$V3" list three 10000
check "NFSv4.0 lists the same" nfs_client "$V4" list three 10000
check "NFSv4.0 makes 2,000 files" nfs_client "$V4" fill four 2000
check "NFSv3 lists them" nfs_client "$V3" list four 2000
finish

#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes 200 MB and reads them back unchanged, over NFSv3 and NFSv4.0.
. "$(dirname "$0")/lib.sh"
enter "$@"
start_ganesha
start_chain

check "NFSv3 writes 200 MB" nfs_client "$V3" write three 200m 3 1m
check "the server holds what was written over NFSv3" [ "$(stat -c %s export/three)" = 209715200 ]
check "NFSv3 reads 200 MB back bit for bit" nfs_client "$V3" verify three 200m 3 1m
check "NFSv4.0 reads what NFSv3 wrote" nfs_client "$V4" verify three 200m 3 1m
rm -f export/three
check "NFSv4.0 writes 200 MB" nfs_client "$V4" write four 200m 4 256k
check "NFSv4.0 reads 200 MB back bit for bit" nfs_client "$V4" verify four 200m 4 1m
check "NFSv3 reads what NFSv4.0 wrote" nfs_client "$V3" verify four 200m 4 64k
finish

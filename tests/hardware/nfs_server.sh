#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# nfs_server.sh BUILD DIR: starts an NFS-Ganesha that exports DIR as /export, in the current network namespace; prints
# "ready".
# shellcheck disable=SC1091,SC2034,SC2086,SC2154 # what lib.sh uses and sets
set -u
E2E_BUILD=$1 dir=$2
E2E_INSIDE=1
. "$(dirname "$0")/../e2e/lib.sh"
enter
mkdir -p $T/export && mount --bind "$dir" $T/export || exit 1
start_ganesha
# Without a grace period the first client need not wait.
echo ready
wait "${pid_of[ganesha]}"

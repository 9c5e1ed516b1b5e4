#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# results.sh FILE DIR TIER RESULT...: writes the record of a full run. A RESULT is "ok|ROW # SECONDS s" or "not ok|ROW".
set -eu
file=$1 dir=$2 tier=$3
shift 3
{
	echo "# What the laboratory found"
	echo
	echo "Written by \`tests/lab/run.sh --$tier\` on $(date -u +%F)."
	echo
	echo "Kernel $(cat "$dir/cache/kver") as client and server ($(mount.nfs -V 2>&1 | sed 's/.*(\(.*\))/\1/'))," \
		"NFS-Ganesha $(ganesha.nfsd -v 2>&1 | sed -n 's/.*= *V\?\([0-9.]*\).*/\1/p' | head -1)," \
		"libnfs $(dpkg-query -W -f '${Version}' libnfs-utils 2>/dev/null || echo of this machine)," \
		"rdma-core $(dpkg-query -W -f '${Version}' rdma-core 2>/dev/null || echo of this machine)."
	echo "Guests are emulated: times tell that rows ran, not how fast anything is."
	echo
	echo "| row | result | seconds |"
	echo "|---|---|---|"
	for result; do
		row=${result#*|} seconds=-
		case $row in
		*" # SKIP"*) echo "| ${row%% # SKIP*} | skipped | - |"; continue ;;
		*" # "*" s") seconds=${row##* # } row=${row% # *} ;;
		esac
		echo "| $row | ${result%%|*} | ${seconds% s} |"
	done
} >"$file"

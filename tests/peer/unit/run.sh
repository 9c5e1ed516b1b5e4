#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the unit tests of the peer, or those of the modules that are named, in TAP:
#
#	tests/peer/unit/run.sh [MODULE...]
#
# rpcgen's second opinion is looked for in the build directory: builddir, else build.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
builddir=${builddir:-$here/../../../build}
export builddir
exec python3 -B "$here/tap.py" "$@"

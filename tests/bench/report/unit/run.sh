#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs the unit tests of the report, in TAP.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
exec python3 -B "$here/run.py"

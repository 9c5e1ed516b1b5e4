#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two legs change their receive sizes under traffic, over iwarp on loopback. A guest of the laboratory runs the same
# test over its devices. TAP.
exec "${builddir:-.}/tests/lab/fabric_pair" iwarp 127.0.0.1 sizes 10

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Receives of two legs change their sizes under traffic, over iwarp on loopback; a guest of the laboratory runs the
# same over its devices. TAP.
exec "${builddir:-.}/tests/lab/fabric_pair" iwarp 127.0.0.1 sizes 10

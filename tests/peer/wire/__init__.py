# SPDX-License-Identifier: BSD-3-Clause
"""Bytes to values and back, without sockets, clocks or state; big-endian but for MPA's CRC.

What a document forbids can be encoded all the same: a peer that tests others must be able to
send it. Decoders raise.
"""

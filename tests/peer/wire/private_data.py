# SPDX-License-Identifier: BSD-3-Clause
"""The private data of a connection: draft-ietf-nfsv4-rpcrdma-cm-pvt-data-05, RFC 8797."""

import struct
from dataclasses import dataclass

IDENTIFIER = 0xf6ab0e18
INVALIDATE = 0x01
BYTES = 8


@dataclass
class PrivateData:
    """Sizes are multiples of 1024 up to 262144; `reserved` are the other bits of the flags."""

    invalidate: bool
    send_bytes: int
    recv_bytes: int
    version: int = 1
    reserved: int = 0


def _size(count):
    if not 1024 <= count < 257 * 1024:
        raise ValueError(f"private data cannot say {count} bytes")
    return count // 1024 - 1


def encode(data):
    """The eight octets; sizes are rounded down."""
    flags = data.reserved & ~INVALIDATE | (INVALIDATE if data.invalidate else 0)
    return struct.pack(">IBBBB", IDENTIFIER, data.version, flags, _size(data.send_bytes),
                       _size(data.recv_bytes))


def find(data):
    """Where the eight octets begin, or None: RFC 8797 section 5.2.

    What begins with the identifier is judged there; else the first place counts that has version one.
    """
    ident = IDENTIFIER.to_bytes(4, 'big')
    if data[:4] == ident:
        return 0 if len(data) >= BYTES and data[4] == 1 else None
    at = data.find(ident + b'\1')
    return at if 0 <= at <= len(data) - BYTES else None


def decode(data):
    """A PrivateData, or None where nothing conforming was received (section 4.1)."""
    at = find(data)
    if at is None:
        return None
    _ident, version, flags, send, recv = struct.unpack_from(">IBBBB", data, at)
    return PrivateData(bool(flags & INVALIDATE), (send + 1) * 1024, (recv + 1) * 1024, version,
                       flags & ~INVALIDATE)

# SPDX-License-Identifier: BSD-3-Clause
"""XDR as RFC 4506 has it: a reader that never reads past its end, and functions that pack."""

import struct


class XdrError(ValueError):
    """The bytes are not the XDR that was expected; `at` is where."""

    def __init__(self, reason, at=0):
        super().__init__(f"{reason} at byte {at}")
        self.reason = reason
        self.at = at


class Reader:
    """Takes values from the front of bytes; `at` is how far it has come."""

    def __init__(self, data):
        self.data = bytes(data)
        self.at = 0

    @property
    def left(self):
        """How many bytes have not been taken."""
        return len(self.data) - self.at

    def fixed(self, count):
        """`count` bytes as they are, without padding."""
        if count > self.left:
            raise XdrError(f"{count} bytes needed, {self.left} left", self.at)
        self.at += count
        return self.data[self.at - count:self.at]

    def u32(self):
        """An unsigned integer, or an enum that the caller judges."""
        return int.from_bytes(self.fixed(4), "big")

    def u64(self):
        """An unsigned hyper integer."""
        return int.from_bytes(self.fixed(8), "big")

    def boolean(self):
        """A bool, which is 0 or 1 and nothing else."""
        value = self.u32()
        if value > 1:
            raise XdrError(f"a bool is {value}", self.at - 4)
        return value == 1

    def opaque(self, count):
        """Opaque data of a fixed length, and the zeros that pad it."""
        start = self.at
        data = self.fixed(count)
        try:
            pad = self.fixed(-count % 4)
        except XdrError:
            self.at = start
            raise
        if any(pad):
            raise XdrError("padding is not zero", start + count)
        return data

    def var(self, limit=None):
        """Opaque data behind its length, of at most `limit` bytes."""
        count = self.u32()
        if limit is not None and count > limit:
            raise XdrError(f"{count} bytes where {limit} are allowed", self.at - 4)
        return self.opaque(count)

    def string(self, limit=None):
        """A string, which XDR has in ASCII; other bytes stay as surrogates."""
        return self.var(limit).decode("ascii", "surrogateescape")

    def rest(self):
        """All that is left."""
        return self.fixed(self.left)

    def end(self):
        """Nothing may be left."""
        if self.left:
            raise XdrError(f"{self.left} bytes too many", self.at)


def u32(value):
    """An unsigned integer or an enum."""
    return struct.pack(">I", value)


def u64(value):
    """An unsigned hyper integer."""
    return struct.pack(">Q", value)


def boolean(value):
    """A bool."""
    return u32(1 if value else 0)


def opaque(data):
    """Opaque data of a fixed length, padded with zeros."""
    return bytes(data) + bytes(-len(data) % 4)


def var(data):
    """Opaque data or a string behind its length, padded with zeros."""
    if isinstance(data, str):
        data = data.encode("ascii", "surrogateescape")
    return u32(len(data)) + opaque(data)

# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of XDR types (RFC 4506), from which both ends of a protocol encode and decode.

A shape packs a value to bytes and unpacks one from a Reader. Values of structures are
namespaces; what is missing from one when it is packed is None, which `optional` packs as absent.
"""
from collections import namedtuple
from types import SimpleNamespace

from wire import xdr

Shape = namedtuple("Shape", "pack unpack")

VOID = Shape(lambda value: b"", lambda reader: None)
U32 = Shape(xdr.u32, lambda reader: reader.u32())
U64 = Shape(xdr.u64, lambda reader: reader.u64())
BOOL = Shape(xdr.boolean, lambda reader: reader.boolean())
OPAQUE = Shape(xdr.var, lambda reader: reader.var())
REST = Shape(bytes, lambda reader: reader.rest())


class Structure:
    """Fields one after the other."""

    def __init__(self, **fields):
        self.fields = fields

    def pack(self, value):
        """The bytes of the fields of a namespace."""
        return b"".join(shape.pack(getattr(value, name, None))
                        for name, shape in self.fields.items())

    def unpack(self, reader):
        """A namespace of the fields."""
        return SimpleNamespace(**{name: shape.unpack(reader)
                                  for name, shape in self.fields.items()})

    def values(self, *args, **named):
        """A namespace with the fields given, in their order or by name."""
        if len(args) > len(self.fields) or not set(named) <= set(self.fields):
            raise TypeError("no such field among " + ", ".join(self.fields))
        return SimpleNamespace(**dict(zip(self.fields, args)), **named)


class Result:
    """A union by status: one structure for success, one for every failure."""

    def __init__(self, ok, fail):
        self.arms = {True: ok, False: fail}

    def arm(self, status):
        """The structure that follows this status."""
        return self.arms[status == 0]

    def pack(self, value):
        """The bytes of a namespace that has `status` among its fields."""
        return xdr.u32(value.status) + self.arm(value.status).pack(value)

    def unpack(self, reader):
        """A namespace of the status and of the fields that follow it."""
        status = reader.u32()
        value = self.arm(status).unpack(reader)
        value.status = status
        return value


def fixed(size):
    """Opaque bytes of a length that is known."""
    def pack(value):
        if len(value) != size:
            raise ValueError(f"{len(value)} bytes where {size} belong")
        return xdr.opaque(value)
    return Shape(pack, lambda reader: reader.opaque(size))


def limited(limit):
    """Opaque bytes of at most a length; more can be packed, not unpacked."""
    return Shape(xdr.var, lambda reader: reader.var(limit))


def optional(shape):
    """A value or None."""
    def pack(value):
        return xdr.boolean(False) if value is None else xdr.boolean(True) + shape.pack(value)
    return Shape(pack, lambda reader: shape.unpack(reader) if reader.boolean() else None)


def chain(shape):
    """A list in which each element says that it is there (XDR's linked list)."""
    def pack(values):
        packed = (xdr.boolean(True) + shape.pack(value) for value in values or ())
        return b"".join(packed) + xdr.boolean(False)

    def unpack(reader):
        values = []
        while reader.boolean():
            values.append(shape.unpack(reader))
        return values
    return Shape(pack, unpack)


def counted(shape):
    """A list that begins with its length."""
    def pack(values):
        return xdr.u32(len(values)) + b"".join(map(shape.pack, values))

    def unpack(reader):
        return [shape.unpack(reader) for _ in range(reader.u32())]
    return Shape(pack, unpack)


def whole(shape, data):
    """The value of bytes that hold it and nothing else."""
    reader = xdr.Reader(data)
    value = shape.unpack(reader)
    reader.end()
    return value

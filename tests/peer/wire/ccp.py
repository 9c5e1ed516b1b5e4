# SPDX-License-Identifier: BSD-3-Clause
"""The Connection Configuration Protocol: draft-ietf-nfsv4-rpcrdma-03 section 6.2.

The draft has no program number; RFC 5666 was given the one here.
"""

import struct
from dataclasses import astuple, dataclass

from wire import xdr

PROGRAM = 100417
VERSION = 1
CONF_RDMA = 1


@dataclass
class Args:
    """What a client says of itself."""

    maxcall_sendsize: int
    maxreply_sendsize: int
    maxrdmaread: int


@dataclass
class Results:
    """What a server says of itself."""

    maxcall_sendsize: int
    align: int
    maxrdmaread: int


def _decode(kind, data):
    reader = xdr.Reader(data)
    found = kind(reader.u32(), reader.u32(), reader.u32())
    reader.end()
    return found


def encode_args(args):
    """The arguments of CONF_RDMA."""
    return struct.pack(">III", *astuple(args))


def decode_args(data):
    """The Args of a Call of CONF_RDMA."""
    return _decode(Args, data)


def encode_results(results):
    """The results of CONF_RDMA."""
    return struct.pack(">III", *astuple(results))


def decode_results(data):
    """The Results of a Reply to CONF_RDMA."""
    return _decode(Results, data)

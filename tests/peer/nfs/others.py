# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of two Calls of other programs that have several opaques: SETACL of NFSACL, which no
document describes, and COMPOUND of NFSv4.0 (RFC 7530) with a few operations.
"""
from types import SimpleNamespace

from nfs.shapes import OPAQUE, Shape, Structure, U32, U64, VOID, counted, fixed, limited
from nfs.nfs3 import FH
from wire import xdr

ACL_PROGRAM, ACL_VERSION, SETACL = 100227, 3, 2
NFS4, COMPOUND = 4, 1
PUTFH, PUTROOTFH, LOOKUP, WRITE = 22, 24, 15, 38
STATEID_BYTES = 16

_ACE = Structure(type=U32, id=U32, perm=U32)
SETACL_ARGS = Structure(fh=FH, mask=U32, count=U32, acl=counted(_ACE), default_count=U32,
                        default=counted(_ACE))

_OPERATIONS = {
    PUTROOTFH: VOID,
    PUTFH: limited(128),
    LOOKUP: OPAQUE,
    WRITE: Structure(stateid=fixed(STATEID_BYTES), offset=U64, stable=U32, data=OPAQUE),
}


def _pack_operation(value):
    number, args = value
    return xdr.u32(number) + _OPERATIONS[number].pack(args)


def _unpack_operation(reader):
    number = reader.u32()
    if number not in _OPERATIONS:
        raise xdr.XdrError(f'operation {number}', reader.at - 4)
    return number, _OPERATIONS[number].unpack(reader)


COMPOUND_ARGS = Structure(tag=OPAQUE, minor=U32,
                          operations=counted(Shape(_pack_operation, _unpack_operation)))


def setacl(fh, entries):
    """The arguments of SETACL: (type, id, permissions) of each entry."""
    acl = [_ACE.values(*entry) for entry in entries]
    return SETACL_ARGS.pack(SETACL_ARGS.values(fh, 1, len(acl), acl, 0, []))


def compound_write(tag, fh, name, data):
    """The arguments of a COMPOUND: PUTFH, LOOKUP, WRITE."""
    write = SimpleNamespace(stateid=bytes(STATEID_BYTES), offset=0, stable=2, data=data)
    operations = [(PUTFH, fh), (LOOKUP, name), (WRITE, write)]
    return COMPOUND_ARGS.pack(COMPOUND_ARGS.values(tag, 0, operations))

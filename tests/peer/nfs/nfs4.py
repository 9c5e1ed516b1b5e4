# SPDX-License-Identifier: BSD-3-Clause
"""NFS version 4.1 (RFC 8881), as far as scenarios need it: operations of COMPOUND, for both ends.

    compound(op(SEQUENCE, ...), op(PUTFH, fh=fh), op(READ, ...))

gives the arguments of a Call, results(data) what its Reply says. Of the results of OPEN and EXCHANGE_ID only what
comes first is looked at, so each must be the last operation of its COMPOUND.
"""
from types import SimpleNamespace

from nfs.shapes import BOOL, OPAQUE, REST, Structure, U32, U64, chain, counted, fixed
from wire import xdr

PROGRAM, VERSION, COMPOUND, MINOR = 100003, 4, 1, 1
CLOSE, CREATE, GETATTR, GETFH, LOOKUP, OPEN, PUTFH, PUTROOTFH, READ, READDIR, REMOVE, WRITE = (
    4, 6, 9, 10, 15, 18, 22, 24, 25, 26, 28, 38)
EXCHANGE_ID, CREATE_SESSION, DESTROY_SESSION, SEQUENCE, DESTROY_CLIENTID, RECLAIM_COMPLETE = (
    42, 43, 44, 53, 57, 58)
NAMES = {number: name for name, number in list(globals().items()) if name.isupper() and isinstance(number, int)
         and name not in ('PROGRAM', 'VERSION', 'COMPOUND', 'MINOR')}

OK, NOENT, NOTDIR, DELAY, MINOR_VERS_MISMATCH, SEQ_MISORDERED = 0, 2, 20, 10008, 10021, 10063
DIRECTORY = 2
SHARE_BOTH, NO_DELEGATION = 3, 0x400
OPEN_CREATE, UNCHECKED, CLAIM_NULL = 1, 0, 0
FILE_SYNC = 2
ANONYMOUS = bytes(16)               # the state of who has not opened a file
ATTR_MODE = 33

_BITMAP = counted(U32)
_STATEID = fixed(16)
_SESSION = fixed(16)
_ATTR = Structure(mask=_BITMAP, values=OPAQUE)
_CHANGE = Structure(atomic=BOOL, before=U64, after=U64)
_CHANNEL = Structure(pad=U32, request=U32, response=U32, cached=U32, operations=U32, requests=U32,
                     ird=counted(U32))
_IMPLEMENTATION = Structure(domain=OPAQUE, name=OPAQUE, seconds=U64, nseconds=U32)
_ENTRY = Structure(cookie=U64, name=OPAQUE, attr=_ATTR)
_NOTHING = Structure()
_NAME = Structure(name=OPAQUE)

ARGS = {
    CLOSE: Structure(sequence=U32, stateid=_STATEID),
    CREATE: Structure(type=U32, name=OPAQUE, attr=_ATTR),      # of a directory
    GETATTR: Structure(wanted=_BITMAP),
    GETFH: _NOTHING,
    LOOKUP: _NAME,
    OPEN: Structure(sequence=U32, access=U32, deny=U32, client=U64, owner=OPAQUE, create=U32, mode=U32,
                    attr=_ATTR, claim=U32, name=OPAQUE),
    PUTFH: Structure(fh=OPAQUE),
    PUTROOTFH: _NOTHING,
    READ: Structure(stateid=_STATEID, offset=U64, count=U32),
    READDIR: Structure(cookie=U64, verf=fixed(8), dircount=U32, maxcount=U32, wanted=_BITMAP),
    REMOVE: _NAME,
    WRITE: Structure(stateid=_STATEID, offset=U64, stable=U32, data=OPAQUE),
    EXCHANGE_ID: Structure(verifier=fixed(8), owner=OPAQUE, flags=U32, protect=U32,
                           impl=counted(_IMPLEMENTATION)),
    CREATE_SESSION: Structure(client=U64, sequence=U32, flags=U32, fore=_CHANNEL, back=_CHANNEL, program=U32,
                              security=counted(U32)),          # of AUTH_NONE
    DESTROY_SESSION: Structure(session=_SESSION),
    SEQUENCE: Structure(session=_SESSION, sequence=U32, slot=U32, highest=U32, cache=BOOL),
    DESTROY_CLIENTID: Structure(client=U64),
    RECLAIM_COMPLETE: Structure(one=BOOL),
}
RESULTS = {
    CLOSE: Structure(stateid=_STATEID),
    CREATE: Structure(change=_CHANGE, mask=_BITMAP),
    GETATTR: Structure(attr=_ATTR),
    GETFH: Structure(fh=OPAQUE),
    LOOKUP: _NOTHING,
    OPEN: Structure(stateid=_STATEID, rest=REST),
    PUTFH: _NOTHING,
    PUTROOTFH: _NOTHING,
    READ: Structure(eof=BOOL, data=OPAQUE),
    READDIR: Structure(verf=fixed(8), entries=chain(_ENTRY), eof=BOOL),
    REMOVE: Structure(change=_CHANGE),
    WRITE: Structure(count=U32, committed=U32, verf=fixed(8)),
    EXCHANGE_ID: Structure(client=U64, sequence=U32, flags=U32, protect=U32, rest=REST),
    CREATE_SESSION: Structure(session=_SESSION, sequence=U32, flags=U32, fore=_CHANNEL, back=_CHANNEL),
    DESTROY_SESSION: _NOTHING,
    SEQUENCE: Structure(session=_SESSION, sequence=U32, slot=U32, highest=U32, target=U32, status=U32),
    DESTROY_CLIENTID: _NOTHING,
    RECLAIM_COMPLETE: _NOTHING,
}


def attributes(mode=None):
    """The attributes that something is made with: a mode, or none."""
    if mode is None:
        return SimpleNamespace(mask=[], values=b'')
    return SimpleNamespace(mask=[0, 1 << ATTR_MODE - 32], values=xdr.u32(mode))


def channel(requests):
    """What a session is to hold: so many requests at once, of a MiB and some."""
    size = (1 << 20) + 4096
    return SimpleNamespace(pad=0, request=size, response=size, cached=4096, operations=16, requests=requests,
                           ird=[])


def op(number, **values):
    """The bytes of one operation."""
    return xdr.u32(number) + ARGS[number].pack(SimpleNamespace(**values))


def compound(*operations):
    """The arguments of COMPOUND."""
    return xdr.var(b'') + xdr.u32(MINOR) + xdr.u32(len(operations)) + b''.join(operations)


def decode_args(data):
    """(minor version, [(number, arguments)]) of a COMPOUND; XdrError if it is none, or has unknown operations."""
    reader = xdr.Reader(data)
    reader.var()
    minor, found = reader.u32(), []
    for _ in range(reader.u32()):
        number = reader.u32()
        if number not in ARGS:
            raise xdr.XdrError(f'operation {number}', reader.at - 4)
        found.append((number, ARGS[number].unpack(reader)))
    reader.end()
    return minor, found


def results(data):
    """(status, [(number, status, result)]) of a COMPOUND; the last one may have failed, and has no result then."""
    reader = xdr.Reader(data)
    whole = reader.u32()
    reader.var()
    found = []
    for _ in range(reader.u32()):
        number, status = reader.u32(), reader.u32()
        if number not in RESULTS:
            raise xdr.XdrError(f'operation {number}', reader.at - 8)
        found.append((number, status, None if status else RESULTS[number].unpack(reader)))
    reader.end()
    return whole, found


def encode_results(status, operations):
    """The bytes of results: [(number, status, result as a namespace)]."""
    parts = [xdr.u32(status), xdr.var(b''), xdr.u32(len(operations))]
    for number, each, value in operations:
        parts += [xdr.u32(number), xdr.u32(each), b'' if each else RESULTS[number].pack(value)]
    return b''.join(parts)


def args_payload(data):
    """(position, length) of the data of the first WRITE, which may be missing, or None: RFC 8267 section 6.1."""
    reader = xdr.Reader(data)
    reader.var()
    if reader.u32() != MINOR:
        return None
    for _ in range(reader.u32()):
        number = reader.u32()
        if number == WRITE:
            reader.fixed(16 + 8 + 4)
            size = reader.u32()
            return reader.at, size
        if number not in ARGS:
            return None
        ARGS[number].unpack(reader)
    return None


def results_limit(data):
    """How long the results of these arguments can get; XdrError if they are none."""
    most = 16
    for number, values in decode_args(data)[1]:
        most += {READ: getattr(values, 'count', 0) + 16, READDIR: getattr(values, 'maxcount', 0) + 16,
                 EXCHANGE_ID: 3000}.get(number, 160)
    return most


def result_payload(data):
    """The same of the first READ's result."""
    reader = xdr.Reader(data)
    if reader.u32():
        return None
    reader.var()
    for _ in range(reader.u32()):
        number, _status = reader.u32(), reader.u32()
        if number == READ:
            reader.boolean()
            size = reader.u32()
            return reader.at, size
        if number not in RESULTS:
            return None
        RESULTS[number].unpack(reader)
    return None

# SPDX-License-Identifier: BSD-3-Clause
"""The upper-layer binding of NFSv3 (RFC 8267 section 3): which bytes of a message may be moved to chunks.

A place is (offset of the data in the RPC message, its length without XDR pad). What it does not know it has
nothing to say of: None.
"""
from wire import rpc, xdr

NFS, NFS_V3 = 100003, 3
READLINK, READ, WRITE, SYMLINK, READDIR, READDIRPLUS = 5, 6, 7, 10, 16, 17
LONG = {READLINK: 1024, READ: 0, READDIR: 0, READDIRPLUS: 0}
REPLY_HEADER = 24 + 400     # the longest verifier of a Reply
ATTRIBUTES = 88 + 24        # post_op_attr and the words around a payload
SHORT_REPLY = 600           # every other Reply of NFSv3 is shorter
MODE, UID, GID, SIZE, ATIME, MTIME = range(6)


def _nfs3(call):
    """The procedure and the arguments of an NFSv3 Call, and where these begin."""
    try:
        message = rpc.decode(call)
    except xdr.XdrError:
        return None
    if (message.prog, message.vers) != (NFS, NFS_V3):
        return None
    return message.proc, message.args, len(call) - len(message.args)


def _skip_sattr3(reader):
    for word in (MODE, UID, GID, SIZE):
        if reader.boolean():
            reader.fixed(8 if word == SIZE else 4)
    for _time in (ATIME, MTIME):
        if reader.u32() == 2:
            reader.fixed(8)


def call_payload(call):
    """Where the payload of a WRITE or SYMLINK is."""
    found = _nfs3(call)
    if found is None or found[0] not in (WRITE, SYMLINK):
        return None
    proc, args, begin = found
    reader = xdr.Reader(args)
    try:
        reader.var()
        if proc == WRITE:
            reader.fixed(16)
        else:
            reader.var()
            _skip_sattr3(reader)
        size = reader.u32()
    except xdr.XdrError:
        return None
    return begin + reader.at, size


def _result_payload(proc, result):
    reader = xdr.Reader(result)
    if reader.u32() != 0:
        return None
    if reader.boolean():
        reader.fixed(84)
    if proc == READ:
        reader.fixed(8)
    size = reader.u32()
    return reader.at, size


def reply_payload(call, reply):
    """Where the payload of a READ's or READLINK's Reply is."""
    found = _nfs3(call)
    if found is None or found[0] not in (READ, READLINK):
        return None
    try:
        message = rpc.decode(reply)
        if message.stat != rpc.ACCEPTED or message.accept_stat != rpc.SUCCESS:
            return None
        place = _result_payload(found[0], message.result)
    except xdr.XdrError:
        return None
    return place and (len(reply) - len(message.result) + place[0], place[1])


def filled(call, reply, data):
    """A reduced Reply with the data of its write chunk put back: A3.7-3."""
    place = reply_payload(call, reply)
    if place is None:
        return reply
    return reply[:place[0]] + data + bytes(-len(data) % 4) + reply[place[0]:]


def _count(proc, args):
    reader = xdr.Reader(args)
    reader.var()
    if proc == READ:
        reader.u64()
    elif proc in (READDIR, READDIRPLUS):
        reader.fixed(16)
        if proc == READDIRPLUS:
            reader.u32()
    else:
        return LONG[proc]
    return reader.u32()


def result_limit(call):
    """The longest payload of a READ or READLINK, for a write chunk."""
    found = _nfs3(call)
    if found is None or found[0] not in (READ, READLINK):
        return None
    return _count(found[0], found[1])


def reply_limit(call):
    """The longest Reply of a Call in bytes."""
    found = _nfs3(call)
    if found is None:
        return None
    proc, args, _begin = found
    if proc not in LONG:
        return SHORT_REPLY
    try:
        return REPLY_HEADER + ATTRIBUTES + _count(proc, args) + 3
    except xdr.XdrError:
        return SHORT_REPLY

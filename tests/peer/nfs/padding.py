# SPDX-License-Identifier: BSD-3-Clause
"""The pads of RDMA_MSGP: draft-ietf-nfsv4-rpcrdma-03 section 3.5.

An opaque or a string that is as long as the threshold, or longer, has pads between its length word
and its first byte, which then stands at a multiple of the alignment, counted from the first byte of
the Send. To find them one must know the program; here that is MOUNT, NFSv3, and of NFSACL and NFSv4
what `others` has.
"""
from nfs import mount3, nfs3, others
from nfs.shapes import VOID
from wire import rpc, xdr


class Unknown(ValueError):
    """Nobody here knows where the opaques of this message are."""


def _shapes(program):
    return {number: (each.args, each.result) for number, each in program.PROCEDURES.items()}


PROGRAMS = {
    (nfs3.PROGRAM, nfs3.VERSION): _shapes(nfs3),
    (mount3.PROGRAM, mount3.VERSION): _shapes(mount3),
    (others.ACL_PROGRAM, others.ACL_VERSION): {others.SETACL: (others.SETACL_ARGS, None)},
    (nfs3.PROGRAM, others.NFS4): {0: (VOID, VOID), others.COMPOUND: (others.COMPOUND_ARGS, None)},
}


class Walker(xdr.Reader):
    """Reads an RPC message, passes over pads, and notes where they and the opaques are.

    moved(position, size) says whether the data at a position of the XDR stream is in a chunk.
    """

    def __init__(self, data, moved, align=0, thresh=0, base=0):
        super().__init__(data)
        self.moved, self.align, self.thresh, self.base = moved, align, thresh, base
        self.places = []      # (where in the message without pads, size)
        self.pads = []        # (where in the data, length)
        self.padded = self.elsewhere = 0

    def var(self, limit=None):
        """An opaque or a string, its pads passed over; what is in a chunk has no bytes here."""
        size = self.u32()
        if limit is not None and size > limit:
            raise xdr.XdrError(f'{size} bytes where {limit} are allowed', self.at - 4)
        if self.moved(self.at - self.padded + self.elsewhere, size):
            self.elsewhere += size + -size % 4
            return b''
        if self.align > 1 and size >= self.thresh:
            self._pass(-(self.base + self.at) % self.align)
        self.places.append((self.at - self.padded, size))
        return self.opaque(size)

    def _pass(self, count):
        self.pads.append((self.at, count))
        self.fixed(count)
        self.padded += count

    def auth(self):
        """A credential or a verifier, whose body is an opaque like others: A3.5-7."""
        self.u32()
        self.var(rpc.MAX_AUTH_BYTES)


def _shape(prog, vers, proc, which):
    found = PROGRAMS.get((prog, vers), {}).get(proc)
    if found is None or found[which] is None:
        raise Unknown(f'procedure {proc} of program {prog} version {vers}')
    return found[which]


def _walk_call(reader):
    reader.u32()
    procedure = reader.u32(), reader.u32(), reader.u32()
    reader.auth()
    reader.auth()
    _shape(*procedure, 0).unpack(reader)
    reader.end()


def _walk_reply(reader, call):
    if reader.u32() != rpc.ACCEPTED:
        return
    reader.auth()
    if reader.u32() == rpc.SUCCESS:
        asked = rpc.decode(call)
        _shape(asked.prog, asked.vers, asked.proc, 1).unpack(reader)
        reader.end()


def _walk(reader, call):
    reader.u32()
    if reader.u32() == rpc.CALL:
        _walk_call(reader)
    else:
        _walk_reply(reader, call)
    return reader


def nothing_moved(_position, _size):
    """Of a message without chunks."""
    return False


def moved_by(message):
    """What the lists of a header took out of its message: read chunks by position, else by size."""
    positions = {entry.position for entry in message.reads}
    written = sum(segment.length for chunk in message.writes for segment in chunk)
    if rpc.is_call(message.body):
        return lambda position, size: position in positions
    return lambda position, size: position in positions or 0 < size == written


def places(message, call=b'', moved=nothing_moved):
    """(where, size) of the opaques of a message, which is without pads; Unknown, or XdrError."""
    return _walk(Walker(message, moved), call).places


def padded(message, found, align, thresh, base):
    """A message with pads for the opaques at these places; it stands at `base` of its Send."""
    out, last = bytearray(), 0
    for at, size in found:
        out += message[last:at]
        last = at
        if align > 1 and size >= thresh:
            out += bytes(-(base + len(out)) % align)
    return bytes(out) + message[last:]


def plain(body, align, thresh, base, call=b'', moved=nothing_moved, walker=Walker):
    """A message without its pads; Unknown, or XdrError if it is not what its program says."""
    if align <= 1 or len(body) < thresh:
        return body
    out, last = b'', 0
    for at, count in _walk(walker(body, moved, align, thresh, base), call).pads:
        out += body[last:at]
        last = at + count
    return out + body[last:]

# SPDX-License-Identifier: BSD-3-Clause
"""The transport headers of RPC-over-RDMA.

Version one: draft-ietf-nfsv4-rpcrdma-03 section 4, which RFC 8166 succeeded. Version two:
draft-cel-nfsv4-rpcrdma-version-two-00 section 4. Decoding is as strict as their XDR; what the text
forbids besides is found by faults().
"""

from dataclasses import dataclass, field

from wire import xdr

MSG, NOMSG, MSGP, DONE, ERROR, OPTIONAL = range(6)
ERR_VERS = 1
ERR_CHUNK = BAD_HEADER = 2
INVAL_OPTION = 3

PROC_NAMES = ("RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR", "RDMA_OPTIONAL")

# What each kind of message always holds; a shorter one is dropped unread.
FIXED_BYTES = 16
MIN_BYTES = {
    1: {MSG: 28, NOMSG: 28, MSGP: 36, DONE: 16, ERROR: 20},
    2: {MSG: 28, NOMSG: 28, MSGP: 16, DONE: 16, ERROR: 20, OPTIONAL: 24},
}
UNKNOWN_MIN_BYTES = {1: 28}
MIN_CALL_BYTES = 40
MIN_REPLY_BYTES = 20


class HeaderError(ValueError):
    """The bytes are no transport header; `at` is where, `reason` why."""

    def __init__(self, reason, at=0):
        super().__init__(f"{reason} at byte {at}")
        self.reason = reason
        self.at = at


@dataclass
class Segment:
    """Memory of the sender that the receiver may reach."""

    handle: int
    length: int
    offset: int

    def __repr__(self):
        return f"{self.handle:08x}+0x{self.offset:x}:{self.length}"


@dataclass
class ReadSegment:
    """A Segment to be read, for a position in the XDR stream of the RPC message."""

    position: int
    handle: int
    length: int
    offset: int

    def __repr__(self):
        return f"@{self.position} {self.handle:08x}+0x{self.offset:x}:{self.length}"


@dataclass
class Header:
    """A message: which fields count is decided by version and proc. `body` is all the rest.

    A version-one error code that the document does not know has the eight words of `extra`.
    """

    xid: int
    vers: int = 1
    credit: int = 1
    proc: int = MSG
    reads: list = field(default_factory=list)
    writes: list = field(default_factory=list)
    reply: list | None = None
    align: int = 0
    thresh: int = 0
    err: int | None = None
    low: int = 0
    high: int = 0
    opttype: int | None = None
    optinfo: bytes = b""
    body: bytes = b""
    extra: tuple = (0,) * 8


def min_bytes(vers, proc):
    """What such a message has at least; of unknown types in version one 28: RFC 8166 section 4.5."""
    return MIN_BYTES.get(vers, MIN_BYTES[1]).get(proc, UNKNOWN_MIN_BYTES.get(vers, FIXED_BYTES))


def _pack_segment(segment):
    return xdr.u32(segment.handle) + xdr.u32(segment.length) + xdr.u64(segment.offset)


def _pack_chunk(chunk):
    return xdr.u32(len(chunk)) + b"".join(map(_pack_segment, chunk))


def encode_lists(reads=(), writes=(), reply=None):
    """The three chunk lists."""
    parts = [xdr.u32(1) + xdr.u32(entry.position) + _pack_segment(entry) for entry in reads]
    parts.append(xdr.u32(0))
    parts += [xdr.u32(1) + _pack_chunk(chunk) for chunk in writes]
    parts.append(xdr.u32(0))
    parts.append(xdr.u32(0) if reply is None else xdr.u32(1) + _pack_chunk(reply))
    return b"".join(parts)


def _pack_error(h):
    code = xdr.u32(h.err or 0)
    if h.err == ERR_VERS:
        return code + xdr.u32(h.low) + xdr.u32(h.high)
    if h.vers == 2 or h.err == ERR_CHUNK:
        return code
    return code + b"".join(map(xdr.u32, h.extra))


def encode(h):
    """A message; what its version and proc have no arm for is the four words and the body."""
    parts = [xdr.u32(h.xid), xdr.u32(h.vers), xdr.u32(h.credit), xdr.u32(h.proc)]
    if h.proc == MSGP and h.vers != 2:
        parts += [xdr.u32(h.align), xdr.u32(h.thresh)]
    if h.proc in (MSG, NOMSG) or h.proc == MSGP and h.vers != 2:
        parts.append(encode_lists(h.reads, h.writes, h.reply))
    elif h.proc == ERROR:
        parts.append(_pack_error(h))
    elif h.proc == OPTIONAL:
        parts += [xdr.u32(h.opttype or 0), xdr.var(h.optinfo)]
    return b"".join(parts) + bytes(h.body)


def head_bytes(h):
    """How much of a message stands in front of its body."""
    return len(encode(h)) - len(h.body)


def decode_fixed(data):
    """(xid, vers, credit, proc), which stand first in every version."""
    reader = xdr.Reader(data[:FIXED_BYTES])
    try:
        return reader.u32(), reader.u32(), reader.u32(), reader.u32()
    except xdr.XdrError as error:
        raise HeaderError(error.reason, error.at) from None


def _segment(reader):
    return Segment(reader.u32(), reader.u32(), reader.u64())


def _chunk(reader):
    count = reader.u32()
    if 16 * count > reader.left:
        raise xdr.XdrError(f"{count} segments, {reader.left} bytes left", reader.at - 4)
    return [_segment(reader) for _ in range(count)]


def _lists(reader, h):
    while reader.boolean():
        position = reader.u32()
        segment = _segment(reader)
        h.reads.append(ReadSegment(position, segment.handle, segment.length, segment.offset))
    while reader.boolean():
        h.writes.append(_chunk(reader))
    if reader.boolean():
        h.reply = _chunk(reader)


def _error(reader, h):
    h.err = reader.u32()
    if h.err == ERR_VERS:
        h.low, h.high = reader.u32(), reader.u32()
    elif h.vers == 1 and h.err != ERR_CHUNK:
        h.extra = tuple(reader.u32() for _ in range(8))
    elif h.vers == 2 and h.err not in (BAD_HEADER, INVAL_OPTION):
        raise xdr.XdrError(f"error code {h.err}", reader.at - 4)
    elif h.vers not in (1, 2):
        raise xdr.XdrError(f"version {h.vers}", 4)


def _arms(reader, h):
    if h.proc == ERROR:
        _error(reader, h)
    elif h.vers not in (1, 2):
        raise xdr.XdrError(f"version {h.vers}", 4)
    elif h.proc > OPTIONAL or h.proc == OPTIONAL and h.vers == 1:
        raise xdr.XdrError(f"proc {h.proc} in version {h.vers}", 12)
    elif h.proc == OPTIONAL:
        h.opttype, h.optinfo = reader.u32(), reader.var()
    elif h.proc in (MSG, NOMSG):
        _lists(reader, h)
    elif h.proc == MSGP and h.vers == 1:
        h.align, h.thresh = reader.u32(), reader.u32()
        _lists(reader, h)


def decode(data):
    """A Header. Of a version unknown here only ERR_VERS decodes, which may come in any."""
    reader = xdr.Reader(data)
    try:
        h = Header(reader.u32(), reader.u32(), reader.u32(), reader.u32())
        _arms(reader, h)
    except xdr.XdrError as error:
        raise HeaderError(error.reason, error.at) from None
    h.body = reader.rest()
    return h


def _segment_faults(h):
    named = [(f"read segment {i}", seg) for i, seg in enumerate(h.reads)]
    for i, chunk in enumerate(h.writes):
        named += [(f"write chunk {i} segment {j}", seg) for j, seg in enumerate(chunk)]
    named += [(f"reply chunk segment {j}", seg) for j, seg in enumerate(h.reply or [])]
    spans = {}
    for name, seg in named:
        end = seg.offset + seg.length
        if end > 1 << 64:
            yield f"{name} wraps"
        if not seg.length:
            continue
        for other, start, stop in spans.get(seg.handle, ()):
            if seg.offset < stop and start < end:
                yield f"{name} overlaps {other}"
        spans.setdefault(seg.handle, []).append((name, seg.offset, end))


def faults(h):
    """What the documents forbid of a header that decodes, each as a few words (A4.1, A4.3-2)."""
    found = list(_segment_faults(h))
    found += [f"read segment {i} at position {seg.position}" for i, seg in enumerate(h.reads)
              if seg.position % 4]
    if h.proc == MSG or h.proc == MSGP and h.vers == 1:
        if not h.body:
            found.append("no RPC message")
    elif h.body and h.proc != OPTIONAL:
        found.append(f"{len(h.body)} bytes behind {PROC_NAMES[h.proc]}")
    return found


def _show_lists(h):
    parts = []
    if h.reads:
        parts.append(f"reads {h.reads}")
    parts += [f"write {chunk}" for chunk in h.writes]
    if h.reply is not None:
        parts.append(f"reply {h.reply}")
    return parts


def _show_error(h):
    if h.err == ERR_VERS:
        return f"ERR_VERS {h.low}..{h.high}"
    names = {1: {2: "ERR_CHUNK"}, 2: {2: "BAD_HEADER", 3: "INVAL_OPTION"}}
    return names.get(h.vers, {}).get(h.err, f"error {h.err}")


def describe(data):
    """A line that tells what a message says, or where it ceases to say anything."""
    try:
        xid, vers, credit, proc = decode_fixed(data)
    except HeaderError:
        return f"{len(data)} bytes: {bytes(data).hex()}"
    name = PROC_NAMES[proc] if proc < len(PROC_NAMES) else f"proc {proc}"
    parts = [f"{name} xid {xid:08x} v{vers} credit {credit}"]
    try:
        h = decode(data)
    except HeaderError as error:
        return f"{parts[0]}, {len(data)} bytes: {error}"
    if proc == MSGP and vers == 1:
        parts.append(f"align {h.align} thresh {h.thresh}")
    elif proc == ERROR:
        parts.append(_show_error(h))
    elif proc == OPTIONAL:
        parts.append(f"opttype {h.opttype} optinfo {h.optinfo.hex() or 'empty'}")
    parts += _show_lists(h)
    if h.body:
        parts.append(f"body {len(h.body)} bytes")
    return ", ".join(parts)


def dump(data, limit=512):
    """Rows of 16 bytes in hex with their offsets; of more than `limit` bytes, the first."""
    data = bytes(data)
    rows = [f"{at:04x}  {data[at:min(at + 16, limit)].hex(' ', -4)}"
            for at in range(0, min(len(data), limit), 16)]
    if len(data) > limit:
        rows.append(f"      and {len(data) - limit} bytes more")
    return "\n".join(rows)

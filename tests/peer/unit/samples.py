# SPDX-License-Identifier: BSD-3-Clause
"""Messages for tests: random ones from a seed, and those at the bounds of what can be said."""

from wire import characteristics, header

EDGES = (0, 1, 2, 3, 4, 31, 32, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff)
PROCS = {1: (header.MSG, header.NOMSG, header.MSGP, header.DONE, header.ERROR),
         2: (header.MSG, header.NOMSG, header.MSGP, header.DONE, header.ERROR, header.OPTIONAL)}
CODES = {1: (1, 2, 0, 3, 77, 0xffffffff), 2: (1, 2, 3)}


def number(chance):
    """A u32, often at a bound."""
    return chance.choice(EDGES) if chance.random() < 0.3 else chance.getrandbits(32)


def offset(chance):
    """A u64, often at a bound."""
    return number(chance) << 32 | number(chance)


def segment(chance):
    """A Segment."""
    return header.Segment(number(chance), number(chance), offset(chance))


def chunk(chance):
    """Mostly few segments, or none."""
    size = chance.randrange(4) if chance.random() < 0.9 else chance.randrange(64)
    return [segment(chance) for _ in range(size)]


def random_header(chance, vers):
    """A Header of the version, with its fields as decode() would set them."""
    h = header.Header(number(chance), vers, number(chance), chance.choice(PROCS[vers]))
    if h.proc in (header.MSG, header.NOMSG) or h.proc == header.MSGP and vers == 1:
        h.reads = [header.ReadSegment(number(chance), seg.handle, seg.length, seg.offset)
                   for seg in chunk(chance)]
        h.writes = [chunk(chance) for _ in range(chance.randrange(4))]
        h.reply = chunk(chance) if chance.random() < 0.5 else None
    if h.proc == header.MSGP and vers == 1:
        h.align, h.thresh = number(chance), number(chance)
    elif h.proc == header.OPTIONAL:
        h.opttype, h.optinfo = number(chance), chance.randbytes(chance.randrange(40))
    elif h.proc == header.ERROR:
        h.err = chance.choice(CODES[vers])
        if h.err == header.ERR_VERS:
            h.low, h.high = number(chance), number(chance)
        elif vers == 1 and h.err != header.ERR_CHUNK:
            h.extra = tuple(number(chance) for _ in range(8))
    return h


def whole_headers():
    """One Header of each kind, without a body."""
    seg = header.Segment(1, 2, 3)
    lists = {"reads": [header.ReadSegment(4, 5, 6, 7)], "writes": [[seg, seg], []], "reply": [seg]}
    for vers, proc in ((1, header.MSG), (1, header.NOMSG), (2, header.MSG), (2, header.NOMSG)):
        yield header.Header(9, vers, 10, proc, **lists)
    yield header.Header(9, 1, 10, header.MSGP, align=8, thresh=1024, **lists)
    for vers, proc in ((1, header.DONE), (2, header.MSGP), (2, header.DONE)):
        yield header.Header(9, vers, 10, proc)
    for vers, codes in CODES.items():
        for code in codes:
            versions = {"low": 1, "high": 2} if code == header.ERR_VERS else {}
            yield header.Header(9, vers, 10, header.ERROR, err=code, **versions)
    yield header.Header(9, 2, 10, header.OPTIONAL, opttype=1, optinfo=b"12345")
    yield header.Header(9, 2, 10, header.OPTIONAL, opttype=0, optinfo=b"")


def value(chance):
    """An (id, bytes): of a known id mostly well-formed, else anything."""
    ident = chance.choice((1, 1, 2, 2, 3, 3, 0, 4, 0xffffff00, 0xffffffff))
    if ident in characteristics.DEFAULTS and chance.random() < 0.85:
        limit = {characteristics.RQREMINV: 2, characteristics.BRS: 4}.get(ident)
        return ident, characteristics.value_bytes(
            ident, chance.randrange(limit) if limit else number(chance))
    return ident, chance.randbytes(chance.randrange(9))


def values(chance):
    """A few, sometimes many."""
    size = chance.randrange(5) if chance.random() < 0.95 else chance.randrange(80)
    return [value(chance) for _ in range(size)]


def subset(chance, limit=100):
    """A set of indices."""
    return {member for member in range(chance.randrange(limit)) if chance.random() < 0.2}


def damaged(chance, data, start=0):
    """The bytes with a few bits turned behind `start`, and perhaps cut off."""
    out = bytearray(data)
    for _ in range(chance.randrange(1, 4) if len(out) > start else 0):
        at = chance.randrange(start, len(out))
        out[at] ^= 1 << chance.randrange(8)
    if chance.random() < 0.2:
        del out[chance.randrange(len(out) + 1):]
    return bytes(out)

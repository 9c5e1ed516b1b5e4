# SPDX-License-Identifier: BSD-3-Clause
"""Transport characteristics, the optinfo of RDMA_OPTIONAL 1 to 4.

draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 2 to 5; where its XDR is no XDR, what it means.
A value travels as (id, bytes); subsets of a list of values are sets of indices into it.
"""

from wire import xdr

INIT_XCHAR, REQ_XCHAR, RESP_XCHAR, UPD_XCHAR = 1, 2, 3, 4
RBSIZ, RQREMINV, BRS = 1, 2, 3
BRS_UNKNOWN, BRS_NONE, BRS_SZLIM, BRS_GENL = range(4)
EXPERIMENTAL = range(0xffffff00, 0x100000000)

DEFAULTS = {RBSIZ: 4096, RQREMINV: False, BRS: BRS_UNKNOWN}


def value_bytes(ident, value):
    """The data of a value; that of an id unknown here is bytes already."""
    if ident in (RBSIZ, BRS):
        return xdr.u32(value)
    if ident == RQREMINV:
        return xdr.u32(int(value))
    return bytes(value)


def value_of(ident, data):
    """The value of the data; raises where a known id's is malformed (B2.1-3)."""
    if ident not in DEFAULTS:
        return bytes(data)
    reader = xdr.Reader(data)
    if ident == RQREMINV:
        value = reader.boolean()
    else:
        value = reader.u32()
    if ident == BRS and value > BRS_GENL:
        raise xdr.XdrError(f"backward request support is {value}")
    reader.end()
    return value


def _pack_value(value):
    ident, data = value
    return xdr.u32(ident) + xdr.var(data)


def _pack_spec(values):
    return xdr.u32(len(values)) + b"".join(map(_pack_value, values))


def subset_bytes(members):
    """A subset in as few words as it takes: element N is bit N mod 32 of word N div 32."""
    words = [0] * (max(members, default=-1) // 32 + 1)
    for member in members:
        words[member // 32] |= 1 << member % 32
    return xdr.u32(len(words)) + b"".join(map(xdr.u32, words))


def _value(reader):
    ident = reader.u32()
    at = reader.at + 4
    data = reader.var()
    try:
        value_of(ident, data)
    except xdr.XdrError as error:
        raise xdr.XdrError(f"characteristic {ident}: {error.reason}", at + error.at) from None
    return ident, data


def _count(reader, least):
    count = reader.u32()
    if count * least > reader.left:
        raise xdr.XdrError(f"{count} elements, {reader.left} bytes left", reader.at - 4)
    return count


def _spec(reader):
    return [_value(reader) for _ in range(_count(reader, 8))]


def _subset(reader):
    words = [reader.u32() for _ in range(_count(reader, 4))]
    return {32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1}


def _whole(decode, data):
    reader = xdr.Reader(data)
    found = decode(reader)
    reader.end()
    return found


def encode_init(values, nochg=()):
    """INIT_XCHAR: the values, and the indices of those that never change."""
    return _pack_spec(values) + subset_bytes(nochg)


def decode_init(data):
    """(values, nochg); what nochg has beyond the values is left out (B2.1-6)."""
    def parts(reader):
        values = _spec(reader)
        return values, {member for member in _subset(reader) if member < len(values)}
    return _whole(parts, data)


def encode_req(values):
    """REQ_XCHAR: the values wanted."""
    return _pack_spec(values)


def decode_req(data):
    """The values wanted."""
    return _whole(_spec, data)


def encode_resp(done=(), rej=(), pend=()):
    """RESP_XCHAR: indices into the values of the REQ_XCHAR."""
    return subset_bytes(done) + subset_bytes(rej) + subset_bytes(pend)


def decode_resp(data):
    """(done, rej, pend), with all the bits that are set."""
    return _whole(lambda reader: (_subset(reader), _subset(reader), _subset(reader)), data)


def encode_upd(value, pendclr=False):
    """UPD_XCHAR: an (id, bytes), and whether a request for it is no longer pending."""
    return _pack_value(value) + xdr.boolean(pendclr)


def decode_upd(data):
    """((id, bytes), pendclr)."""
    return _whole(lambda reader: (_value(reader), reader.boolean()), data)


def values_known(values):
    """{id: value} of the ids known here; the last of an id wins (B2.1-4, B2.1-5)."""
    return {ident: value_of(ident, data) for ident, data in values if ident in DEFAULTS}

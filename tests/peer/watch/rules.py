# SPDX-License-Identifier: BSD-3-Clause
"""The rules. Each checks one message of the client, and returns True, an error, or None if it does not apply.

A rule is given the Watch, which knows what went before, and the message, whose header is None where it does not
decode.
"""
from nfs import binding
from wire import header, private_data, rpc

ON_START, ON_SEND, ON_CALL = [], [], []


def _rule(where, tag):
    def decorate(function):
        where.append((tag, function))
        return function
    return decorate


# ---------------------------------------------------------------- private data: of the MPA request

@_rule(ON_START, 'C4-4')
def private_data_conforms(_watch, start):
    """Private data with the identifier have a version and all eight octets."""
    if not start.data.startswith(private_data.IDENTIFIER.to_bytes(4, 'big')):
        return True if private_data.decode(start.data) else None
    if len(start.data) < private_data.BYTES:
        return f'{len(start.data)} octets of private data'
    return True if start.data[4] == 1 else f'version {start.data[4]} of the private data'


@_rule(ON_START, 'C5.1-2')
def reserved_flags_are_zero(_watch, start):
    """Only one of the flags has a meaning."""
    data = private_data.decode(start.data)
    if data is None:
        return None
    return f'reserved flags {data.reserved:#04x}' if data.reserved else True


# ---------------------------------------------------------------- every Send

@_rule(ON_SEND, 'A2-2')
def a_send_fits_the_receive(watch, got):
    """The inline threshold includes the header."""
    limit = watch.end.receive_limit()
    return True if len(got.data) <= limit else f'a Send of {len(got.data)} bytes, limit {limit}'


@_rule(ON_SEND, 'A4.1-5')
def it_decodes(_watch, got):
    """The header and its lists are complete."""
    return True if got.header else f'it does not decode: {got.why}'


@_rule(ON_SEND, 'A4.1-3')
def it_is_version_one(watch, got):
    """Version two is not used unless it was settled."""
    if len(got.data) < header.FIXED_BYTES:
        return None
    version = header.decode_fixed(got.data)[1]
    return True if watch.end.speaks(version) else f'version {version}'


@_rule(ON_SEND, 'A4.3-2')
def its_segments_make_sense(_watch, got):
    """Offsets do not wrap."""
    if not got.header or not (got.header.reads or got.header.writes or got.header.reply):
        return None
    faults = [f for f in header.faults(got.header) if 'wraps' in f]
    return faults[0] if faults else True


@_rule(ON_SEND, 'A-Δ2')
def done_is_not_used(_watch, got):
    """RFC 8166 section 4.6.2."""
    if not got.header:
        return None
    return 'an RDMA_DONE' if got.header.proc == header.DONE else True


@_rule(ON_SEND, 'A4.2-3')
def only_calls_are_refused(_watch, got):
    """The server sends no reverse Calls, so there is nothing to refuse."""
    return 'an RDMA_ERROR in answer to a Reply' if got.header and \
        got.header.proc == header.ERROR else True


# ---------------------------------------------------------------- every Call

@_rule(ON_CALL, 'A3.3-4')
def a_credit_is_free(watch, _got):
    """One Call until the first Reply, then as many as granted; the Watch notes that it held."""
    waiting, limit = len(watch.calls), watch.limit()
    return None if waiting < limit else f'{waiting} Calls wait already, {limit} granted'


@_rule(ON_CALL, 'D1.1.4-1')
def its_xid_is_free(watch, got):
    """The XID differs from those of waiting Calls."""
    return 'its XID is that of a Call that waits' if got.header.xid in watch.calls else True


@_rule(ON_CALL, 'A4.1-2')
def its_xids_are_one(_watch, got):
    """The XIDs of the header and of the RPC message agree."""
    if got.header.proc != header.MSG:
        return None
    xid = rpc.xid_of(got.header.body)
    return True if xid == got.header.xid else f'XIDs {got.header.xid:#010x} and {xid:#010x}'


@_rule(ON_CALL, 'A3.4-1')
def chunks_stand_at_xdr_positions(_watch, got):
    """Positions are multiples of four."""
    if not got.header.reads:
        return None
    odd = [s.position for s in got.header.reads if s.position % 4]
    return f'a read chunk at position {odd[0]}' if odd else True


@_rule(ON_CALL, 'A5.1-1')
def a_long_call_has_a_chunk_of_its_own(_watch, got):
    """An RDMA_NOMSG Call has a chunk at position zero; RFC 8166 does not require it to be the first."""
    if got.header.proc != header.NOMSG:
        return None
    zero = any(s.position == 0 for s in got.header.reads)
    return True if zero else 'an RDMA_NOMSG without a read chunk at position zero'


# ---------------------------------------------------------------- every Call that is all here

def what_is_moved(watch, work):
    """A3.4-2, -3 and -4: only a DDP-eligible payload is moved, with the length of its count."""
    positions = [p for p in work.chunks if p]
    if not positions:
        return
    place = binding.call_payload(work.call)
    data = header.encode(work.message)
    if place is None or positions != [place[0]]:
        watch.tally.note('A3.4-2', f'a read chunk at {positions}, no payload there', data)
        return
    length, size = len(work.chunks[place[0]]), place[1]
    watch.tally.note('A3.4-2', True)
    watch.tally.note('A3.4-3', True)
    watch.tally.note('A3.4-4', True if length in (size, size + -size % 4) else
                     f'a read chunk of {length} bytes for a payload of {size}', data)


# No document speaks of segments that wrap, which is all of A4.3-2 that a message shows.
OF_NO_RFC = ('A4.3-2',)
# Those of whole Calls and of how a connection ends are noted by the Watch itself.
ALL_TAGS = sorted({tag for tag, _rule_ in ON_START + ON_SEND + ON_CALL}
                  | {'A2-1', 'A2-5', 'A3.4-2', 'A3.4-3', 'A3.4-4', 'A4.2-2', 'A5.2-5', 'A7-2'})

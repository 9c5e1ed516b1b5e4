# SPDX-License-Identifier: BSD-3-Clause
"""Where RFC 8166 and what is deployed differ from draft-ietf-nfsv4-rpcrdma-03, or say what it
leaves open."""
import struct

from nfs.server import HOLD
from scene.parts import moved_payload, parted, without_data
from scene.scenario import requester, responder
from wire import header, xdr


@responder('A-Δ5', needs={'files'})
def pads_are_neither_written_nor_sent(t):
    """After a READ of an odd length no pad is in the chunk or inline: RFC 8166 section 3.4.6.2."""
    hand = t.connect()
    for size in (1001, 1002, 1003):
        key, segment = hand.lend(b'\xff' * 1004, writable=True)
        got = hand.result(hand.call(t.read(size), writes=[[segment]]).xid)
        written = sum(s.length for s in got.write_chunk())
        t.hold(written == size, f'{written} bytes are written of {size}')
        t.hold(key.memory[size:] == b'\xff' * (1004 - size), 'a pad is written')
        t.hold(got.body[-4:] == xdr.u32(size), 'a pad is left inline')


@pads_are_neither_written_nor_sent.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: right(segments, data + bytes(-len(data) % 4))


@pads_are_neither_written_nor_sent.wrong
def _(end):
    right = end.reduced

    def reduced(work, reply):
        writes, body = right(work, reply)
        return writes, body + bytes(2 if writes else 0)
    end.reduced = reduced


@responder('A-Δ5', needs={'files'})
def a_pad_may_come_with_its_chunk(t):
    """A WRITE of an odd length, its pad in the chunk or nowhere: RFC 8166 section 3.4.5.2."""
    hand = t.connect()
    for size in (1001, 1002, 1003):
        for pad in (b'', bytes(1004 - size)):
            data = t.pattern(size, offset=size)
            call = t.write(data)
            position, payload, body = parted(call)
            reads = hand.read_chunk(position, payload + pad, 2)
            hand.result(hand.call(call, body=body, reads=reads).xid)
            t.hold(t.written(hand, size) == data, 'other data is stored')


@a_pad_may_come_with_its_chunk.wrong
def _(end):
    right = end.joined

    def unpadded(message, chunks):
        return right(message, chunks)[:-3] if chunks and 0 not in chunks else right(message, chunks)
    end.joined = unpadded


@a_pad_may_come_with_its_chunk.wrong
def _(end):
    right = end.garbage
    end.garbage = lambda work: right(work) or (
        work.chunks and sum(map(len, work.chunks.values())) == 1004 and end.refuse(work, ''))


@requester('A-Δ5', keys={'ddp': 'nfs'})
def a_moved_payload_leaves_no_pad(t):
    """The pad of a WRITE's data is not inline; it may be in the chunk."""
    for size in (20001, 20003):
        asked, hand, got = moved_payload(t, t.pattern(size))
        if got.header.proc == header.MSG:
            t.hold(got.body == parted(asked.call)[2], 'a pad is left inline')
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        t.hang_up(hand)


@a_moved_payload_leaves_no_pad.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        message.body += bytes(-message.reads[0].length % 4)
    end.move = move


@requester('A-Δ5', keys={'ddp': 'nfs'}, needs={'ours'})
def a_result_may_come_with_its_pad(t):
    """A READ of an odd length whose responder writes the pad, which RFC 8166 forbids, and one that does not."""
    hand = t.working()
    for size in (20001, 20003):
        for pad in (0, -size % 4):
            asked, got = t.next_called(hand, t.read(size))
            t.hold(got.header.writes, 'no write chunk is offered')
            reply = t.server.answer(asked.call)
            data, body = without_data(asked.call, reply)
            room = sum(s.length for s in got.write_chunk())
            t.hold(room >= size, f'a write chunk of {room} bytes for a READ of {size}')
            filled = hand.fill(got.write_chunk(), data + bytes(min(pad, room - size)))
            hand.answer(got, body, writes=[filled])
            t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@a_result_may_come_with_its_pad.wrong
def _(end):
    right = end.filled
    end.filled = lambda pending, body, size: size % 4 == 0 and right(pending, body, size) or None


@requester('A-Δ5', keys={'ddp': 'nfs'}, needs={'rfc'})
def no_pad_is_lent(t):
    """RFC 8166 section 3.4.5.2: a read chunk had better be as long as its item."""
    _asked, _hand, got = moved_payload(t, t.pattern(20001))
    lent = sum(entry.length for entry in got.header.reads)
    t.hold(got.header.proc == header.NOMSG or lent == 20001, f'{lent} bytes are lent of 20001')


@no_pad_is_lent.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        message.reads[0].length += 3
    end.move = move


@responder('A-Δ6', needs={'behind'}, keys={'credits': 4})
def no_grant_is_zero_however_busy_the_server_is(t):
    """Each Reply grants at least one credit, even with Calls in progress."""
    held = []
    hand = t.connect()
    grant = min(hand.ask(t.null()).header.credit, 8)
    t.server.before = lambda call: held.append(call) or HOLD
    for _ in range(grant):
        hand.call(t.null())
    t.settle(lambda: len(held) == grant, 'all Calls to arrive behind the responder')
    for call in held:
        t.let_go(call)
        t.hold(hand.next('a Reply').header.credit > 0, 'a Reply grants 0')


@no_grant_is_zero_however_busy_the_server_is.wrong
def _(end):
    end.grant = lambda asked: 0 if len(end.works) > 1 else end.options.credits


@responder('A-Δ7', needs={'files'})
def the_chunk_at_position_zero_may_come_last(t):
    """The order of positions in a Read list has no meaning."""
    hand = t.connect()
    data = t.pattern(1000, offset=3)
    call = t.write(data)
    position, payload, rest = parted(call)
    reads = hand.read_chunk(position, payload) + hand.read_chunk(0, rest)
    hand.result(hand.call(call, proc=header.NOMSG, body=b'', reads=reads).xid)
    t.hold(t.written(hand, 1000) == data, 'other data is stored')


@the_chunk_at_position_zero_may_come_last.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'not first' if message.reads and message.reads[0].position and message.proc == header.NOMSG
        else right(message))


@requester('A-Δ7', keys={'ddp': 'nfs'}, needs={'draft'})
def the_chunk_at_position_zero_comes_first(t):
    """A position-zero chunk comes at the place that the draft requires."""
    hand = t.working()
    for call in (t.echo(bytes(9000)), t.readdir(9000), t.write(bytes(9000))):
        _asked, got = t.next_called(hand, call)
        positions = [entry.position for entry in got.header.reads]
        t.hold(positions == sorted(positions), f'the positions are {positions}')
        t.hold(got.header.proc != header.NOMSG or positions[:1] == [0], 'an RDMA_NOMSG without Call')
        hand.answer_null(got)


@the_chunk_at_position_zero_comes_first.wrong
def _(end):
    right = end.move

    def last(pending, message):
        right(pending, message)
        message.reads.insert(0, header.ReadSegment(400, 1, 4, 0))
    end.move = last


@responder('A-Δ8', needs={'ours'})
def a_message_beside_a_chunk_at_position_zero_is_err_chunk(t):
    """An RDMA_MSG with one Call in both ways, and one with two Calls."""
    hand = t.connect()
    call = t.null()
    hand.refused(hand.call(call, reads=hand.read_chunk(0, call)).xid, 'a Call in two places')
    call = t.null()
    other = t.null()
    hand.refused(hand.call(call, reads=hand.read_chunk(0, other)).xid, 'two Calls in one')
    hand.barrier(t.null())


@a_message_beside_a_chunk_at_position_zero_is_err_chunk.wrong
def _(end):
    right = end.take_call

    def inline(message):
        message.reads = [entry for entry in message.reads if entry.position]
        right(message)
    end.take_call = inline


@requester('A-Δ8', keys={'ddp': 'nfs'})
def no_message_comes_beside_a_chunk_at_position_zero(t):
    """An RDMA_MSG has chunks only at other positions."""
    hand = t.working()
    for call in (t.null(), t.write(bytes(20000)), t.echo(bytes(9000)), t.read(9000)):
        _asked, got = t.next_called(hand, call)
        t.hold(got.header.proc != header.MSG or all(e.position for e in got.header.reads),
               'an RDMA_MSG has a chunk at position zero')
        hand.answer_null(got)


@no_message_comes_beside_a_chunk_at_position_zero.wrong
def _(end):
    right = end.move

    def both(pending, message):
        right(pending, message)
        message.proc, message.body = header.MSG, pending.call[:400]
    end.move = both


@requester('A-Δ9', needs={'draft'})
def an_error_may_end_after_its_code(t):
    """The draft's union is no valid XDR: errors come with eight words, with fewer, or with none.

    An unknown code with fewer is nothing that either document has: it may be dropped.
    """
    hand = t.working()
    for err, words in ((77, 0), (77, 3)):
        _asked, got = t.next_called(hand, t.null())
        hand.send(struct.pack(f'>{5 + words}I', got.header.xid, 1, 16, header.ERROR, err,
                              *[1] * words))
        t.hold(t.goes_on(hand, 'an RDMA_ERROR'), f'error code {err} with {words} words ends all')
    for err, words in ((header.ERR_CHUNK, 0), (header.ERR_CHUNK, 8), (77, 8), (77, 20),
                       (header.ERR_VERS, 4)):
        asked, got = t.next_called(hand, t.null())
        hand.send(struct.pack(f'>{5 + words}I', got.header.xid, 1, 16, header.ERROR, err,
                              *[1] * words))
        t.refused_by_caller(hand, asked, f'error code {err} with {words} words')


@an_error_may_end_after_its_code.wrong
def _(end):
    right = end.take_error
    end.take_error = lambda data: len(data) in (20, 28, 52) and right(data)


@an_error_may_end_after_its_code.wrong
def _(end):
    right = end.take_error
    end.take_error = lambda data: (
        right(data) if data[19] != 77 or len(data) >= 52 else end.conn.close())


def _by_default(end):
    """An end that assumes its own threshold for the peer."""
    end.send_limit = lambda: end.options.inline_threshold_bytes


def _header_apart(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 28


@responder('A-Δ10', needs={'files'})
def without_a_word_replies_keep_to_1024_bytes(t):
    """A connector without private data has receives of 1024 bytes, including the header."""
    hand = t.connect(data=b'')
    for count in (800, 860, 880, 900, 960, 1100, 3000):
        sent = hand.call(t.read(count))
        got = hand.reply(sent.xid)
        t.hold(len(got.data) <= 1024, f'a Send of {len(got.data)} bytes')


without_a_word_replies_keep_to_1024_bytes.wrong(_by_default)
without_a_word_replies_keep_to_1024_bytes.wrong(_header_apart)


@requester('A-Δ10')
def without_a_word_calls_keep_to_1024_bytes(t):
    """An acceptor without private data has receives of 1024 bytes, including the header."""
    hand = t.working(data=b'')
    for size in (880, 900, 920, 940, 960, 1100, 3000):
        asked, got = t.next_called(hand, t.echo(bytes(size), 0))
        t.hold(len(got.data) <= 1024, f'a Send of {len(got.data)} bytes')
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        hand.answer_null(got)


without_a_word_calls_keep_to_1024_bytes.wrong(_by_default)
without_a_word_calls_keep_to_1024_bytes.wrong(_header_apart)


@responder('A-Δ11')
def what_does_not_decode_is_err_chunk(t):
    """A header is the transport's: no error of RPC is said of it (RFC 8166 section 4.5.2)."""
    hand = t.connect()
    for lists in ([2, 0, 0], [1, 4, 9, 9, 9, 9], [0, 1, 900, 0, 0]):
        call = t.null()
        hand.send(call[:4] + struct.pack(f'>{3 + len(lists)}I', 1, 16, 0, *lists) + call)
        hand.refused(int.from_bytes(call[:4], 'big'), f'lists of the words {lists}')


@what_does_not_decode_is_err_chunk.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: end.put(
        header.Header(xid, body=struct.pack('>6I', xid, 1, 0, 0, 0, 4)))


@responder('A-Δ11')
def chunks_that_make_no_message_are_an_error(t):
    """Positions beyond the message, or within another chunk, get GARBAGE_ARGS or ERR_CHUNK."""
    for positions in ((400,), (44,), (40, 60), (2**32 - 4,)):
        hand = t.connect()      # such a Call may end its connection, when it is answered
        call = t.null()
        reads = [entry for at in positions for entry in hand.read_chunk(at, bytes(40))]
        hand.not_executed(hand.call(call, reads=reads).xid, f'chunks of 40 bytes at {positions}')


@chunks_that_make_no_message_are_an_error.wrong
def _(end):
    end.options.strict_chunks = False
    end.joined = lambda message, chunks: message.body


@responder('A-Δ12', needs={'behind'})
def segments_of_one_position_are_one_chunk(t):
    """Two chunks of three segments each differ only by their positions."""
    hand = t.connect()
    call = t.echo(t.pattern(2000))
    body = call[:100] + call[700:1000] + call[1300:]
    reads = hand.read_chunk(100, call[100:700], 3) + hand.read_chunk(1000, call[1000:1300], 3)
    got = hand.result(hand.call(call, body=body, reads=reads).xid)
    t.hold(got.body == t.server.answer(call), 'another Call arrives')


@segments_of_one_position_are_one_chunk.wrong
def _(end):
    right = end.joined

    def each_alone(message, chunks):
        return right(message, {at: data[:200] for at, data in chunks.items()})
    end.joined = each_alone

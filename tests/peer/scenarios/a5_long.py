# SPDX-License-Identifier: BSD-3-Clause
"""Long messages: draft-ietf-nfsv4-rpcrdma-03 section 5, RFC 8166 sections 3.5.3 and 4.3.3."""
import dataclasses

from nfs import binding
from scene.client_session import is_error
from scene.parts import parted
from scene.scenario import requester, responder
from wire import header


@requester('A5.1-1')
def a_long_call_is_a_chunk_at_position_zero(t):
    """A Call that does not fit the receive comes as an RDMA_NOMSG, with itself in the first Read chunk."""
    hand = t.working(recv=1024)
    for size in (1024, 2000, 9000):
        asked, got = t.next_called(hand, t.echo(t.pattern(size), 0))
        t.hold(got.header.proc == header.NOMSG and got.header.reads, 'no RDMA_NOMSG with chunks')
        t.hold(got.read_list()[0].position == 0, 'the first entry is not at position zero')
        t.hold(hand.message_of(got) == asked.call, 'the chunk is not the Call')
        hand.answer_null(got)


@a_long_call_is_a_chunk_at_position_zero.wrong
def _(end):
    right = end.move

    def elsewhere(pending, message):
        right(pending, message)
        message.reads[0].position = 4
    end.move = elsewhere


@a_long_call_is_a_chunk_at_position_zero.wrong
def _(end):
    right = end.move

    def as_message(pending, message):
        right(pending, message)
        message.proc = header.MSG
    end.move = as_message


@a_long_call_is_a_chunk_at_position_zero.wrong
def _(end):
    right = end.move

    def with_header(pending, message):
        right(pending, message)
        message.reads[0].length -= 28
    end.move = with_header


def _pulled(hand, call, pieces=1, **fields):
    """Makes Calls by a chunk at position zero."""
    return hand.call(call, proc=header.NOMSG, body=b'', reads=hand.read_chunk(0, call, pieces),
                     **fields).xid


@responder('A5.1-2', needs={'files'})
def a_pulled_call_is_served_like_any_other(t):
    """A short and a long Call in a chunk at position zero, of one segment and of several."""
    hand = t.connect()
    for pieces in (1, 2, 7):
        hand.result(_pulled(hand, t.null(), pieces), f'a NULL in {pieces} segments')
        data = t.pattern(9000, offset=pieces)
        hand.result(_pulled(hand, t.write(data), pieces), f'a WRITE in {pieces} segments')
        t.hold(t.written(hand, 3000) == data[:3000], 'other data is stored')


@a_pulled_call_is_served_like_any_other.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'no RPC message' if message.proc == header.NOMSG else right(message))


@a_pulled_call_is_served_like_any_other.wrong
def _(end):
    right = end.take_call

    def one_segment(message):
        del message.reads[1:]
        right(message)
    end.take_call = one_segment


@responder('A5.1-2', needs={'files'})
def other_chunks_are_merged_into_a_pulled_call(t):
    """A WRITE that comes by Read chunk, with its data in a separate chunk."""
    hand = t.connect()
    for size in (1000, 1001):
        data = t.pattern(size, offset=9)
        call = t.write(data)
        position, payload, rest = parted(call)
        reads = hand.read_chunk(0, rest, 2) + hand.read_chunk(position, payload, 2)
        hand.result(hand.call(call, proc=header.NOMSG, body=b'', reads=reads).xid)
        t.hold(t.written(hand, size) == data, 'other data is stored')


@other_chunks_are_merged_into_a_pulled_call.wrong
def _(end):
    right = end.joined
    end.joined = lambda message, chunks: (
        right(message, {0: chunks[0]}) if 0 in chunks else right(message, chunks))


@other_chunks_are_merged_into_a_pulled_call.wrong
def _(end):
    right = end.joined

    def in_the_order_of_the_list(message, chunks):
        if 0 not in chunks:
            return right(message, chunks)
        return b''.join(bytes(c) for c in reversed(chunks.values()))
    end.joined = in_the_order_of_the_list


@responder('A5.1-2')
def a_pulled_call_needs_a_chunk_at_position_zero(t):
    """An RDMA_NOMSG with an empty list, or a first chunk at another position, has no Call."""
    hand = t.connect()
    call = t.null()
    refused = hand.refused if t.rfc else hand.not_executed      # RFC 8166 section 4.5.2 names this one
    refused(hand.call(call, proc=header.NOMSG, body=b'').xid, 'an empty RDMA_NOMSG')
    call = t.null()
    hand.not_executed(hand.call(call, proc=header.NOMSG, body=b'',
                                reads=hand.read_chunk(4, call)).xid, 'a first position of 4')


@a_pulled_call_needs_a_chunk_at_position_zero.wrong
def _(end):
    right = end.call_flaw

    def first_is_zero(message):
        for entry in message.reads:
            entry.position = 0
        return right(message)
    end.call_flaw = first_is_zero


@a_pulled_call_needs_a_chunk_at_position_zero.wrong
def _(end):
    right = end.refuse
    end.refuse = lambda work, why: why.startswith('no chunk') or right(work, why)


@requester('A5.2-1')
def a_reply_chunk_takes_a_long_reply(t):
    """A Call with a possibly long Reply offers a Reply chunk, and the Reply that is written there arrives."""
    hand = t.working()
    for call in (t.readdir(30000), t.echo(b'', 20000)):
        asked, got = t.next_called(hand, call)
        t.hold(got.header.reply is not None, 'no reply chunk is offered')
        reply = t.server.answer(asked.call)
        hand.answer_long(got, reply)
        t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@a_reply_chunk_takes_a_long_reply.wrong
def _(end):
    end.offer_room = lambda pending, message: None


@a_reply_chunk_takes_a_long_reply.wrong
def _(end):
    right = end.reply_of

    def padded(pending, message):
        reply = right(pending, message)
        return reply and bytes(pending.landing.memory) if message.reply else reply
    end.reply_of = padded


@responder('A5.2-1', needs={'files'})
def a_reply_chunk_may_have_many_segments(t):
    """A READDIR into a Reply chunk of thirty segments, after an unused Write list."""
    hand = t.connect()
    keys, segments = hand.lend_pieces(*[700] * 30)
    _keys, spare = hand.lend_pieces(100)
    call = t.readdir(16000)
    got = hand.reply(hand.call(call, writes=[spare], reply=segments).xid)
    t.hold(got.header.proc == header.NOMSG, 'no RDMA_NOMSG')
    size = sum(s.length for s in got.reply_chunk())
    entries = t.files.entries(b''.join(k.memory for k in keys)[:size])
    t.hold(len(entries) > 100, f'a READDIR has {len(entries)} entries')


@a_reply_chunk_may_have_many_segments.wrong
def _(end):
    right = end.into_reply_chunk
    end.into_reply_chunk = lambda message, out: (
        len(message.reply or []) < 17 and right(message, out))


@a_reply_chunk_may_have_many_segments.wrong
def _(end):
    right = end.into_reply_chunk

    def whole_message(message, out):
        out.body = header.encode(out)
        return right(message, out)
    end.into_reply_chunk = whole_message


def _long_read(t, hand, count, sizes):
    """Makes a READ without a Write list, with its Reply in a Reply chunk of such segments."""
    keys, segments = hand.lend_pieces(*sizes)
    call = t.read(count)
    return call, keys, segments, hand.reply(hand.call(call, reply=segments).xid)


@responder('A5.2-2', needs={'files'})
def a_long_reply_goes_into_the_reply_chunk(t):
    """An RDMA_NOMSG has the chunk's keys and offsets, and the written lengths."""
    hand = t.connect()
    _call, _keys, _segments, got = _long_read(t, hand, 6000, [9000])
    whole = sum(s.length for s in got.header.reply or [])
    for sizes in ([whole], [1000] * 12, [4, whole - 4, 500], [whole - 4, 4]):
        call, keys, segments, got = _long_read(t, hand, 6000, sizes)
        t.hold(got.header.proc == header.NOMSG, f'no RDMA_NOMSG for segments of {sizes}')
        left, expected = whole, []
        for size in sizes:
            expected.append(min(size, left))
            left -= expected[-1]
        back = got.header.reply
        t.hold([s.length for s in back] == expected, f'{back} comes back for {sizes}')
        t.hold([(s.handle, s.offset) for s in back] == [(s.handle, s.offset) for s in segments],
               'other memory comes back')
        reply = b''.join(k.memory for k in keys)[:whole]
        at, size = binding.reply_payload(call, reply)
        t.hold(reply[at:at + size] == t.pattern(6000), 'other data is written')


@a_long_reply_goes_into_the_reply_chunk.wrong
def _(end):
    right = end.into_reply_chunk
    end.into_reply_chunk = lambda message, out: (
        sum(s.length for s in message.reply) != len(out.body) and right(message, out))


@a_long_reply_goes_into_the_reply_chunk.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: [s for s in right(segments, data) if s.length]


@a_long_reply_goes_into_the_reply_chunk.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: [
        dataclasses.replace(s, offset=s.offset + s.length) for s in right(segments, data)]


def _too_small(t, hand, chunk):
    """Makes a READ whose Reply fits neither inline nor in the chunk. Returns the answer."""
    fields = {} if chunk is None else {'reply': hand.lend_pieces(*chunk)[1]}
    sent = hand.call(t.read(6000), **fields)
    return hand.reply(sent.xid, 'an answer to a READ that nothing is large enough for')


def _cut_short(end):
    def no_room(work, out):
        out.reply = end.written(work.message.reply or [], out.body)
        out.proc, out.body = header.NOMSG, b''
        end.works.pop(work.message.xid)
        end.put(out)
    end.no_room = no_room


def _silent(end):
    end.no_room = lambda work, out: end.works.pop(work.message.xid)


TOO_SMALL = (None, [4096], [3000, 3000], [2000, 4, 2000])


@responder('A5.2-3', needs={'files'})
def a_reply_that_fits_nowhere_is_an_error_or_is_lent(t):
    """A Reply that does not fit comes as an error, or, with the draft's extras, as a Read chunk."""
    hand = t.connect()
    for chunk in TOO_SMALL:
        got = _too_small(t, hand, chunk)
        t.hold(is_error(got) or got.header.reads and not t.rfc,
               f'with {chunk} offered: {header.describe(got.data)}')


a_reply_that_fits_nowhere_is_an_error_or_is_lent.wrong(_cut_short)
a_reply_that_fits_nowhere_is_an_error_or_is_lent.wrong(_silent)


@responder('A-Δ3', needs={'files'})
def a_reply_that_fits_nowhere_is_err_chunk(t):
    """RFC 8166 has no Replies by Read chunk: ERR_CHUNK comes, and the connection continues.

    RFC 8267 section 3.1 also lets it be an error of RPC.
    """
    hand = t.connect()
    for chunk in TOO_SMALL:
        got = _too_small(t, hand, chunk)
        t.hold(is_error(got), f'with {chunk} offered: {header.describe(got.data)}')
    hand.barrier(t.null())


a_reply_that_fits_nowhere_is_err_chunk.wrong(_cut_short)
a_reply_that_fits_nowhere_is_err_chunk.wrong(_silent)


@a_reply_that_fits_nowhere_is_err_chunk.wrong
def _(end):
    def lend(work, out):
        key = end.conn.expose(out.body, readable=True)
        out.reads = [header.ReadSegment(0, key.stag, len(out.body), key.to)]
        out.proc, out.body = header.NOMSG, b''
        end.works.pop(work.message.xid)
        end.put(out)
    end.no_room = lend


@requester('A5.2-5')
def a_reply_chunk_holds_what_the_call_asks_for(t):
    """READDIR and READ have a limit of their Replies: the chunk has at least this length."""
    hand = t.working()
    for call, count in ((t.readdir(5000), 5000), (t.readdir(60000), 60000),
                        (t.read(70000), 70000)):
        asked, got = t.next_called(hand, call)
        chunk = got.header.reply or sum(got.header.writes, [])
        room = sum(s.length for s in chunk)
        t.hold(room >= count, f'{room} bytes are offered for a Reply of {count}')
        hand.answer_null(got)
        t.answered(asked)


@a_reply_chunk_holds_what_the_call_asks_for.wrong
def _(end):
    end.segment = lambda key: header.Segment(key.stag, min(len(key.memory), 32768), key.to)


@a_reply_chunk_holds_what_the_call_asks_for.wrong
def _(end):
    end.offer_room = lambda pending, message: None

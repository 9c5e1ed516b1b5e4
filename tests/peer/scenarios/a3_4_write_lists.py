# SPDX-License-Identifier: BSD-3-Clause
"""What is offered for results: draft-ietf-nfsv4-rpcrdma-03 section 3.4, RFC 8166 section 3.4.6."""
import dataclasses

from nfs import nfs3
from scene.parts import data_of, parted
from scene.scenario import requester, responder
from wire import header

LONG = 20000


def _no_file(t, count):
    """A READ that fails."""
    return t.nfs(6, nfs3.read(b'no such handle..', 0, count))


@responder('A3.4-8')
def a_write_chunk_without_a_result_comes_back_empty(t):
    """A READ that fails and a NULL have nothing to write: the Reply says so, segment by segment."""
    hand = t.connect()
    for call in (_no_file(t, 2000), t.null()):
        _keys, segments = hand.lend_pieces(1500, 500)
        got = hand.ask(call, writes=[segments])
        t.hold(got.header.proc == header.MSG, 'no RDMA_MSG')
        t.hold([[s.length for s in chunk] for chunk in got.header.writes] == [[0, 0]],
               f'a write chunk without a result comes back as {got.header.writes}')


@a_write_chunk_without_a_result_comes_back_empty.wrong
def _(end):
    right = end.reduced

    def as_offered(work, reply):
        writes, body = right(work, reply)
        empty = not any(s.length for chunk in writes for s in chunk)
        return (work.message.writes if empty else writes), body
    end.reduced = as_offered


@a_write_chunk_without_a_result_comes_back_empty.wrong
def _(end):
    right = end.reduced

    def only_used(work, reply):
        writes, body = right(work, reply)
        return [chunk for chunk in writes if any(s.length for s in chunk)], body
    end.reduced = only_used


@requester('A3.4-8', keys={'ddp': 'nfs'})
def what_an_unused_write_chunk_holds_is_no_result(t):
    """READs without data, their write chunks scribbled on but unused, and then taken back."""
    hand = t.working()
    for args in (nfs3.read(t.files.data, 1 << 40, 100), nfs3.read(b'no such handle..', 0, 100)):
        asked, got = t.next_called(hand, t.read(LONG))
        t.hold(got.header.writes, 'no write chunk is offered')
        chunk = got.write_chunk()
        hand.conn.write(chunk[0].handle, chunk[0].offset, b'scribble' * 9)
        reply = t.server.answer(asked.call[:4] + t.nfs(6, args)[4:])
        hand.answer(got, reply, writes=[[dataclasses.replace(s, length=0) for s in chunk]])
        t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')
    t.hold(not t.still_writable(hand, chunk[0]), 'the unused chunk stays lent')


@what_an_unused_write_chunk_holds_is_no_result.wrong
def _(end):
    right = end.reply_of

    def from_memory(pending, message):
        reply = right(pending, message)
        if reply and pending.payload:
            reply = reply[:-72] + bytes(pending.payload.memory[:72])
        return reply
    end.reply_of = from_memory


@what_an_unused_write_chunk_holds_is_no_result.wrong
def _(end):
    right = end.over

    def keep(pending, **what):
        if pending.payload:
            pending.lent.remove(pending.payload)
        right(pending, **what)
    end.over = keep


@responder('A3.4-9', needs={'files'})
def without_a_write_list_data_comes_inline_or_an_error(t):
    """What fits comes inline; what does not is answered all the same, in a Send that fits."""
    hand = t.connect()
    call = t.read(600)
    got = hand.result(hand.call(call).xid)
    t.hold(data_of(call, got.body) == t.pattern(600), 'other data comes')
    for count in (5000, 60000):
        sent = hand.call(t.read(count))
        got = hand.reply(sent.xid, f'an answer to a READ of {count} bytes without a chunk')
        t.hold(len(got.data) <= 4096, f'{len(got.data)} bytes are sent to a receive of 4096')
    hand.barrier(t.null())


@without_a_write_list_data_comes_inline_or_an_error.wrong
def _(end):
    end.no_room = lambda work, out: end.works.pop(work.message.xid)


@without_a_write_list_data_comes_inline_or_an_error.wrong
def _(end):
    def too_long(work, out):
        end.works.pop(work.message.xid)
        end.put(out)
    end.no_room = too_long


@responder('A3.4-10', needs={'files'})
def a_write_chunk_may_be_used_in_part(t):
    """Of an array of three segments the first are filled, and an array for no result is left."""
    hand = t.connect()
    for count, lengths in ((1000, [600, 400, 0]), (600, [600, 0, 0]), (2100, [600, 700, 800]),
                           (2000, [600, 700, 700])):
        keys, segments = hand.lend_pieces(600, 700, 800)
        _other, spare = hand.lend_pieces(64, 64)
        got = hand.result(hand.call(t.read(count), writes=[segments, spare]).xid)
        writes = got.header.writes
        t.hold(writes and [s.length for s in writes[0]] == lengths,
               f'{count} bytes fill {writes} instead of {lengths}')
        t.hold(not any(s.length for chunk in writes[1:] for s in chunk), 'the second is used, too')
        t.hold(b''.join(k.memory for k in keys)[:count] == t.pattern(count), 'other data comes')


@a_write_chunk_may_be_used_in_part.wrong
def _(end):
    right = end.written

    def evenly(segments, data):
        part = -(-len(data) // len(segments))
        return [right([s], data[i * part:(i + 1) * part])[0] for i, s in enumerate(segments)]
    end.written = evenly


@a_write_chunk_may_be_used_in_part.wrong
def _(end):
    right = end.reduced

    def all_used(work, reply):
        writes, body = right(work, reply)
        for segment in (s for chunk in writes[1:] for s in chunk):
            segment.length = 4
        return writes, body
    end.reduced = all_used


@responder('A3.4-10', needs={'files'})
def a_result_whose_array_has_no_segments_comes_inline(t):
    """An empty write chunk keeps a READ inline and comes back so: RFC 8166 section 4.3.2.3."""
    hand = t.connect()
    call = t.read(600)
    got = hand.result(hand.call(call, writes=[[]]).xid, 'a READ with an empty write chunk')
    t.hold(got.header.writes == [[]], f'the write list that comes back is {got.header.writes}')
    t.hold(data_of(call, got.body) == t.pattern(600), 'other data comes')


@a_result_whose_array_has_no_segments_comes_inline.wrong
def _(end):
    right = end.reduced

    def cut_all_the_same(work, reply):
        writes, body = right(work, reply)
        return writes, body[:-600] if writes == [[]] else body
    end.reduced = cut_all_the_same


@a_result_whose_array_has_no_segments_comes_inline.wrong
def _(end):
    right = end.reduced
    end.reduced = lambda work, reply: ([c for c in right(work, reply)[0] if c], reply)


@a_result_whose_array_has_no_segments_comes_inline.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: 'no segments' if [] in message.writes else right(message)


@responder('A3.4-10', needs={'files'})
def a_result_of_no_bytes_takes_its_array(t):
    """A READ of nothing, and one behind the end, write nothing and say so."""
    hand = t.connect()
    for call in (t.read(0), t.read(100, 1 << 40)):
        _keys, segments = hand.lend_pieces(60, 40)
        got = hand.result(hand.call(call, writes=[segments]).xid, 'a READ of nothing')
        t.hold([[s.length for s in chunk] for chunk in got.header.writes] == [[0, 0]],
               f'the write list that comes back is {got.header.writes}')
        t.hold(not data_of(call, got.body), 'data comes')


@a_result_of_no_bytes_takes_its_array.wrong
def _(end):
    right = end.reduced
    end.reduced = lambda work, reply: (
        (work.message.writes, reply) if work.message.writes and reply[-4:] == bytes(4)
        else right(work, reply))


@requester('A3.4-10', keys={'ddp': 'nfs'})
def one_array_is_offered_for_one_result(t):
    """A READ has one result that may be written: its write list has one array, of that size."""
    _asked, _hand, got = t.called(t.read(LONG))
    t.hold(len(got.header.writes) == 1, f'{len(got.header.writes)} arrays are offered')
    room = sum(s.length for s in got.write_chunk())
    t.hold(room >= LONG, f'{room} bytes are offered for {LONG}')


@one_array_is_offered_for_one_result.wrong
def _(end):
    right = end.offer_room

    def two(pending, message):
        right(pending, message)
        message.writes *= 2
    end.offer_room = two


@one_array_is_offered_for_one_result.wrong
def _(end):
    end.segment = lambda key: header.Segment(key.stag, len(key.memory) // 2, key.to)


@responder('A3.4-12', needs={'files'})
def no_reply_has_read_chunks(t):
    """What a Call brings in a read list does not come back in its Reply."""
    hand = t.connect()
    call = t.write(t.pattern(1000))
    position, payload, body = parted(call)
    got = hand.result(hand.call(call, body=body, reads=hand.read_chunk(position, payload)).xid)
    t.hold(not got.header.reads, f'a read list comes back: {got.header.reads}')


@no_reply_has_read_chunks.wrong
def _(end):
    put, reads = end.put, []
    right = end.take_call

    def take_call(message):
        reads[:] = message.reads
        right(message)

    def put_back(message, invalidate=None):
        message.reads = reads
        put(message, invalidate)
    end.take_call, end.put = take_call, put_back


@requester('A3.4-12', keys={'ddp': 'nfs'})
def write_chunks_are_for_results_only(t):
    """A WRITE has a payload among its arguments, and nothing that could be written."""
    _asked, _hand, got = t.called(t.write(t.pattern(LONG)))
    t.hold(got.header.reads, 'a WRITE comes without chunks')
    t.hold(not got.header.writes, f'a WRITE offers {got.header.writes}')


@write_chunks_are_for_results_only.wrong
def _(end):
    def offer_room(pending, message):
        message.writes = [[end.segment(end.lend(pending, LONG, writable=True))]]
    end.offer_room = offer_room

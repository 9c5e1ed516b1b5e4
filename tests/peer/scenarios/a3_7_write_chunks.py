# SPDX-License-Identifier: BSD-3-Clause
"""Write chunks: draft-ietf-nfsv4-rpcrdma-03 section 3.7, RFC 8166 section 3.4.6."""
import dataclasses

from nfs import nfs3
from scene import two
from scene.parts import without_data
from scene.scenario import requester, responder
from wire import header


@responder('A3.7-1', needs={'files'})
def results_are_written_where_a_write_list_is_offered(t):
    """The data of a READ lands in the write chunk, and none of it comes inline."""
    hand = t.connect()
    key, segment = hand.lend(2000, writable=True)
    got = hand.ask(t.read(2000), writes=[[segment]])
    t.hold(got.header.proc == header.MSG, 'no RDMA_MSG')
    t.hold(got.write_chunk()[0].length == 2000,
           f'the write list that comes back is {got.header.writes}')
    t.hold(key.memory == t.pattern(2000), 'other data was written')
    t.hold(len(got.body) < 200, f'{len(got.body)} bytes inline beside the chunk')


@results_are_written_where_a_write_list_is_offered.wrong
def _(end):
    end.reduced = lambda work, reply: ([], reply)


def _read_inline(t, hand, call, returned):
    """A READ whose data come inline, its write chunk empty or not returned at all."""
    asked, got = two.again(t, hand, call)
    t.hold(got.header.writes, 'no write chunk is offered')
    short = nfs3.read(t.files.data, 0, 100)
    hand.answer(got, t.server.answer(asked.call[:4] + t.nfs(6, short)[4:]),
                writes=[[dataclasses.replace(s, length=0) for s in chunk]
                        for chunk in got.header.writes if returned])
    t.not_delivered(hand, asked, 'a payload inline that a write chunk was offered for')
    t.hold(not hand.conn.ended, 'the connection ends for it')


@requester('A3.7-1', keys={'ddp': 'nfs'})
def data_inline_beside_an_unused_write_chunk_are_refused(t):
    """They are no result: RFC 8166 section 6.1. The connection goes on."""
    hand = t.working()
    for returned in (True, False):
        _read_inline(t, hand, t.read(20000), returned)
    asked, got = t.next_called(hand, t.read(20000))
    data, body = without_data(asked.call, t.server.answer(asked.call))
    hand.answer(got, body, writes=[hand.fill(got.write_chunk(), data)])
    t.hold(t.answered(asked) == t.server.answer(asked.call), 'the Reply that is right fails')


@requester('A3.7-1', keys=two.with_keys(ddp='nfs'))
def so_they_are_in_version_two(t):
    """The same on a connection of version two."""
    hand = two.ready(t)
    for returned in (True, False):
        _read_inline(t, hand, t.read(20000), returned)


for _scenario in (data_inline_beside_an_unused_write_chunk_are_refused, so_they_are_in_version_two):
    @_scenario.wrong
    def _(end):
        end.is_unreduced = lambda pending, body: False


@responder('A3.7-2', needs={'files'})
def the_write_list_comes_back_with_what_was_written(t):
    """The same keys and offsets in the same order and number, with new lengths."""
    hand = t.connect()
    for count in (500, 1000, 1001, 2500):
        _keys, segments = hand.lend_pieces(1000, 700, 900)
        _keys, spare = hand.lend_pieces(300)
        got = hand.result(hand.call(t.read(count), writes=[segments, spare]).xid)
        t.hold([len(chunk) for chunk in got.header.writes] == [3, 1],
               f'the write list that comes back is {got.header.writes}')
        for own, other in zip(segments + spare, sum(got.header.writes, [])):
            t.hold((own.handle, own.offset) == (other.handle, other.offset),
                   f'{own} comes back as {other}')
        total = sum(s.length for s in got.write_chunk())
        t.hold(total == count, f'the lengths tell of {total} bytes of {count}')


@the_write_list_comes_back_with_what_was_written.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: [s for s in right(segments, data) if s.length]


@the_write_list_comes_back_with_what_was_written.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: right(segments, data)[::-1]


@the_write_list_comes_back_with_what_was_written.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: right(segments, data) and segments


@the_write_list_comes_back_with_what_was_written.wrong
def _(end):
    right = end.reduced

    def only_used(work, reply):
        writes, body = right(work, reply)
        return writes[:1], body
    end.reduced = only_used


@requester('A3.7-3', keys={'ddp': 'nfs'})
def a_result_is_as_long_as_the_returned_lengths_say(t):
    """A short READ: the write list comes back with less than was offered."""
    asked, hand, got = t.called(t.read(20000))
    t.hold(got.header.writes, 'no write chunk is offered')
    data = t.pattern(1000)
    segment = got.write_chunk()[0]
    hand.conn.write(segment.handle, segment.offset, data)
    whole = t.server.answer(t.read(1000))
    inline = asked.call[:4] + whole[4:len(whole) - 1000]
    hand.answer(got, inline, writes=[[header.Segment(segment.handle, 1000, segment.offset)]])
    t.hold(t.answered(asked) == asked.call[:4] + whole[4:], 'another Reply reaches the caller')


@a_result_is_as_long_as_the_returned_lengths_say.wrong
def _(end):
    right = end.reply_of

    def whole_chunk(pending, message):
        for chunk, offered in zip(message.writes, pending.sent.writes):
            for got, own in zip(chunk, offered):
                got.length = own.length
        return right(pending, message)
    end.reply_of = whole_chunk


def _longer(s):
    return [dataclasses.replace(s[0], length=s[0].length + 4)] + s[1:]


def _other_handle(s):
    return [dataclasses.replace(s[0], handle=s[0].handle ^ 1)] + s[1:]


def _other_offset(s):
    return [dataclasses.replace(s[0], offset=s[0].offset + 4)] + s[1:]


def _one_more(s):
    return s + [header.Segment(0x1234, 0, 0)]


WAYS = (_longer, _other_handle, _other_offset, _one_more)


def _returned_as(t, hand, changed):
    """A READ whose write chunk is filled, and then returned with a change."""
    asked, got = t.next_called(hand, t.read(20000))
    t.hold(got.header.writes, 'no write chunk is offered')
    data, body = without_data(asked.call, t.server.answer(asked.call))
    filled = hand.fill(got.write_chunk(), data)
    hand.answer(got, body, writes=changed(filled))
    return asked


@requester('A3.7-4', keys={'ddp': 'nfs'})
def a_write_list_that_was_not_offered_is_refused(t):
    """Returned longer, with another key or offset, with a segment or a chunk more."""
    hand = t.working()
    for way in WAYS:
        asked = _returned_as(t, hand, lambda chunk, way=way: [way(chunk)])
        t.not_delivered(hand, asked, f'a write list returned wrong ({way.__name__})')
    asked = _returned_as(t, hand, lambda chunk: [chunk, [header.Segment(1, 4, 0)]])
    t.not_delivered(hand, asked, 'a write list of two chunks')
    asked = _returned_as(t, hand, lambda chunk: [chunk])
    t.hold(t.answered(asked) == t.server.answer(asked.call), 'the Reply that is right fails')


def _lax(check):
    """A model that does not compare one thing of a returned list."""
    def bend(end):
        def within(returned, offered):
            for got, own in zip(sum(returned, []), sum(offered, [])):
                if not check(got, own):
                    return False
            return True

        def filled(pending, body, size):
            del size
            return body + bytes(pending.payload.memory)
        end.within, end.filled = within, filled
        end.was_written = lambda returned: True
    return bend


for _check in (lambda got, own: (got.handle, got.offset) == (own.handle, own.offset),
               lambda got, own: got.length <= own.length and got.offset == own.offset,
               lambda got, own: got.length <= own.length and got.handle == own.handle):
    a_write_list_that_was_not_offered_is_refused.wrong(_lax(_check))


@a_write_list_that_was_not_offered_is_refused.wrong
def _(end):
    right = end.within
    end.within = lambda returned, offered: right(
        [chunk[:len(own)] for chunk, own in zip(returned, offered)], offered)


@requester('A3.7-4')
def a_reply_chunk_that_was_not_offered_is_refused(t):
    """The same of a reply chunk."""
    hand = t.working()
    for way in WAYS:
        asked, got = t.next_called(hand, t.echo(t.pattern(5000)))
        t.hold(got.header.reply, 'no reply chunk is offered')
        filled = hand.fill(got.header.reply, t.server.answer(asked.call))
        hand.answer(got, b'', proc=header.NOMSG, reply=way(filled) if way is not _longer else
                    _longer(got.header.reply))
        t.not_delivered(hand, asked, f'a reply chunk returned wrong ({way.__name__})')


@a_reply_chunk_that_was_not_offered_is_refused.wrong
def _(end):
    end.within = lambda returned, offered: True
    end.was_written = lambda returned: True


@a_reply_chunk_that_was_not_offered_is_refused.wrong
def _(end):
    right = end.within
    end.within = lambda returned, offered: right(
        [chunk[:len(own)] for chunk, own in zip(returned, offered)], offered)

# SPDX-License-Identifier: BSD-3-Clause
"""Reply chunks that are offered and not used: RFC 8166 section 4.3.3."""
import dataclasses

from scene.scenario import requester, responder
from wire import header


def long_read(t, hand, count, sizes):
    """Makes a READ with a Reply chunk of such segments. Returns (the Call, their keys, the segments, the Reply)."""
    keys, segments = hand.lend_pieces(*sizes)
    call = t.read(count)
    return call, keys, segments, hand.reply(hand.call(call, reply=segments).xid)


def _inline(t, hand, call, segments, **fields):
    """Returns the Reply to a Call with this Reply chunk, or None if it was written there, which is also correct."""
    got = hand.reply(hand.call(call, reply=segments, **fields).xid)
    if got.header.proc == header.NOMSG:
        t.hold(sum(s.length for s in got.header.reply or []) >= 24, 'the Reply is nowhere')
        return None
    t.hold(got.header.proc == header.MSG, 'the Call is refused')
    return got


def _comes_back_empty(t, got, offered):
    back = got.header.reply
    t.hold(back is not None, 'beside an inline Reply the reply chunk is left out')
    t.hold([(s.handle, s.offset) for s in back] == [(s.handle, s.offset) for s in offered],
           f'{back} comes back for {offered}')
    t.hold(not any(s.length for s in back), f'{back} comes back with lengths beside an inline Reply')


@responder('A5.2-4')
def an_unused_reply_chunk_comes_back_with_zero_lengths(t):
    """Beside a Reply that is inline: RFC 8166 section 4.3.3."""
    hand = t.connect()
    for sizes in ((1000,), (1000, 1000), (16,) * 20):
        _keys, segments = hand.lend_pieces(*sizes)
        got = _inline(t, hand, t.null(), segments)
        if got:
            _comes_back_empty(t, got, segments)


def _left_out(end):
    end.unused_reply = lambda message: None


an_unused_reply_chunk_comes_back_with_zero_lengths.wrong(_left_out)


@an_unused_reply_chunk_comes_back_with_zero_lengths.wrong
def _(end):
    end.unused_reply = lambda message: message.reply


@an_unused_reply_chunk_comes_back_with_zero_lengths.wrong
def _(end):
    end.unused_reply = lambda message: message.reply and []


@responder('A5.2-4', needs={'files'})
def an_unused_reply_chunk_comes_back_beside_a_used_write_chunk(t):
    """The data of a READ are written, the rest comes inline."""
    hand = t.connect()
    key, segment = hand.lend(6000, writable=True)
    _keys, spare = hand.lend_pieces(9000)
    got = _inline(t, hand, t.read(5000), spare, writes=[[segment]])
    if got:
        _comes_back_empty(t, got, spare)
        t.hold(bytes(key.memory[:5000]) == t.pattern(5000), 'other data is written')


an_unused_reply_chunk_comes_back_beside_a_used_write_chunk.wrong(_left_out)


@responder('A5.2-4', needs={'files'})
def a_reply_is_inline_only_where_its_returned_chunk_fits_too(t):
    """READs around that length, with a Reply chunk of forty segments: no Send exceeds the announced size."""
    hand = t.connect()
    whole = sum(s.length for s in long_read(t, hand, 6000, [9000])[3].header.reply or []) - 6000
    room = 4096 - 28 - 4 - 40 * 16 - whole
    for count in (room - 4, room, room + 4, room + 300, 4096 - 28 - whole):
        _call, keys, segments, got = long_read(t, hand, count, [150] * 40)
        t.hold(len(got.data) <= 4096, f'a Send of {len(got.data)} bytes comes')
        if got.header.proc == header.NOMSG:
            got.long = b''.join(k.memory for k in keys)[:whole + count]
        else:
            _comes_back_empty(t, got, segments)
        t.hold(got.body[whole:whole + count] == t.pattern(count), 'other data is read')


@a_reply_is_inline_only_where_its_returned_chunk_fits_too.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 4 + 40 * 16


a_reply_is_inline_only_where_its_returned_chunk_fits_too.wrong(_left_out)


@responder('A5.2-4', keys={'listen_compat': 'draft03'}, needs={'ours'})
def the_draft_leaves_an_unused_reply_chunk_out(t):
    """The draft does not return an unused chunk, and old clients have never seen one."""
    hand = t.connect()
    _keys, segments = hand.lend_pieces(1000, 1000)
    got = hand.reply(hand.call(t.null(), reply=segments).xid)
    t.hold(got.header.proc == header.MSG and got.header.reply is None, 'it comes back')


@the_draft_leaves_an_unused_reply_chunk_out.wrong
def _(end):
    end.unused_reply = lambda message: [dataclasses.replace(s, length=0) for s in message.reply]


def _empty(offered):
    return [dataclasses.replace(segment, length=0) for segment in offered]


def _come_back(t, *ways):
    """Inline Replies that return the Reply chunk in each of these ways."""
    hand = t.working()
    for way in ways:
        asked, got = t.next_called(hand, t.echo(t.pattern(800)))
        t.hold(got.header.reply, 'no reply chunk is offered')
        reply = t.server.answer(asked.call)
        hand.answer(got, reply, reply=way(got.header.reply))
        t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@requester('A5.2-4')
def an_unused_reply_chunk_may_come_back_with_zero_lengths(t):
    """The Reply chunk is returned as in RFC 8166."""
    _come_back(t, _empty)


@an_unused_reply_chunk_may_come_back_with_zero_lengths.wrong
def _(end):
    right = end.reply_of
    end.reply_of = lambda pending, message: None if message.reply else right(pending, message)


@requester('A5.2-4', needs={'draft'})
def an_unused_reply_chunk_may_come_back_in_either_way(t):
    """Inline Replies with the Reply chunk absent, with empty segments, and without segments."""
    _come_back(t, lambda offered: None, lambda offered: [], _empty)


@an_unused_reply_chunk_may_come_back_in_either_way.wrong
def _(end):
    right = end.reply_of
    end.reply_of = lambda pending, message: (
        None if pending.sent.reply and message.reply is None else right(pending, message))


@an_unused_reply_chunk_may_come_back_in_either_way.wrong
def _(end):
    right = end.reply_of
    end.reply_of = lambda pending, message: None if message.reply else right(pending, message)

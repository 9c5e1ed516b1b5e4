# SPDX-License-Identifier: BSD-3-Clause
"""What ends tell: draft-ietf-nfsv4-rpcrdma-cm-pvt-data-05 section 3, RFC 8797 section 3."""
from scene import inline
from scene.scenario import requester, responder
from wire import header, rpc, xdr


@responder('C3.1-1', needs={'files'})
def replies_are_1024_bytes_inline_by_default(t):
    """Without private data a Reply comes inline up to 1024 bytes, its header included."""
    inline.replies_fill(t, t.connect(data=b''), 1024)


@replies_are_1024_bytes_inline_by_default.wrong
def _(end):
    end.send_limit = lambda: 4096


@replies_are_1024_bytes_inline_by_default.wrong
def _(end):
    end.send_limit = lambda: 1024 + 28      # without the header


@replies_are_1024_bytes_inline_by_default.wrong
def _(end):
    end.send_limit = lambda: 1020


@requester('C3.1-1')
def calls_are_1024_bytes_inline_by_default(t):
    """Without private data a Call goes inline up to 1024 bytes, its header included."""
    inline.calls_fill(t, 1024, data=b'')


@calls_are_1024_bytes_inline_by_default.wrong
def _(end):
    end.send_limit = lambda: 4096


@calls_are_1024_bytes_inline_by_default.wrong
def _(end):
    end.send_limit = lambda: 1024 + 28


def _read_into_chunk(t, hand):
    """The Reply to a READ with a write chunk, and the key of that."""
    key, segment = hand.lend(2000, writable=True)
    return hand.ask(t.read(2000), writes=[[segment]]), key


@responder('C3.2-1', needs={'files'})
def no_key_is_invalidated_for_a_requester_that_does_not_say_it_may_be(t):
    """A requester without the flag gets plain Sends, whatever chunk it offers."""
    hand = t.connect(invalidate=False)
    got, key = _read_into_chunk(t, hand)
    t.hold(got.invalidated is None and not key.dead, 'the key of a write chunk is invalidated')
    key, segment = hand.lend(5000, writable=True)
    got = hand.ask(t.read(4500), reply=[segment])
    t.hold(got.invalidated is None and not key.dead, 'the key of a reply chunk is invalidated')
    call = t.write(t.pattern(2000))
    got = hand.ask(call[:-2000], reads=hand.read_chunk(len(call) - 2000, call[-2000:]))
    t.hold(got.invalidated is None, 'the key of a read chunk is invalidated')


@no_key_is_invalidated_for_a_requester_that_does_not_say_it_may_be.wrong
def _(end):
    right = end.peer_data

    def says_it():
        data = right()
        data.invalidate = True
        return data
    end.peer_data = says_it


def _invalidated_reply(t, hand, got, key):
    """Answers a Call that offers a reply chunk, inline, with that key invalidated."""
    reply = rpc.accepted(got.header.xid, xdr.var(b''))
    hand.answer(got, reply, invalidate=key)


@requester('C3.2-2')
def any_key_may_be_invalidated_where_it_is_said(t):
    """Whichever key a Reply invalidates, its Call is over, and others keep their memory."""
    asked, hand, first = t.called(t.echo(bytes(10000)))
    if not inline.told(hand).invalidate:
        return
    hand.answer_null(first)
    t.answered(asked)
    for pick in (0, -1):
        calls = [t.have_called(t.echo(bytes(10000))) for _ in range(2)]
        one, two = hand.next(), hand.next()
        keys = [s.handle for s in one.header.reads + (one.header.reply or [])]
        _invalidated_reply(t, hand, one, keys[pick])
        t.answered(calls[0])
        data = hand.message_of(two)
        t.hold(data[4:] == calls[1].call[4:], 'the other Call was changed')
        reply = rpc.accepted(two.header.xid, xdr.var(b'x' * 5000))
        segment = two.reply_chunk()[0]
        hand.conn.write(segment.handle, segment.offset, reply)
        hand.answer(two, b'', proc=header.NOMSG,
                    reply=[header.Segment(segment.handle, len(reply), segment.offset)])
        t.hold(t.answered(calls[1])[24:] == reply[24:], 'the Reply to the other Call is lost')


@any_key_may_be_invalidated_where_it_is_said.wrong
def _(end):
    right = end.lend
    shared = {}

    def lend(pending, memory, **rights):
        if not rights.get('writable'):
            return right(pending, memory, **rights)
        if 'key' not in shared:
            shared['key'] = end.conn.expose(memory, **rights)
        return shared['key']
    end.lend = lend


@any_key_may_be_invalidated_where_it_is_said.wrong
def _(end):
    right = end.take_reply
    end.take_reply = lambda message, gone: gone is None and right(message, gone)

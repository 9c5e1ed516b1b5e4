# SPDX-License-Identifier: BSD-3-Clause
"""All kinds of chunks in one RPC: draft-ietf-nfsv4-rpcrdma-03 section 3.8, RFC 8166
sections 3.5.2 and 3.5.3."""
from scene.inline import told
from scene.scenario import requester, responder
from wire import header


@responder('A3.8-1', needs={'files'})
def a_read_chunk_a_write_chunk_and_a_reply_chunk_in_one_call(t):
    """A READ by Read chunk with its data written, and an unused Reply chunk."""
    hand = t.connect()
    for count in (3000, 30000):
        call = t.read(count)
        key, segment = hand.lend(count, writable=True)
        _key, spare = hand.lend(4000, writable=True)
        got = hand.reply(hand.call(call, proc=header.NOMSG, body=b'', reply=[spare],
                                   reads=hand.read_chunk(0, call, 3), writes=[[segment]]).xid)
        t.hold(got.header.proc in (header.MSG, header.NOMSG), 'the Call is refused')
        t.hold(got.write_chunk()[0].length == count,
               f'the write list that comes back is {got.header.writes}')
        t.hold(key.memory == t.pattern(count), 'other data is written')


@a_read_chunk_a_write_chunk_and_a_reply_chunk_in_one_call.wrong
def _(end):
    right = end.reduced
    end.reduced = lambda work, reply: (
        ([], reply) if work.message.proc == header.NOMSG else right(work, reply))


@a_read_chunk_a_write_chunk_and_a_reply_chunk_in_one_call.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'both kinds of chunks' if message.reads and message.writes else right(message))


@responder('A3.8-1', needs={'files'})
def a_write_chunk_and_a_reply_chunk_are_both_used(t):
    """A READ with its data in the Write chunk, and the rest of its Reply elsewhere."""
    hand = t.connect(recv=1024)
    call = t.read(5500)
    left = min(told(hand).recv_bytes, 4096) - len(call) - 28 - 8 - 20
    keys, segments = hand.lend_pieces(*[5500 // 25] * 25, *[0] * min(30, left // 16 - 25))
    key, spare = hand.lend(8000, writable=True)
    got = hand.reply(hand.call(call, writes=[segments], reply=[spare]).xid)
    t.hold(got.header.proc in (header.MSG, header.NOMSG), 'the Call is refused')
    t.hold(b''.join(k.memory for k in keys) == t.pattern(5500), 'other data is written')
    rest = got.body or key.memory[:sum(s.length for s in got.reply_chunk())]
    t.hold(rest[:4] == got.header.xid.to_bytes(4, 'big'), 'the rest of the Reply is nowhere')
    t.hold(len(rest) < 300, f'{len(rest)} bytes beside the data that was written')


@a_write_chunk_and_a_reply_chunk_are_both_used.wrong
def _(end):
    right = end.into_reply_chunk
    end.into_reply_chunk = lambda message, out: not message.writes and right(message, out)


@a_write_chunk_and_a_reply_chunk_are_both_used.wrong
def _(end):
    right = end.reduced
    end.reduced = lambda work, reply: (
        (right(work, reply)[0], reply) if work.message.reply else right(work, reply))


@requester('A3.8-1')
def a_long_call_may_have_a_long_reply(t):
    """A Call by Read chunk also offers a Reply chunk, and its Reply comes in it."""
    asked, hand, got = t.called(t.echo(t.pattern(9000)))
    t.hold(got.header.proc == header.NOMSG and got.header.reads, 'the Call has no read chunk')
    t.hold(hand.message_of(got) == asked.call, 'another Call comes')
    reply = t.server.answer(asked.call)
    hand.answer_long(got, reply)
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@a_long_call_may_have_a_long_reply.wrong
def _(end):
    right = end.move

    def alone(pending, message):
        right(pending, message)
        message.reply = None
    end.move = alone


@a_long_call_may_have_a_long_reply.wrong
def _(end):
    right = end.reply_of
    end.reply_of = lambda pending, message: (
        None if pending.sent.reads and message.reply else right(pending, message))

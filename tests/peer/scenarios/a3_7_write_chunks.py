# SPDX-License-Identifier: BSD-3-Clause
"""Write chunks: draft-ietf-nfsv4-rpcrdma-03 section 3.7, RFC 8166 section 3.4.6."""
from scene.scenario import requester, responder
from wire import header


@responder('A3.7-1', needs={'files'})
def results_are_written_where_a_write_list_is_offered(t):
    """The data of a READ lands in the write chunk, and none of it comes inline."""
    hand = t.connect()
    key, segment = hand.lend(2000, writable=True)
    got = hand.ask(t.read(2000), writes=[[segment]])
    t.hold(got.header.proc == header.MSG, 'no RDMA_MSG')
    t.hold(got.header.writes and got.header.writes[0][0].length == 2000,
           f'the write list that comes back is {got.header.writes}')
    t.hold(key.memory == t.pattern(2000), 'other data was written')
    t.hold(len(got.body) < 200, f'{len(got.body)} bytes inline beside the chunk')


@results_are_written_where_a_write_list_is_offered.wrong
def _(end):
    end.reduced = lambda work, reply: ([], reply)


@requester('A3.7-3', keys={'ddp': 'nfs'})
def a_result_is_as_long_as_the_returned_lengths_say(t):
    """A short READ: the write list comes back with less than was offered."""
    asked, hand, got = t.called(t.read(20000))
    t.hold(got.header.writes, 'no write chunk is offered')
    data = t.pattern(1000)
    segment = got.header.writes[0][0]
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

# SPDX-License-Identifier: BSD-3-Clause
"""Short Calls to a server of the draft, which has no private data: draft-ietf-nfsv4-rpcrdma-03 section 3.1."""
from scene.scenario import requester
from wire import header

DIALECT = 'draft-03'


@requester('A3.1-1', keys={'connect_compat': 'draft03'})
def a_short_write_to_a_server_of_the_draft_needs_no_chunk(t):
    """That it has no private data makes it no server that wants the data of a WRITE apart."""
    hand = t.working(data=b'')
    for size in (100, 500):
        asked, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(got.header.proc == header.MSG and not got.header.reads,
               f'a WRITE of {size} bytes comes as: {header.describe(got.data)}')
        t.hold(got.body == asked.call, 'another Call comes')
        hand.answer(got, t.server.answer(asked.call))
        t.answered(asked)


@a_short_write_to_a_server_of_the_draft_needs_no_chunk.wrong
def _(end):
    end.send_limit = lambda: 200

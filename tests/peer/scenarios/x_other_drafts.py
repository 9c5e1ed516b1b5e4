# SPDX-License-Identifier: BSD-3-Clause
"""A client of a later draft of version two, with another format after the first four words."""
import struct

from scene import two
from scene.client_session import new_xid
from scene.scenario import responder
from wire import header, rpc

DIALECT = 'version two'

# What follows the version and the credit, and whether an RPC Call does.
STRANGE = {
    'a grant': ((5, 0, 0), False),
    'a list of properties': ((5, 2, 1, 4, 4096, 2, 4, 1), False),
    'a list of properties of another type': ((6, 0, 1, 1, 4, 4096), False),
    'a Call of another type': ((10, 0, 0, 0), True),
    'an RDMA_MSG with a handle before its lists': ((0, 0, 0, 0, 0), True),
    'an RDMA_MSG with flags and a handle': ((0, 0, 0, 0, 0, 0), True),
}


def _serves_version_one(t, hand, what):
    got = hand.ask(t.null())
    t.hold((got.header.vers, got.header.proc) == (1, header.MSG),
           f'behind {what} a Call of version one gets: {header.describe(got.data)}')


@responder('X-19')
def a_client_of_a_later_draft_falls_back_to_version_one(t):
    """Undecodable messages get an error of version two, and a Call of version one is served."""
    for what, (words, is_call) in STRANGE.items():
        hand, call = t.connect(), t.null()
        xid = rpc.xid_of(call)
        hand.send(struct.pack(f'>{3 + len(words)}I', xid, 2, 16, *words) + is_call * call)
        got = hand.reply(xid, f'an error for {what}')
        t.hold((got.header.vers, got.header.proc) == (2, header.ERROR),
               f'{what} gets: {header.describe(got.data)}')
        _serves_version_one(t, hand, what)
        hand.conn.close()


@responder('X-19')
def a_chunk_that_holds_no_call_settles_nothing(t):
    """A long Call of version two with another XID inside is refused when it was read."""
    for vers in (1, 2):
        hand, call = t.connect(), t.null()
        sent = hand.call(call, xid=new_xid(), vers=2, proc=header.NOMSG, body=b'',
                         reads=hand.read_chunk(0, call))
        two.is_refusal(t, hand.reply(sent.xid, 'an RDMA_ERROR'), header.ERR_CHUNK)
        if vers == 1:
            _serves_version_one(t, hand, 'a chunk that holds no Call')
        else:
            two.barrier(t, hand)
        hand.conn.close()


def _settles_as_it_comes(end):
    """Bends: any message that looks like a Call settles the version before it is decoded."""
    right = end.take_call

    def take_call(message):
        end.settle(message.vers)
        right(message)
    end.take_call = take_call


a_client_of_a_later_draft_falls_back_to_version_one.wrong(_settles_as_it_comes)
a_chunk_that_holds_no_call_settles_nothing.wrong(_settles_as_it_comes)


@a_client_of_a_later_draft_falls_back_to_version_one.wrong
def _(end):
    end.heard_two = lambda: end.settle(2)

# SPDX-License-Identifier: BSD-3-Clause
"""What draft-03 has and version two does not: draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2.

RDMA_MSGP and RDMA_DONE are reserved there, so nothing is padded, and no Reply is to be read: an
RDMA_NOMSG with a read list is a Call (X-13). Whoever has the draft's extras has them in version one.
"""
from scene import draft03, two
from scene.parts import cut
from scene.scenario import requester, responder
from nfs import binding
from wire import header

DIALECT = 'version two'
PADS = {'padding_align_bytes': 256}
SERVER = {**draft03.SERVER, **PADS}
CLIENT = two.with_keys(**draft03.CLIENT, **PADS)


def extras_everywhere(end):
    """A bend: the draft's extras do not stop at version two."""
    options = end.options
    end.in_draft03 = lambda: 'draft03' in (options.listen_compat, options.connect_compat)


def plain_and_served(t, got, call):
    """A Reply of version two is an RDMA_MSG with empty lists, and brings the data."""
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG),
           f'no RDMA_MSG of version two but: {header.describe(got.data)}')
    t.hold(not got.header.reads and got.body == t.server.answer(call), 'another Reply comes')


@responder('A3.5-2', keys=SERVER, needs={'behind', 'files'})
def replies_of_version_two_are_not_padded(t):
    """In version one the same Reply is an RDMA_MSGP."""
    call = t.read(2000)
    plain_and_served(t, two.ask(t.connect(), call), call)
    got = t.connect().ask(call)
    t.hold(got.header.proc == header.MSGP, 'in version one nothing is padded, either')


replies_of_version_two_are_not_padded.wrong(extras_everywhere)


@responder('A5.1-3', keys=SERVER, needs={'behind', 'files'})
def no_reply_of_version_two_is_to_be_read(t):
    """A Reply that fits nowhere is BAD_HEADER; in version one it would be exposed."""
    hand = t.connect()
    two.is_refusal(t, two.ask(hand, t.read(draft03.LONG)), header.BAD_HEADER)
    _key, small = hand.lend(64, writable=True)
    two.is_refusal(t, two.ask(hand, t.read(draft03.LONG), reply=[small]), header.BAD_HEADER)
    two.barrier(t, hand)
    draft03.lent(t, t.connect(), t.read(draft03.LONG))


no_reply_of_version_two_is_to_be_read.wrong(extras_everywhere)


@no_reply_of_version_two_is_to_be_read.wrong
def _(end):
    end.no_room = lambda work, out: None


@requester('A3.5-2', keys=CLIENT)
def calls_of_version_two_are_not_padded(t):
    """A WRITE above the threshold is an RDMA_MSG."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.write(t.pattern(2000)))
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG),
           f'no RDMA_MSG of version two but: {header.describe(got.data)}')
    t.hold(got.body == asked.call, 'another Call comes')
    two.done(t, hand, asked, got)


calls_of_version_two_are_not_padded.wrong(extras_everywhere)


@requester('A5.1-3', keys=CLIENT)
def a_reply_of_version_two_is_not_read(t):
    """A message with a Read list is no Reply: nothing of it is read, and no RDMA_DONE comes."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.read(1000))
    reply = t.server.answer(asked.call)
    at, size = binding.reply_payload(asked.call, reply)
    data, rest = cut(reply, at, size)
    hand.conn.hold_reads = True
    hand.answer(got, rest, reads=hand.read_chunk(at, data))
    t.not_delivered(hand, asked, 'a Reply with a read list')
    t.hold(not hand.conn.reads_waiting, 'it is read')


a_reply_of_version_two_is_not_read.wrong(extras_everywhere)

# SPDX-License-Identifier: BSD-3-Clause
"""Replies in RDMA_MSGP, at the client: draft-ietf-nfsv4-rpcrdma-03 section 3.5."""
from nfs import binding
from scene import draft03
from scene.draft03 import CLIENT, padded
from scene.parts import cut
from scene.scenario import requester
from wire import header, rpc

DIALECT = 'draft-03'
SIZE = 1024
SHORT = 2        # a flavor of verifiers: AUTH_SHORT


def _answer(hand, got, asked, reply, values, writes=()):
    """Answers a Call by an RDMA_MSGP with this (alignment, threshold)."""
    message = header.Header(got.header.xid, credit=16, body=reply, writes=list(writes))
    hand.send(padded(message, *values, asked.call))


def _reaches(t, size, values, verf=rpc.AUTH_NONE):
    """Returns whether a READ's Reply in an RDMA_MSGP reaches the caller, on a new connection."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(size))
    reply = t.server.answer(asked.call)
    reply = rpc.accepted(got.header.xid, rpc.decode(reply).result, verf=verf)
    _answer(hand, got, asked, reply, values)
    t.hold(t.answered(asked) == reply,
           f'alignment {values[0]}, threshold {values[1]}: another Reply reaches the caller')
    t.hang_up(hand)


@requester('A3.5-1', keys=CLIENT)
def a_reply_may_be_an_rdma_msgp(t):
    """The header has alignment and threshold before its lists."""
    _reaches(t, 2000, (512, 1000))


@a_reply_may_be_an_rdma_msgp.wrong
def _(end):
    end.take_padded = lambda message: None


a_reply_may_be_an_rdma_msgp.wrong(draft03.swapped)


@requester('A3.5-3', keys=CLIENT)
def pads_of_a_reply_are_passed_over(t):
    """Pads precede each opaque that reaches the threshold, and no other."""
    for values in ((256, SIZE - 1), (256, SIZE), (256, SIZE + 1), (3, SIZE), (0, SIZE), (1, SIZE)):
        _reaches(t, SIZE, values)


pads_of_a_reply_are_passed_over.wrong(draft03.no_pads)
pads_of_a_reply_are_passed_over.wrong(draft03.above_alone)


@pads_of_a_reply_are_passed_over.wrong
def _(end):
    draft03.plain_by(end, lambda m: setattr(m, 'thresh', SIZE))


@requester('A3.5-4', keys=CLIENT)
def pads_of_a_reply_are_counted_from_the_begin_of_its_send(t):
    """Alignment includes the header."""
    _reaches(t, 2000, (512, SIZE))


pads_of_a_reply_are_counted_from_the_begin_of_its_send.wrong(draft03.from_the_message)


@requester('A3.5-7', keys=CLIENT)
def the_verifier_of_a_reply_may_have_pads(t):
    """A verifier is an opaque like others."""
    for values in ((64, 8), (100, 24), (64, 25)):
        _reaches(t, 300, values, rpc.Auth(SHORT, bytes(range(24))))


the_verifier_of_a_reply_may_have_pads.wrong(draft03.no_pads)


@the_verifier_of_a_reply_may_have_pads.wrong
def _(end):
    class Walker(end.walker):
        """An end that does not expect pads at verifiers."""

        def auth(self):
            """An end that reads messages without removing pads."""
            align, self.align = self.align, 0
            super().auth()
            self.align = align
    end.walker = Walker


@requester('A3.5-8', keys={**CLIENT, 'ddp': 'nfs'})
def data_in_a_write_chunk_has_no_pads(t):
    """Its length word is in the RDMA_MSGP, and nothing after it; the verifier has pads."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(8000))
    t.hold(got.header.writes, 'no write chunk for a READ')
    result = rpc.decode(t.server.answer(asked.call)).result
    reply = rpc.accepted(got.header.xid, result, verf=rpc.Auth(SHORT, bytes(range(24))))
    data, rest = cut(reply, *binding.reply_payload(asked.call, reply))
    writes = [hand.fill(got.write_chunk(), data)]
    _answer(hand, got, asked, rest, (64, 16), writes)
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


data_in_a_write_chunk_has_no_pads.wrong(draft03.no_pads)


@data_in_a_write_chunk_has_no_pads.wrong
def _(end):
    right = end.plain

    def pads_missed(message):
        writes, message.writes = message.writes, []
        try:
            return right(message)
        finally:
            message.writes = writes
    end.plain = pads_missed

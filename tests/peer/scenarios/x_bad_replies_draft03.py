# SPDX-License-Identifier: BSD-3-Clause
"""Unusable Replies end their Calls, with the draft's extras: X-3."""
from scene import bad_replies, draft03, reverse
from scene.scenario import requester, responder

DIALECT = 'draft-03'


def _end_calls(t, bad):
    hand = t.working()
    bad_replies.end_calls(t, hand, bad, 1, lambda: t.next_called(hand, t.null()),
                          lambda: t.only_calls_follow(hand))


def _end_reverse_calls(t, bad):
    hand = reverse.acceptor(t)
    bad_replies.end_reverse_calls(t, hand, bad, 1, lambda: hand.barrier(t.null()))


@requester('X-3', keys=draft03.CLIENT, needs={'ours'})
def an_rdma_msg_that_cannot_be_used_ends_its_call_in_draft03(t):
    """Its lists do not decode, or its message is no Reply."""
    _end_calls(t, bad_replies.msg)


an_rdma_msg_that_cannot_be_used_ends_its_call_in_draft03.wrong(bad_replies.waits_for_ever)
an_rdma_msg_that_cannot_be_used_ends_its_call_in_draft03.wrong(bad_replies.answers)


@responder('X-3', keys=draft03.SERVER, needs={'ours', 'reverse'})
def an_rdma_msg_that_cannot_be_used_ends_its_reverse_call_in_draft03(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.msg)


an_rdma_msg_that_cannot_be_used_ends_its_reverse_call_in_draft03.wrong(bad_replies.waits_for_ever)
an_rdma_msg_that_cannot_be_used_ends_its_reverse_call_in_draft03.wrong(bad_replies.answers)


@requester('X-3', keys=draft03.CLIENT, needs={'ours'})
def an_rdma_nomsg_that_cannot_be_used_ends_its_call_in_draft03(t):
    """Its lists do not decode: its Read chunks are not read."""
    _end_calls(t, bad_replies.nomsg)


an_rdma_nomsg_that_cannot_be_used_ends_its_call_in_draft03.wrong(bad_replies.waits_for_ever)
an_rdma_nomsg_that_cannot_be_used_ends_its_call_in_draft03.wrong(bad_replies.answers)


@responder('X-3', keys=draft03.SERVER, needs={'ours', 'reverse'})
def an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call_in_draft03(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.nomsg)


an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call_in_draft03.wrong(bad_replies.waits_for_ever)
an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call_in_draft03.wrong(bad_replies.answers)


@requester('X-3', keys=draft03.CLIENT, needs={'ours'})
def an_rdma_msgp_that_cannot_be_used_ends_its_call_in_draft03(t):
    """Its lists do not decode, or its pads cannot be found."""
    _end_calls(t, bad_replies.msgp)


an_rdma_msgp_that_cannot_be_used_ends_its_call_in_draft03.wrong(bad_replies.waits_for_ever)
an_rdma_msgp_that_cannot_be_used_ends_its_call_in_draft03.wrong(bad_replies.answers)


@responder('X-3', keys=draft03.SERVER, needs={'ours', 'reverse'})
def an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call_in_draft03(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.msgp)


an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call_in_draft03.wrong(bad_replies.waits_for_ever)
an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call_in_draft03.wrong(bad_replies.answers)

# SPDX-License-Identifier: BSD-3-Clause
"""Unusable Replies of version one end their Calls: X-3."""
from scene import bad_replies, reverse
from scene.scenario import requester, responder


def _end_calls(t, bad):
    hand = t.working()
    bad_replies.end_calls(t, hand, bad, 1, lambda: t.next_called(hand, t.null()),
                          lambda: t.only_calls_follow(hand))


def _end_reverse_calls(t, bad):
    hand = reverse.acceptor(t)
    bad_replies.end_reverse_calls(t, hand, bad, 1, lambda: hand.barrier(t.null()))


@requester('X-3', needs={'ours'})
def an_rdma_msg_that_cannot_be_used_ends_its_call(t):
    """Its lists do not decode, or its message is no Reply."""
    _end_calls(t, bad_replies.msg)


an_rdma_msg_that_cannot_be_used_ends_its_call.wrong(bad_replies.waits_for_ever)
an_rdma_msg_that_cannot_be_used_ends_its_call.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def an_rdma_msg_that_cannot_be_used_ends_its_reverse_call(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.msg)


an_rdma_msg_that_cannot_be_used_ends_its_reverse_call.wrong(bad_replies.waits_for_ever)
an_rdma_msg_that_cannot_be_used_ends_its_reverse_call.wrong(bad_replies.answers)


@requester('X-3', needs={'ours'})
def an_rdma_nomsg_that_cannot_be_used_ends_its_call(t):
    """Its lists do not decode."""
    _end_calls(t, bad_replies.nomsg)


an_rdma_nomsg_that_cannot_be_used_ends_its_call.wrong(bad_replies.waits_for_ever)
an_rdma_nomsg_that_cannot_be_used_ends_its_call.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.nomsg)


an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call.wrong(bad_replies.waits_for_ever)
an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call.wrong(bad_replies.answers)


@requester('X-3', needs={'ours'})
def an_rdma_msgp_that_cannot_be_used_ends_its_call(t):
    """RFC 8166 has no such type: its message is a Reply, or nothing shows what it is."""
    _end_calls(t, bad_replies.msgp)


an_rdma_msgp_that_cannot_be_used_ends_its_call.wrong(bad_replies.waits_for_ever)
an_rdma_msgp_that_cannot_be_used_ends_its_call.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.msgp)


an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call.wrong(bad_replies.waits_for_ever)
an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call.wrong(bad_replies.answers)


@requester('X-3', needs={'ours'})
def a_reply_of_an_unknown_type_ends_its_call(t):
    """No document has such a type."""
    _end_calls(t, bad_replies.unknown)


a_reply_of_an_unknown_type_ends_its_call.wrong(bad_replies.waits_for_ever)
a_reply_of_an_unknown_type_ends_its_call.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def a_reply_of_an_unknown_type_ends_its_reverse_call(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.unknown)


a_reply_of_an_unknown_type_ends_its_reverse_call.wrong(bad_replies.waits_for_ever)
a_reply_of_an_unknown_type_ends_its_reverse_call.wrong(bad_replies.answers)


@requester('X-3', needs={'ours'})
def a_reply_of_another_version_ends_its_call(t):
    """Its version is not that of the Call."""
    _end_calls(t, bad_replies.of_another_version)


a_reply_of_another_version_ends_its_call.wrong(bad_replies.waits_for_ever)
a_reply_of_another_version_ends_its_call.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def a_reply_of_another_version_ends_its_reverse_call(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.of_another_version)


a_reply_of_another_version_ends_its_reverse_call.wrong(bad_replies.waits_for_ever)
a_reply_of_another_version_ends_its_reverse_call.wrong(bad_replies.answers)

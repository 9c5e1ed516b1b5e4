# SPDX-License-Identifier: BSD-3-Clause
"""Unusable Replies of version two end their Calls: X-3, X-13."""
from scene import bad_replies, two
from scene.scenario import requester, responder
from wire import header, xdr

DIALECT = 'version two'


def _end_calls(t, bad):
    hand = two.ready(t)
    bad_replies.end_calls(t, hand, bad, 2, lambda: two.again(t, hand, t.null()),
                          lambda: two.in_order(t, hand))


def _end_reverse_calls(t, bad):
    hand = t.connect()
    two.barrier(t, hand)
    bad_replies.end_reverse_calls(t, hand, bad, 2, lambda: two.barrier(t, hand))


@requester('X-3', keys=two.KEYS, needs={'ours'})
def an_rdma_msg_that_cannot_be_used_ends_its_call_in_version_two(t):
    """Only its XID shows its direction."""
    _end_calls(t, bad_replies.msg)


an_rdma_msg_that_cannot_be_used_ends_its_call_in_version_two.wrong(bad_replies.waits_for_ever)
an_rdma_msg_that_cannot_be_used_ends_its_call_in_version_two.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def an_rdma_msg_that_cannot_be_used_ends_its_reverse_call_in_version_two(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.msg)


an_rdma_msg_that_cannot_be_used_ends_its_reverse_call_in_version_two.wrong(bad_replies.waits_for_ever)
an_rdma_msg_that_cannot_be_used_ends_its_reverse_call_in_version_two.wrong(bad_replies.answers)


@requester('X-3', keys=two.KEYS, needs={'ours'})
def an_rdma_nomsg_that_cannot_be_used_ends_its_call_in_version_two(t):
    """Without a Read list it is a Reply (X-13); if that is not visible, its XID decides."""
    _end_calls(t, bad_replies.nomsg)


an_rdma_nomsg_that_cannot_be_used_ends_its_call_in_version_two.wrong(bad_replies.waits_for_ever)
an_rdma_nomsg_that_cannot_be_used_ends_its_call_in_version_two.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call_in_version_two(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.nomsg)


an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call_in_version_two.wrong(bad_replies.waits_for_ever)
an_rdma_nomsg_that_cannot_be_used_ends_its_reverse_call_in_version_two.wrong(bad_replies.answers)


@requester('X-3', keys=two.KEYS, needs={'ours'})
def an_rdma_msgp_that_cannot_be_used_ends_its_call_in_version_two(t):
    """A type that version two reserves."""
    _end_calls(t, bad_replies.msgp)


an_rdma_msgp_that_cannot_be_used_ends_its_call_in_version_two.wrong(bad_replies.waits_for_ever)
an_rdma_msgp_that_cannot_be_used_ends_its_call_in_version_two.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call_in_version_two(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.msgp)


an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call_in_version_two.wrong(bad_replies.waits_for_ever)
an_rdma_msgp_that_cannot_be_used_ends_its_reverse_call_in_version_two.wrong(bad_replies.answers)


@requester('X-3', keys=two.KEYS, needs={'ours'})
def a_reply_of_an_unknown_type_ends_its_call_in_version_two(t):
    """No document has such a type."""
    _end_calls(t, bad_replies.unknown)


a_reply_of_an_unknown_type_ends_its_call_in_version_two.wrong(bad_replies.waits_for_ever)
a_reply_of_an_unknown_type_ends_its_call_in_version_two.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def a_reply_of_an_unknown_type_ends_its_reverse_call_in_version_two(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.unknown)


a_reply_of_an_unknown_type_ends_its_reverse_call_in_version_two.wrong(bad_replies.waits_for_ever)
a_reply_of_an_unknown_type_ends_its_reverse_call_in_version_two.wrong(bad_replies.answers)


@requester('X-3', keys=two.KEYS, needs={'ours'})
def a_reply_of_another_version_ends_its_call_in_version_two(t):
    """Its version is not that of the Call."""
    _end_calls(t, bad_replies.of_another_version)


a_reply_of_another_version_ends_its_call_in_version_two.wrong(bad_replies.waits_for_ever)
a_reply_of_another_version_ends_its_call_in_version_two.wrong(bad_replies.answers)


@responder('X-3', needs={'ours', 'reverse'})
def a_reply_of_another_version_ends_its_reverse_call_in_version_two(t):
    """The same for a reverse Call: its caller immediately gets SYSTEM_ERR."""
    _end_reverse_calls(t, bad_replies.of_another_version)


a_reply_of_another_version_ends_its_reverse_call_in_version_two.wrong(bad_replies.waits_for_ever)
a_reply_of_another_version_ends_its_reverse_call_in_version_two.wrong(bad_replies.answers)


@requester('X-13', keys=two.KEYS, needs={'ours'})
def an_rdma_nomsg_with_a_read_list_is_a_call_whatever_its_xid(t):
    """Its lists do not decode, and a Call waits with its XID: BAD_HEADER, and that Call continues."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.null())
    two.refused(t, hand, _bad_call(got.header.xid), header.BAD_HEADER)
    t.hold(not asked.over, 'the Call with its XID ends')
    two.done(t, hand, asked, got)


def _bad_call(xid):
    return b''.join(map(xdr.u32, (xid, 2, 16, header.NOMSG, 1, 3))) + bytes(20)


@an_rdma_nomsg_with_a_read_list_is_a_call_whatever_its_xid.wrong
def _(end):
    end.says_call = lambda data: None

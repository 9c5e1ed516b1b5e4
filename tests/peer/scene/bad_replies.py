# SPDX-License-Identifier: BSD-3-Clause
"""Replies with unusable headers: their Calls end, and no message is sent."""
from scene import reverse
from wire import header, rpc, xdr

ABSURD = 1 << 30        # an alignment to more than any receive has


def _words(*numbers):
    return b''.join(map(xdr.u32, numbers))


def msg(xid, version):
    """Returns RDMA_MSGs with undecodable lists, and one whose message is neither Call nor Reply."""
    reply = rpc.accepted(xid, xdr.var(b'evil'))
    for lists in ((7, 0, 0), (0, 3, 0), (0, 0, 9), (0, 1, 2**28 + 1, 0), (0, 0, 1, 2**32 - 1)):
        yield _words(xid, version, 16, header.MSG, *lists) + reply
    yield _words(xid, version, 16, header.MSG, 0, 0, 0, xid, 5) + bytes(40)


def nomsg(xid, version):
    """Returns RDMA_NOMSGs with undecodable lists."""
    for lists in ((2, 0, 0), (0, 2, 0), (0, 0, 7), (0, 0, 1, 2**32 - 1)):
        yield _words(xid, version, 16, header.NOMSG, *lists) + bytes(20)


def msgp(xid, version):
    """Returns RDMA_MSGPs with undecodable lists, and one whose pads cannot be found."""
    reply = rpc.accepted(xid, xdr.var(b'evil'))
    for lists in ((7, 0, 0), (0, 3, 0), (0, 0, 9)):
        yield _words(xid, version, 16, header.MSGP, 8, 16, *lists) + reply
    yield _words(xid, version, 16, header.MSGP, ABSURD, 16, 0, 0, 0) + reply


def unknown(xid, version):
    """Returns messages of types that no document has."""
    for proc in (66, 2**32 - 1):
        yield _words(xid, version, 16, proc) + bytes(12) + rpc.accepted(xid, xdr.var(b'evil'))


def of_another_version(xid, version):
    """Returns Replies with chunks, inline and not, in other versions than that of the connection."""
    for vers in {1, 2, 99} - {version}:
        segment = header.Segment(5, 100, 0)
        yield _words(xid, vers, 16) + header.encode(
            header.Header(xid, proc=header.NOMSG, reply=[segment]))[12:]
        yield _words(xid, vers, 16, header.MSG, 0, 3, 0) + rpc.accepted(xid, xdr.var(b'evil'))


def end_calls(t, hand, bad, version, called, in_order):
    """Checks that each of these Replies ends its Call, that no message is sent, and that Calls continue.

    bad(xid, version): the Replies; called(): has the requester call once more, (what was asked, the Call);
    in_order(): what was sent before has been dealt with, and nothing came of it.
    """
    for n in range(len(list(bad(0, version)))):
        asked, got = called()
        hand.send(list(bad(got.header.xid, version))[n])
        t.refused_by_caller(hand, asked, f'Reply {n}, which cannot be used')
        t.hold(not hand.conn.ended, f'Reply {n}, which cannot be used, ends the connection')
        in_order()


def end_reverse_calls(t, hand, bad, version, in_order):
    """The same for reverse Calls, which an acceptor makes: the caller gets SYSTEM_ERR."""
    for n in range(len(list(bad(0, version)))):
        asked, = reverse.calls(t, hand)
        got = reverse.came(hand)
        hand.send(list(bad(got.header.xid, version))[n])
        reply = rpc.decode(t.answered(asked, 'the end of a reverse Call'))
        t.hold(reply.accept_stat == rpc.SYSTEM_ERR, f'after Reply {n} its caller gets {reply}')
        in_order()


# ---------------------------------------------------------------- ways to do it wrongly

def waits_for_ever(end):
    """A bend: the Reply is dropped, and its Call waits."""
    end.bad_reply = lambda xid: None
    end.late = lambda pending: None


def answers(end):
    """A bend: it is answered like a Call."""
    end.may_be_call = lambda data: True
    end.waits_for = lambda xid: False
    end.bad_reply = lambda xid: end.refuse_header(xid, 1, '')

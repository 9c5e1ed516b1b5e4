# SPDX-License-Identifier: BSD-3-Clause
"""Reverse Calls, which the acceptor makes: what scenarios do with them at either end."""
from scene import scenario
from wire import header, rpc


def acceptor(t, **start):
    """A connection to an acceptor whose consumer has heard from ours: a reverse Call may come."""
    hand = t.connect(**start)
    hand.ask(t.null())
    return hand


def calls(t, hand, count=1):
    """Has the acceptor make so many NULL Calls at once; what was asked."""
    return [t.have_called_back(t.null()) for _ in range(count)]


def came(hand, what='the reverse Call'):
    """The next Send, which must be a Call."""
    got = hand.next(what)
    if not is_call(got):
        raise scenario.Wrong(f'{header.describe(got.data)} instead of {what}')
    return got


def is_call(got):
    """Whether a Send has a Call inline."""
    return got.header.proc == header.MSG and rpc.is_call(got.body)


def answer(hand, got, credit=1, result=b''):
    """Answers a reverse Call, granting so many."""
    return hand.answer(got, rpc.accepted(got.header.xid, result), credit=credit)


def granted(t, hand, asked=64):
    """What the connector grants for reverse Calls."""
    return hand.ask(t.null(), credit=asked).header.credit


def many_at_once(t, hand, count):
    """So many Calls in one go, none answered before all are there; all their answers, by XID."""
    held = t.hold_back()
    sent = [hand.call(t.null()).xid for _ in range(count)]
    t.settle(lambda: len(held) == count or hand.conn.ended, f'{count} Calls at the far side')
    t.hold(len(held) == count, f'the connection ends, with {len(held)} of {count} Calls taken')
    t.server.before = None
    for call in held:
        t.let_go(call)
    got = {reply.header.xid: reply for reply in (hand.next('a Reply') for _ in sent)}
    t.hold(set(got) == set(sent), 'other Calls were answered than were made')
    return got

# SPDX-License-Identifier: BSD-3-Clause
"""Reverse Calls, which the acceptor makes: functions for scenarios at both ends."""
from scene import scenario
from wire import header, rpc


def acceptor(t, **start):
    """Returns a connection to an acceptor after a first message, so that it can send reverse Calls."""
    hand = t.connect(**start)
    hand.ask(t.null())
    return hand


def calls(t, hand, count=1):
    """Makes the acceptor send several NULL Calls together. Returns the Calls."""
    return [t.have_called_back(t.null()) for _ in range(count)]


def came(hand, what='the reverse Call'):
    """Returns the next Send, which must be a Call."""
    got = hand.next(what)
    if not is_call(got):
        raise scenario.Wrong(f'{header.describe(got.data)} instead of {what}')
    return got


def is_call(got):
    """Returns whether a Send has a Call inline."""
    return got.header.proc == header.MSG and rpc.is_call(got.body)


def answer(hand, got, credit=1, result=b''):
    """Answers a reverse Call with a grant."""
    return hand.answer(got, rpc.accepted(got.header.xid, result), credit=credit)


def granted(t, hand, asked=64):
    """Returns the connector's grant for reverse Calls."""
    return hand.ask(t.null(), credit=asked).header.credit


def many_at_once(t, hand, count):
    """Sends several Calls together, and answers none before all have come. Returns the answers by XID."""
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

# SPDX-License-Identifier: BSD-3-Clause
"""Flow control: draft-ietf-nfsv4-rpcrdma-03 section 3.3, RFC 8166 section 3.3.1."""
from scene.scenario import requester, responder


@responder('A3.3-3')
def no_reply_grants_nothing(t):
    """Whatever a Call asks for, the Reply grants one credit at least."""
    hand = t.connect()
    for asked in (0, 1, 7, 0, 2**32 - 1):
        got = hand.ask(t.null(), credit=asked)
        t.hold(got.header.credit >= 1, f'asked for {asked}, a Reply grants 0')


@no_reply_grants_nothing.wrong
def _(end):
    end.grant = lambda asked: min(asked, 8)


@requester('A3.3-4')
def no_more_calls_than_granted_are_in_flight(t):
    """One Call before the first Reply, then as many as each Reply grants."""
    asked = [t.have_called(t.null()) for _ in range(9)]
    hand = t.accept()
    first = hand.next('the first Call')
    for grant in (3, 1, 4):
        hand.answer_null(first, credit=grant)
        calls = [hand.next(f'Call {n + 1} of {grant}') for n in range(grant)]
        for call in calls[:-1]:
            t.hold(not hand.conn.sends, f'more than {grant} Calls are in flight')
            hand.answer_null(call, credit=1)
        first = calls[-1]
        if len([a for a in asked if a.over]) >= 8:
            break
    hand.quiet()
    t.hold(len(asked) == 9, 'Calls are lost')


@no_more_calls_than_granted_are_in_flight.wrong
def _(end):
    end.may_send = lambda: end.conn.open

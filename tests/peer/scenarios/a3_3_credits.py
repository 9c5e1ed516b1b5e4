# SPDX-License-Identifier: BSD-3-Clause
"""Flow control: draft-ietf-nfsv4-rpcrdma-03 section 3.3, RFC 8166 section 3.3.1."""
import itertools

from nfs.server import HOLD
from scene.scenario import requester, responder
from wire import header

LONG = 6000


@responder('A3.3-3')
def no_reply_grants_nothing(t):
    """The Reply grants at least one credit, for any requested number."""
    hand = t.connect()
    for asked in (0, 1, 7, 0, 2**32 - 1):
        got = hand.ask(t.null(), credit=asked)
        t.hold(got.header.credit >= 1, f'asked for {asked}, a Reply grants 0')


@no_reply_grants_nothing.wrong
def _(end):
    end.grant = lambda asked: min(asked, 8)


@requester('A3.3-4')
def no_more_calls_than_granted_are_in_flight(t):
    """One Call comes before the first Reply, then as many as each Reply grants."""
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


@no_more_calls_than_granted_are_in_flight.wrong
def _(end):
    end.may_send = lambda: end.conn.open and len(end.pending) <= end.granted


def _one_by_one(t, count):
    """Makes the requester send long Calls. Returns its Hand and the first Call, which must be alone."""
    asked = [t.have_called(t.echo(bytes(LONG), 0)) for _ in range(count)]
    hand = t.accept()
    first = hand.next('the first Call')
    _no_more(hand, first)
    return asked, hand, first


def _no_more(hand, call):
    """Checks that no message followed this Call, by a Read, whose response follows all earlier messages."""
    hand.message_of(call)
    hand.quiet()


@requester('A3.3-1')
def each_call_asks_for_credits(t):
    """Every Call requests at least one credit."""
    hand = t.working()
    for _ in range(3):
        asked, got = t.next_called(hand, t.null())
        t.hold(got.header.credit > 0, 'a Call asks for no credit')
        hand.answer_null(got)
        t.answered(asked)


@each_call_asks_for_credits.wrong
def _(end):
    end.ask = lambda: 0


@responder('A3.3-2')
def what_is_granted_can_be_used(t):
    """As many concurrent Calls as were requested and granted are all answered."""
    hand = t.connect()
    grant = hand.ask(t.null(), credit=8).header.credit
    for asked in (8, 3, 32, 1, 64):
        sent = {hand.call(t.null(), credit=asked).xid for _ in range(min(grant, asked))}
        while sent:
            got = hand.next('a Reply')
            t.hold(got.header.xid in sent, 'an answer to nothing')
            sent.remove(got.header.xid)
            grant = got.header.credit


@what_is_granted_can_be_used.wrong
def _(end):
    right = end.take_call
    count = itertools.count(1)
    end.take_call = lambda message: next(count) % 3 and right(message)


@requester('A3.3-3', needs={'ours'})
def a_grant_of_zero_counts_as_one(t):
    """A grant of zero does not stop the requester: it sends one Call at a time. No document requires that."""
    asked, hand, got = _one_by_one(t, 4)
    for _ in range(3):
        hand.answer_null(got, credit=0)
        got = hand.next('a Call behind a grant of zero')
        _no_more(hand, got)
    hand.answer_null(got)
    t.settle(lambda: all(a.over for a in asked), 'the last Reply')


@a_grant_of_zero_counts_as_one.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', credit)


@a_grant_of_zero_counts_as_one.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', credit or 32)


@requester('A3.3-4')
def calls_wait_until_less_than_a_smaller_grant_is_in_flight(t):
    """With four in flight and a grant of two, the next Call follows the third Reply."""
    _asked, hand, first = _one_by_one(t, 8)
    hand.answer_null(first, credit=4)
    calls = [hand.next(f'Call {n + 1} of 4') for n in range(4)]
    for _ in range(2):
        hand.answer_null(calls.pop(0), credit=2)
        _no_more(hand, calls[0])
    hand.answer_null(calls.pop(0), credit=2)
    _no_more(hand, hand.next('the Call that the grant allows again'))


@calls_wait_until_less_than_a_smaller_grant_is_in_flight.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', max(end.granted, credit))


@calls_wait_until_less_than_a_smaller_grant_is_in_flight.wrong
def _(end):
    right = end.take_reply

    def one_for_one(message, invalidated):
        granted = end.granted
        if granted > 1:
            message.credit = granted
        right(message, invalidated)
    end.take_reply = one_for_one


@requester('A3.3-4', keys={'credits': 3})
def no_more_calls_than_asked_for_are_in_flight(t):
    """A grant beyond the request allows no more than was requested: RFC 8166 section 3.3.1."""
    _asked, hand, first = _one_by_one(t, 12)
    wanted = first.header.credit
    hand.answer_null(first, credit=64)
    for number in range(min(wanted, 10)):
        got = hand.next(f'Call {number + 1} of {wanted}')
    if wanted < 11:
        _no_more(hand, got)


@no_more_calls_than_asked_for_are_in_flight.wrong
def _(end):
    end.may_send = lambda: end.conn.open and len(end.pending) < end.granted


@requester('A3.3-5')
def the_last_grant_is_that_of_the_last_send(t):
    """If Replies overtake each other, the grant of the last received one holds, larger or smaller."""
    _asked, hand, first = _one_by_one(t, 12)
    hand.answer_null(first, credit=3)
    calls = [hand.next(f'Call {n + 1} of 3') for n in range(3)]
    hand.answer_null(calls.pop(), credit=1)
    _no_more(hand, calls[-1])
    hand.answer_null(calls.pop(0), credit=3)
    calls += [hand.next('a Call of the larger grant') for _ in range(2)]
    hand.answer_null(calls.pop(), credit=5)
    calls += [hand.next('a Call of the largest grant') for _ in range(3)]
    hand.answer_null(calls.pop(0), credit=1)
    _no_more(hand, calls[-1])


@the_last_grant_is_that_of_the_last_send.wrong
def _(end):
    right, take_grant, newest = end.take_reply, end.take_grant, [0]

    def by_call(message, invalidated):
        end.take_grant = take_grant if message.xid >= newest[0] else lambda credit: None
        newest[0] = max(newest[0], message.xid)
        right(message, invalidated)
    end.take_reply = by_call


@the_last_grant_is_that_of_the_last_send.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', max(end.granted, credit))


@requester('A3.3-5', needs={'rfc'})
def the_last_grant_may_be_that_of_an_error(t):
    """All that a responder sends tells its grant (RFC 8166 section 3.3.1): a smaller one is obeyed."""
    _asked, hand, first = _one_by_one(t, 8)
    hand.answer_null(first, credit=4)
    calls = [hand.next(f'Call {n + 1} of 4') for n in range(4)]
    hand.answer(calls.pop(0), b'', credit=2, proc=header.ERROR, err=header.ERR_CHUNK)
    _no_more(hand, calls[0])
    hand.answer_null(calls.pop(0), credit=2)
    _no_more(hand, calls[0])


@the_last_grant_may_be_that_of_an_error.wrong
def _(end):
    end.take_grant_of_error = lambda credit: None


@the_last_grant_may_be_that_of_an_error.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', max(end.granted, credit))


@responder('A3.3-6', needs={'rough'})
def calls_without_credit_do_no_harm(t):
    """Hundreds of concurrent Calls may be dropped, refused, or close the connection; other clients continue."""
    hand = t.connect()
    for _ in range(300):
        hand.call(t.null())
    t.connect().barrier(t.null())


@calls_without_credit_do_no_harm.wrong
def _(end):
    count = itertools.count(1)
    if getattr(end.options, 'ruined', False):
        end.attach = lambda conn: conn.close()

    def ruin(_message):
        end.options.ruined |= next(count) > 64
    end.options.ruined = getattr(end.options, 'ruined', False)
    end.take_call = ruin


@responder('A3.3-7', needs={'behind'}, keys={'credits': 4})
def replies_leave_when_every_credit_is_in_use(t):
    """Replies come even if as many Calls as granted are waiting."""
    held = []

    def hold(call):
        held.append(call)
        return HOLD
    hand = t.connect()
    grant = hand.ask(t.null()).header.credit
    t.server.before = hold
    sent = {hand.call(t.null()).xid for _ in range(grant)}
    t.settle(lambda: len(held) == grant, 'all Calls to arrive behind the responder')
    for call in held:
        t.let_go(call)
        sent.remove(hand.next('a Reply').header.xid)
    t.hold(not sent, 'Calls are not answered')


@replies_leave_when_every_credit_is_in_use.wrong
def _(end):
    right = end.answered
    end.answered = lambda xid, reply: (
        len(end.works) < end.options.credits and right(xid, reply))


@responder('A3.3-8')
def a_receive_is_there_for_each_credit_that_comes_back(t):
    """A new Call follows each Reply immediately, many times."""
    hand = t.connect()
    for _ in range(8):
        grant = min(hand.ask(t.null(), credit=32).header.credit, 32)
    for _ in range(grant):
        hand.call(t.null(), credit=32)
    for _ in range(200):
        hand.next('a Reply while all credits are in use')
        hand.call(t.null(), credit=32)
    for _ in range(grant):
        hand.next('a Reply to one of the last Calls')


@a_receive_is_there_for_each_credit_that_comes_back.wrong
def _(end):
    right, posted = end.take_call, itertools.count(1)
    end.take_call = lambda message: (
        end.conn.terminate(0x12, 0x02) if next(posted) > 128 else right(message))


@responder('A3.3-9', needs={'reverse'})
def reverse_calls_keep_to_the_grant(t):
    """The acceptor as requester: one Call before the first Reply, then as many as granted."""
    hand = t.connect()
    hand.barrier(t.null())
    for _ in range(6):
        t.have_called_back(t.null())
    got = hand.next('a reverse Call')
    for grant in (1, 3):
        hand.barrier(t.null())
        hand.quiet()
        hand.answer_null(got, credit=grant)
        calls = [hand.next(f'reverse Call {n + 1} of {grant}') for n in range(grant)]
        got = calls[0]
    hand.barrier(t.null())
    hand.quiet()


@reverse_calls_keep_to_the_grant.wrong
def _(end):
    end.may_send = lambda: end.conn.open


@reverse_calls_keep_to_the_grant.wrong
def _(end):
    end.may_send = lambda: end.conn.open and len(end.pending) <= end.granted


@requester('A3.3-9')
def no_reverse_reply_grants_nothing(t):
    """The connector as responder: its Replies to reverse Calls grant at least one credit."""
    hand = t.working()
    for asked in (0, 1, 8):
        got = hand.ask(t.null(), credit=asked)
        t.hold(got.header.credit >= 1, f'asked for {asked}, a reverse Reply grants 0')


@no_reverse_reply_grants_nothing.wrong
def _(end):
    end.grant = lambda asked: min(asked, 8)

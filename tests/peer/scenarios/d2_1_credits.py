# SPDX-License-Identifier: BSD-3-Clause
"""Credits: draft-ietf-nfsv4-rpcrdma-bidirection-02 sections 2.1, 2.2, RFC 8167 section 4."""
from scene import reverse
from scene.scenario import requester, responder


def _has_receives_for(count, of):
    """A bend: the connection ends when more Sends than so many are not dealt with yet."""
    def bend(end):
        right = end.on_send

        def on_send(sent):
            if of(end) >= count(end):
                end.conn.close()
            else:
                right(sent)
        end.on_send = on_send
    return bend


ONE_TOO_FEW = _has_receives_for(lambda end: end.options.credits - 1, lambda end: len(end.works))


@responder('D2.1.1-1', needs={'behind'})
def as_many_forward_calls_as_granted_are_taken(t):
    """The responder can receive at least as many Calls as it grants."""
    hand = t.connect()
    reverse.many_at_once(t, hand, hand.ask(t.null()).header.credit)


as_many_forward_calls_as_granted_are_taken.wrong(ONE_TOO_FEW)


@requester('D2.1.1-1')
def no_more_forward_calls_than_granted_are_sent(t):
    """As in one direction: the grant of the last Reply counts."""
    asked = [t.have_called(t.null()) for _ in range(8)]
    hand = t.accept()
    hand.answer_null(hand.next('the first Call'), credit=3)
    got = [hand.next('a Call') for _ in range(3)]
    hand.answer_null(got[0], credit=2)
    t.answered(asked[0])
    t.answered(asked[1])
    hand.answer_null(got[1], credit=2)
    got.append(hand.next('a Call'))
    hand.quiet()
    t.hold(sum(one.over for one in asked) == 3, 'other Calls are over than were answered')


@no_more_forward_calls_than_granted_are_sent.wrong
def _(end):
    end.may_send = lambda: end.conn.open


@no_more_forward_calls_than_granted_are_sent.wrong
def _(end):
    right = end.take_grant
    end.take_grant = lambda credit: right(max(credit, end.granted))


def _calls_grant(end):
    """A bend: what a Call asks for is taken for a grant of the other direction."""
    right = end.take_call

    def take_call(message):
        end.take_grant(message.credit)
        right(message)
        end.send_more()
    end.take_call = take_call


@responder('D2.1.2-1', needs={'reverse'})
def reverse_credits_are_not_the_forward_ones_at_the_acceptor(t):
    """Requests of forward Calls give no credits for reverse Calls; these request at least one."""
    hand = reverse.acceptor(t)
    reverse.calls(t, hand, 3)
    first = reverse.came(hand)
    t.hold(first.header.credit >= 1, 'a reverse Call asks for no credit')
    for credit in (64, 2, 1):
        hand.ask(t.null(), credit=credit)
    hand.quiet()
    reverse.answer(hand, first, credit=2)
    for _ in range(2):
        got = reverse.came(hand)
        t.hold(got.header.credit >= 1, 'a reverse Call asks for no credit')


reverse_credits_are_not_the_forward_ones_at_the_acceptor.wrong(_calls_grant)


@reverse_credits_are_not_the_forward_ones_at_the_acceptor.wrong
def _(end):
    end.ask = lambda: 0


@requester('D2.1.2-1', needs={'reverse'})
def reverse_credits_are_not_the_forward_ones_at_the_connector(t):
    """Credits of reverse Calls give none for forward Calls; their Replies grant at least one."""
    asked = [t.have_called(t.null()) for _ in range(5)]
    hand = t.accept()
    hand.answer_null(hand.next('the first Call'), credit=1)
    second = hand.next('the second Call')
    for credit in (64, 0, 2**32 - 1, 1):
        got = hand.ask(t.null(), credit=credit)
        t.hold(got.header.credit >= 1, f'asked for {credit}, a reverse Reply grants none')
    hand.quiet()
    hand.answer_null(second, credit=3)
    for _ in range(3):
        hand.answer_null(hand.next('a Call'), credit=3)
    for one in asked:
        t.answered(one)


reverse_credits_are_not_the_forward_ones_at_the_connector.wrong(_calls_grant)


@reverse_credits_are_not_the_forward_ones_at_the_connector.wrong
def _(end):
    end.grant = lambda asked: min(asked, 16)


@responder('D2.1.2-2', needs={'reverse'})
def no_more_reverse_calls_than_granted_are_in_flight(t):
    """One reverse Call comes before the first Reply, then as many as each Reply grants."""
    hand = reverse.acceptor(t)
    asked = reverse.calls(t, hand, 9)
    last = reverse.came(hand)
    hand.barrier(t.null())
    for grant in (3, 1, 4):
        reverse.answer(hand, last, grant)
        got = [reverse.came(hand, f'reverse Call {n + 1} of {grant}') for n in range(grant)]
        hand.barrier(t.null())
        for call in got[:-1]:
            hand.quiet()
            reverse.answer(hand, call, credit=1)
            hand.barrier(t.null())
        last = got[-1]
    hand.quiet()
    reverse.answer(hand, last, 1)
    for one in asked:
        t.answered(one)


@no_more_reverse_calls_than_granted_are_in_flight.wrong
def _(end):
    end.may_send = lambda: end.conn.open


@no_more_reverse_calls_than_granted_are_in_flight.wrong
def _(end):
    end.granted = 2


@no_more_reverse_calls_than_granted_are_in_flight.wrong
def _(end):
    right = end.take_grant
    end.take_grant = lambda credit: right(max(credit, end.granted))


@requester('D2.1.2-2', needs={'reverse'})
def the_connector_takes_as_many_reverse_calls_as_it_grants(t):
    """Each reverse Reply grants credits, and as many concurrent reverse Calls are accepted."""
    hand = t.working()
    for _ in range(3):
        reverse.many_at_once(t, hand, reverse.granted(t, hand))


the_connector_takes_as_many_reverse_calls_as_it_grants.wrong(ONE_TOO_FEW)


@the_connector_takes_as_many_reverse_calls_as_it_grants.wrong
def _(end):
    right = end.take_call
    end.take_call = lambda message: len(end.works) < 2 and right(message)


@requester('D2.2.1-1', needs={'reverse'})
def receives_for_reverse_calls_are_there_without_forward_calls(t):
    """With and without forward Calls in flight, all granted reverse Calls have a receive."""
    asked, hand, got = t.called(t.null())
    hand.answer_null(got, credit=4)
    t.answered(asked)
    grant = reverse.granted(t, hand)
    reverse.many_at_once(t, hand, grant)
    asked = [t.have_called(t.null()) for _ in range(4)]
    got = [hand.next('a Call') for _ in asked]
    held = t.hold_back()
    for _ in range(grant):
        hand.call(t.null())
    for call in got:
        hand.answer_null(call)
    for one in asked:
        t.answered(one)
    t.settle(lambda: len(held) == grant or hand.conn.ended, 'the reverse Calls at the client')
    t.hold(len(held) == grant, 'the connection ends')


@receives_for_reverse_calls_are_there_without_forward_calls.wrong
def _(end):
    right = end.on_send

    def on_send(sent):
        if end.pending or sum(1 for _ in end.works) < 1:
            right(sent)
        else:
            end.conn.close()
    end.on_send = on_send


@receives_for_reverse_calls_are_there_without_forward_calls.wrong
def _(end):
    right = end.on_send
    end.on_send = lambda sent: (right(sent) if len(end.works) < end.options.credits
                                else end.conn.close())


def _only_once(end):
    """Bends: receives are posted only on the first connection."""
    said = vars(end.options)
    said['connections'] = said.get('connections', 0) + 1
    if said['connections'] > 1:
        _has_receives_for(lambda _: 2, lambda e: len(e.works) + len(e.pending))(end)


@requester('D2.2.1-2', needs={'reverse'})
def a_reconnect_has_all_receives_again_at_the_connector(t):
    """On each of several connections as many concurrent reverse Calls as granted are accepted."""
    for _ in range(3):
        hand = t.working()
        reverse.many_at_once(t, hand, reverse.granted(t, hand))
        held = t.hold_back()
        hand.call(t.null())
        t.settle(lambda h=held: h, 'a reverse Call that is never answered')
        t.server.before = None
        t.hang_up(hand)


a_reconnect_has_all_receives_again_at_the_connector.wrong(_only_once)


@responder('D2.2.2-2', needs={'behind', 'reverse'})
def a_reconnect_has_all_receives_again_at_the_acceptor(t):
    """On each of several connections all granted Calls and a reverse Reply are accepted together."""
    for _ in range(3):
        hand = reverse.acceptor(t)
        _everything_at_once(t, hand)
        hand.conn.close()


def _everything_at_once(t, hand):
    """Forward Calls up to the grant come during reverse Calls, and then Replies to all these."""
    grant = hand.ask(t.null()).header.credit
    asked = reverse.calls(t, hand, 5)
    reverse.answer(hand, reverse.came(hand), credit=4)
    got = [reverse.came(hand) for _ in range(4)]
    held = t.hold_back()
    sent = {hand.call(t.null()).xid for _ in range(grant)}
    for call in got:
        reverse.answer(hand, call, credit=4)
    for one in asked:
        t.answered(one)
    t.settle(lambda: len(held) == grant or hand.conn.ended, 'the Calls at the server')
    t.hold(len(held) == grant, 'the connection ends')
    t.server.before = None
    for call in held:
        t.let_go(call)
    for _ in range(grant):
        sent.discard(hand.next('a Reply').header.xid)
    t.hold(not sent, 'Calls have no Reply')


a_reconnect_has_all_receives_again_at_the_acceptor.wrong(_only_once)


@responder('D2.2.2-1', needs={'behind', 'reverse'})
def the_acceptor_has_a_receive_for_each_reverse_reply(t):
    """Replies to reverse Calls are accepted while all granted forward Calls are in progress."""
    _everything_at_once(t, reverse.acceptor(t))


@the_acceptor_has_a_receive_for_each_reverse_reply.wrong
def _(end):
    _has_receives_for(lambda e: e.options.credits, lambda e: len(e.works))(end)


@responder('D2.2.3-1', needs={'reverse'})
def an_acceptor_does_not_call_by_itself(t):
    """Unless its consumer has a Call, only Replies come."""
    hand = t.connect()
    for _ in range(10):
        hand.ask(t.null())
    hand.quiet()


@an_acceptor_does_not_call_by_itself.wrong
def _(end):
    right = end.take_call

    def probes(message):
        if not end.pending:
            end.call(message.body[:3] + b'\xff' + message.body[4:])
        right(message)
    end.take_call = probes

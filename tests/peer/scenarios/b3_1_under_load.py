# SPDX-License-Identifier: BSD-3-Clause
"""Receive sizes that change under Calls: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 3.1."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire

DIALECT = 'version two'
TIMES = 20
IN_FLIGHT = 4


class Dispositions:
    """Collects the answers to a REQ_XCHAR and to the Calls around it."""

    def __init__(self, t, request, calls):
        self.t = t
        self.asked = request.xid
        self.left = {call.xid for call in calls}
        self.holds = None       # whether what was asked for does; None: it pends

    def take(self, got):
        """Takes one answer."""
        if two.is_operation(got, wire.RESP_XCHAR):
            self.t.hold(got.header.xid == self.asked, 'a RESP_XCHAR with another XID')
            done, rej, pend = two.decoded(wire.decode_resp, got)
            self.holds = None if pend else bool(done and not rej)
            self.asked = None
        elif two.is_operation(got, wire.UPD_XCHAR):
            self.holds = two.decoded(wire.decode_upd, got)[1] or self.holds
        else:
            self.t.hold(got.header.xid in self.left, 'an answer to nothing')
            self.left.discard(got.header.xid)


def settled_under_calls(t, hand, request, calls):
    """Takes all answers. Returns whether the requested size is finally in effect."""
    answers, wait = Dispositions(t, request, calls), two.Wait(t, hand)
    while answers.left or answers.asked is not None:
        answers.take(hand.next('an answer'))
    while answers.holds is None:
        for got in wait.next():
            answers.take(got)
    return answers.holds


@responder('B3.1-4', needs={'files'})
def receives_rise_and_fall_under_calls(t):
    """A peer that requests less immediately sends less; one that requests more waits for the answer."""
    hand = two.greeted(t)
    limit = 4096
    two.barrier(t, hand)
    for turn in range(TIMES):
        wanted = (4096, 12288)[turn % 2]
        sent = [hand.call(two.write(t, limit), vers=2) for _ in range(IN_FLIGHT)]
        request = hand.send(two.req(two.size(wanted)))
        limit = min(limit, wanted)
        sent += [hand.call(two.write(t, limit), vers=2) for _ in range(IN_FLIGHT)]
        if settled_under_calls(t, hand, request, sent):
            limit = wanted
    t.hold(limit == 12288, 'larger receives are refused, with 65536 allowed')


@receives_rise_and_fall_under_calls.wrong
def _(end):
    right = end.give_lower

    def too_low():
        right()
        end.receive_size -= 4
    end.give_lower = too_low


@receives_rise_and_fall_under_calls.wrong
def _(end):
    end.raised = lambda size: 'done'


class Traffic:
    """Calls of a requester, some of which rely on inline Replies that need large receives."""

    def __init__(self, t, hand):
        self.t = t
        self.hand = hand
        self.asked = {}
        self.calls = []

    def call(self):
        """Makes it call, and takes messages until all Calls have come."""
        for count in (500, 3000, 5000, 9000)[:IN_FLIGHT]:
            asked = self.t.have_called(self.t.readdir(count))
            self.asked[asked.call[:4]] = asked
        while len(self.calls) < len(self.asked):
            self.calls.append(two.next_call(self.hand))

    def answer(self):
        """Answers all Calls, and checks what reaches the callers."""
        for got in self.calls:
            two.answer(self.hand, got, self.t.server.answer(self.asked[got.data[:4]].call))
        for asked in self.asked.values():
            self.t.hold(self.t.answered(asked) == self.t.server.answer(asked.call),
                        'another Reply reaches the caller')
        self.calls.clear()
        self.asked.clear()


def settled(t, hand, xid, pending):
    """Takes the RESP_XCHAR, or the UPD_XCHAR of a pending one. Returns whether that one is still due."""
    while True:
        got = hand.next('RESP_XCHAR or UPD_XCHAR')
        if two.is_operation(got, wire.RESP_XCHAR):
            t.hold(got.header.xid == xid, 'a RESP_XCHAR with another XID')
            return bool(two.decoded(wire.decode_resp, got)[2])
        if two.is_operation(got, wire.UPD_XCHAR):
            if pending and two.decoded(wire.decode_upd, got)[1]:
                return False
        else:
            t.hold(False, 'something else comes')


@requester('B3.1-7', keys=two.KEYS)
def a_requesters_receives_rise_and_fall_under_calls(t):
    """Requests between Calls and their Replies: each Reply fits inline or in a chunk."""
    hand = two.ready(t)
    traffic = Traffic(t, hand)
    for turn in range(TIMES):
        traffic.call()
        request = hand.send(two.req(two.size((12288, 4096)[turn % 2])))
        pending = settled(t, hand, request.xid, False)
        traffic.answer()
        if pending:
            settled(t, hand, request.xid, True)
        traffic.call()
        traffic.answer()


@a_requesters_receives_rise_and_fall_under_calls.wrong
def _(end):
    end.counted_on = lambda: 0


@a_requesters_receives_rise_and_fall_under_calls.wrong
def _(end):
    end.receive_limit_two = lambda: 12288

# SPDX-License-Identifier: BSD-3-Clause
"""REQ_XCHAR and RESP_XCHAR: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 4.2 and 4.3."""
from scene import two
from scene.client_session import new_xid
from scene.scenario import Unfit, requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'


# ---------------------------------------------------------------- who is asked

def requests():
    """REQ_XCHARs of many kinds."""
    yield two.req()
    yield two.req(two.size(4096))
    yield two.req(two.size(2**32 - 1))
    yield two.req((77, b'abc'), two.size(8192), two.value(wire.RQREMINV, True))
    yield two.req(*(two.value(wire.BRS, level) for level in range(4)))
    yield two.req(*((1000 + n, b'') for n in range(70)))


def answered_each(t, hand):
    """Each gets a RESP_XCHAR whose subsets part it."""
    for message in requests():
        two.disposition(t, hand, message)


def never_answers(end):
    """A bend: what is asked is done or not, and nothing is said of it."""
    end.take_req = lambda message: [end.verdict(*value)
                                    for value in wire.decode_req(message.optinfo)]


def answers_in_part(end):
    """A bend: what is rejected is left out."""
    right = end.operation

    def operation(opttype, optinfo, xid):
        if opttype == wire.RESP_XCHAR:
            done, _rej, pend = wire.decode_resp(optinfo)
            optinfo = wire.encode_resp(done, (), pend)
        return right(opttype, optinfo, xid)
    end.operation = operation


def answers_doubly(end):
    """A bend: what is rejected is pending, too."""
    right = end.operation

    def operation(opttype, optinfo, xid):
        if opttype == wire.RESP_XCHAR:
            done, rej, pend = wire.decode_resp(optinfo)
            optinfo = wire.encode_resp(done, rej, pend | rej)
        return right(opttype, optinfo, xid)
    end.operation = operation


def answers_with_another_xid(end):
    """A bend: RESP_XCHAR has an XID of its own."""
    right = end.operation
    end.operation = lambda opttype, optinfo, xid: right(
        opttype, optinfo, xid + (opttype == wire.RESP_XCHAR))


def promises_all(end):
    """A bend: everything is said to be done."""
    end.verdict = lambda ident, data: 'done'


@responder('B4.2-1')
def each_request_is_answered(t):
    """By a RESP_XCHAR, an empty request and one of unknown ids, too."""
    hand = two.greeted(t)
    answered_each(t, hand)
    two.barrier(t, hand)


each_request_is_answered.wrong(never_answers)


@requester('B4.2-1', keys=two.KEYS)
def a_requester_answers_each_request(t):
    """By a RESP_XCHAR, an empty request and one of unknown ids, too."""
    answered_each(t, two.ready(t))


a_requester_answers_each_request.wrong(never_answers)


@responder('B4.3-1')
def the_three_subsets_part_the_request(t):
    """With the XID of the request; no value in two or none, and unknown ids rejected."""
    hand = two.greeted(t)
    answered_each(t, hand)
    _done, rej, _pend = two.disposition(t, hand, two.req((77, b''), two.size(4096), (78, b'')))
    t.hold({0, 2} <= rej, f'of two unknown ids {sorted(rej)} are rejected')


for _bend in (answers_in_part, answers_doubly, answers_with_another_xid, promises_all):
    the_three_subsets_part_the_request.wrong(_bend)


@responder('B4.3-1', needs={'files'})
def what_is_done_is_in_effect(t):
    """A receive size that is done, or told later, is one; a rejection changes nothing."""
    hand = two.greeted(t)
    for count in (8192, 2**32 - 1, two.BIG):
        if two.granted(t, hand, count):
            t.hold(count <= 2**24, f'receives of {count} bytes are granted')
            hand.call(two.write(t, count), vers=2)
            got = hand.next('the Reply')
            t.hold(got.header.proc == header.MSG, f'{count} bytes are not served')
    two.barrier(t, hand)


what_is_done_is_in_effect.wrong(promises_all)


@requester('B4.3-1', keys=two.KEYS)
def a_requesters_three_subsets_part_the_request(t):
    """With the XID of the request; no value in two or none, and unknown ids rejected."""
    hand = two.ready(t)
    answered_each(t, hand)
    _done, rej, _pend = two.disposition(t, hand, two.req((77, b''), two.size(4096), (78, b'')))
    t.hold({0, 2} <= rej, f'of two unknown ids {sorted(rej)} are rejected')


for _bend in (answers_in_part, answers_doubly, answers_with_another_xid, promises_all):
    a_requesters_three_subsets_part_the_request.wrong(_bend)


def several_open(t, hand):
    """Two requests at once for the receive size: the last size that is told, by any message."""
    wanted = {hand.send(two.req(two.size(count))).xid: count for count in (8192, two.BIG)}
    told, pending, wait = 4096, False, two.Wait(t, hand)
    while wanted or pending:
        for got in [hand.next('RESP_XCHAR or UPD_XCHAR')] if wanted else wait.next():
            if two.is_operation(got, wire.RESP_XCHAR):
                t.hold(got.header.xid in wanted, 'a RESP_XCHAR with another XID')
                done, rej, pend = two.decoded(wire.decode_resp, got)
                if rej:
                    raise Unfit('it refuses larger receives')        # B3-2
                count = wanted.pop(got.header.xid)
                told = count if done else told
                pending = bool(pend)
            else:
                told, pendclr = two.update(got, wire.RBSIZ)
                pending = pending and not (pendclr and told == two.BIG)
    return told


def oldest_wins(end):
    """A bend: a second request for the same does not replace the first."""
    right, first = end.raised, []

    def raised(size):
        first.append(size)
        return right(first[0])
    end.raised = raised


@responder('B4.2-2', needs={'files'})
def the_newest_of_several_requests_wins(t):
    """Both are answered; the size of the second is what holds in the end."""
    hand = two.greeted(t)
    t.hold(several_open(t, hand) == two.BIG, 'the size of the first is told last')
    two.ask(hand, two.write(t, two.BIG))


the_newest_of_several_requests_wins.wrong(oldest_wins)


@requester('B4.2-2', keys=two.KEYS)
def the_newest_request_to_a_requester_wins(t):
    """Both are answered; the size of the second is what holds in the end."""
    hand = two.ready(t)
    t.hold(several_open(t, hand) == two.BIG, 'the size of the first is told last')
    asked, got = two.again(t, hand, t.echo(b'', two.BIG - 28 - 28))
    hand.answer(got, t.server.answer(asked.call))
    t.answered(asked)


the_newest_request_to_a_requester_wins.wrong(oldest_wins)


# ---------------------------------------------------------------- who asks

@requester('B4.3-1', keys=two.KEYS)
def a_requester_that_asks_obeys_the_answer(t):
    """After done the larger size holds at once, after rej and pend it does not."""
    hand, request, count = two.asking(t)
    t.hold(count >= two.LONG, f'it asks for {count} bytes, and its Calls have {two.LONG}')
    hand.send(two.resp(request.header.xid, done={0}))
    two.in_order(t, hand)
    two.long_goes(t, hand, True, 'done: the Call does not go inline')
    for subset in ('rej', 'pend'):
        t.hang_up(hand)
        hand, request, count = two.asking(t)
        hand.send(two.resp(request.header.xid, **{subset: {0}}))
        two.in_order(t, hand)
        two.long_goes(t, hand, False, f'{subset}: the Call goes inline')


@a_requester_that_asks_obeys_the_answer.wrong
def _(end):
    end.take_resp = lambda message: None


@a_requester_that_asks_obeys_the_answer.wrong
def _(end):
    right = end.take_resp

    def take(message):
        message.optinfo = wire.encode_resp(set.union(*wire.decode_resp(message.optinfo)))
        right(message)
    end.take_resp = take


@requester('B4.3-2', keys=two.KEYS)
def a_value_in_two_subsets_or_none_is_rejected(t):
    """A RESP_XCHAR that covers nothing, or says done and pending, or done and rejected."""
    for subsets in ({}, {'done': {0}, 'pend': {0}}, {'done': {0}, 'rej': {0}}, {'done': {1, 40}}):
        hand, request, _count = two.asking(t)
        hand.send(two.resp(request.header.xid, **subsets))
        two.in_order(t, hand)
        two.long_goes(t, hand, False, f'{subsets}: the Call goes inline')
        t.hang_up(hand)


@a_value_in_two_subsets_or_none_is_rejected.wrong
def _(end):
    right = end.take_resp

    def take(message):
        message.optinfo = wire.encode_resp(wire.decode_resp(message.optinfo)[0])
        right(message)
    end.take_resp = take


@a_value_in_two_subsets_or_none_is_rejected.wrong
def _(end):
    right = end.take_resp

    def take(message):
        done, rej, pend = wire.decode_resp(message.optinfo)
        message.optinfo = wire.encode_resp(done | {0} if not rej | pend else done, rej, pend)
        right(message)
    end.take_resp = take


@requester('B4.3-2', keys=two.KEYS)
def an_answer_to_another_request_is_dropped(t):
    """A RESP_XCHAR with another XID changes nothing; nor does a second one."""
    hand, request, _count = two.asking(t)
    hand.send(two.resp(request.header.xid ^ 1, done={0}))
    two.in_order(t, hand)
    two.long_goes(t, hand, False, 'the answer to another request is taken')
    hand.send(two.resp(request.header.xid, rej={0}))
    hand.send(two.resp(request.header.xid, done={0}))
    two.in_order(t, hand)
    two.long_goes(t, hand, False, 'the second answer is taken')


@an_answer_to_another_request_is_dropped.wrong
def _(end):
    right = end.take_resp

    def take(message):
        message.xid = next(iter(end.requests), message.xid)
        right(message)
    end.take_resp = take


@an_answer_to_another_request_is_dropped.wrong
def _(end):
    right, first = end.take_resp, {}

    def take(message):
        first.update(end.requests)
        right(message)
        if message.xid in first and 0 in wire.decode_resp(message.optinfo)[0]:
            end.learn(first[message.xid])
    end.take_resp = take


@responder('B4.3-2')
def an_answer_to_no_request_is_dropped(t):
    """Whatever its subsets: nothing comes of it."""
    hand = two.greeted(t)
    for subsets in ({}, {'done': {0}}, {'done': {0}, 'rej': {0}, 'pend': {0}}, {'pend': {900}}):
        hand.send(two.resp(new_xid(), **subsets))
        two.barrier(t, hand)


@an_answer_to_no_request_is_dropped.wrong
def _(end):
    end.take_resp = lambda message: end.refuse_option(message.xid)


@an_answer_to_no_request_is_dropped.wrong
def _(end):
    end.take_resp = lambda message: end.conn.terminate(0, 0)

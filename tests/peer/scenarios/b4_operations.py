# SPDX-License-Identifier: BSD-3-Clause
"""Who may send which operation: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 1.3 and 4."""
from scene import two
from scene.client_session import new_xid
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'
UNSUPPORTED = {'characteristics': False}


def the_four(xid):
    """Each of the operations once."""
    return [two.init(two.size(8192)), two.req(two.size(4096)),
            two.resp(xid, done={0}), two.upd(two.value(wire.BRS, wire.BRS_SZLIM))]


@responder('B1.3-1')
def a_connector_may_send_all_four(t):
    """The acceptor accepts each operation, and answers only INIT_XCHAR and REQ_XCHAR."""
    hand = t.connect()
    two.greet(hand)
    two.disposition(t, hand, two.req(two.size(4096)))
    hand.send(two.resp(new_xid(), done={0}))
    hand.send(two.upd(two.size(8192)))
    two.barrier(t, hand)


def without(opttype):
    """A bend: one of the operations is not known."""
    def bend(end):
        right = end.operations
        end.operations = lambda: {k: v for k, v in right().items() if k != opttype}
    return bend


for _number in (wire.REQ_XCHAR, wire.RESP_XCHAR, wire.UPD_XCHAR):
    a_connector_may_send_all_four.wrong(without(_number))


@requester('B1.3-1', keys=two.KEYS)
def an_acceptor_may_send_all_four(t):
    """The connector accepts each operation, and answers only REQ_XCHAR."""
    hand = two.ready(t)
    two.disposition(t, hand, two.req(two.size(4096)))
    for message in the_four(new_xid())[2:]:
        hand.send(message)
    hand.send(two.init(two.size(8192)))
    two.in_order(t, hand)


for _number in (wire.REQ_XCHAR, wire.RESP_XCHAR, wire.UPD_XCHAR):
    an_acceptor_may_send_all_four.wrong(without(_number))


@responder('B4-1', needs={'behind'})
def no_rpc_message_follows_an_operation(t):
    """INIT_XCHAR and RESP_XCHAR end with their last value."""
    hand = t.connect()
    sent = hand.send(two.init())
    messages = [hand.reply(sent.xid, 'INIT_XCHAR')]
    sent = hand.send(two.req(two.size(8192)))
    messages.append(hand.reply(sent.xid, 'RESP_XCHAR'))
    for got in messages:
        t.hold(got.header.proc == header.OPTIONAL, 'it is no operation')
        t.hold(not got.body, f'{len(got.body)} bytes follow operation {got.header.opttype}')


def with_a_body(end):
    """A bend: an operation has something behind it."""
    right = end.operation

    def longer(*args):
        message = right(*args)
        message.body = bytes(40)
        return message
    end.operation = longer


no_rpc_message_follows_an_operation.wrong(with_a_body)


@requester('B4-1', keys=two.KEYS)
def no_rpc_message_follows_a_requesters_operation(t):
    """INIT_XCHAR and RESP_XCHAR end with their last value."""
    asked, hand, first = two.probed(t, t.null())
    t.hold(not first.body, f'{len(first.body)} bytes follow the first message')
    hand.send(two.init(xid=first.header.xid))
    two.done(t, hand, asked, hand.next('the Call'))
    sent = hand.send(two.req(two.size(8192)))
    got = hand.reply(sent.xid, 'RESP_XCHAR')
    t.hold(not got.body, f'{len(got.body)} bytes follow RESP_XCHAR')


no_rpc_message_follows_a_requesters_operation.wrong(with_a_body)


def refuses_by_bad_header(end):
    """A bend: the wrong error."""
    end.refuse_option = lambda xid: end.refuse_header(xid, 2, 'unknown')


def says_nothing(end):
    """A bend: what is not known is dropped."""
    end.refuse_option = lambda xid: None


@responder('B4-2', keys=UNSUPPORTED, needs={'behind'})
def without_characteristics_each_operation_is_refused(t):
    """INVAL_OPTION has its XID, and Calls are served."""
    hand = t.connect()
    for message in the_four(new_xid()):
        two.refused(t, hand, message, header.INVAL_OPTION)
    two.barrier(t, hand)
    two.chunk_reply(hand, t.readdir(6000))


without_characteristics_each_operation_is_refused.wrong(refuses_by_bad_header)
without_characteristics_each_operation_is_refused.wrong(says_nothing)


@without_characteristics_each_operation_is_refused.wrong
def _(end):
    end.options.characteristics = True


@requester('B4-2', keys=two.with_keys(**UNSUPPORTED), needs={'behind'})
def without_characteristics_a_requester_refuses_each(t):
    """INVAL_OPTION has its XID, and Calls continue."""
    asked, hand, first = two.probed(t, t.null())
    hand.send(two.error(first.header.xid, header.INVAL_OPTION))
    two.done(t, hand, asked, hand.next('the Call'))
    for message in the_four(new_xid()):
        two.refused(t, hand, message, header.INVAL_OPTION)
    two.in_order(t, hand)


without_characteristics_a_requester_refuses_each.wrong(refuses_by_bad_header)
without_characteristics_a_requester_refuses_each.wrong(says_nothing)


@responder('B4-3')
def who_answers_req_xchar_knows_the_others(t):
    """It supports all four, or INIT_XCHAR alone; never the others without it."""
    hand = t.connect()
    two.barrier(t, hand)
    known = {}
    for message in the_four(new_xid()):
        hand.send(message)
        after = hand.call(t.null(), vers=2)
        known[message.opttype] = True
        while (got := hand.next('an answer')).header.xid != after.xid:
            if got.header.proc == header.ERROR:
                known[message.opttype] = False
    later = known[wire.RESP_XCHAR] or known[wire.UPD_XCHAR]
    t.hold(known[wire.INIT_XCHAR] or not later, f'it knows {known}')
    t.hold(not known[wire.REQ_XCHAR] or known[wire.INIT_XCHAR], f'it knows {known}')


who_answers_req_xchar_knows_the_others.wrong(without(wire.INIT_XCHAR))


@requester('B4-3', keys=two.KEYS)
def who_sends_req_xchar_takes_answers_and_news(t):
    """If long Calls make it request, it supports RESP_XCHAR and UPD_XCHAR, and INIT_XCHAR."""
    hand = two.ready(t)
    request = two.wanted(t, hand)
    if request is None:
        hand.send(two.resp(new_xid(), done={0}))
    else:
        hand.send(two.resp(request.header.xid, pend={0}))
        hand.send(two.upd(two.size(8192), pendclr=True))
    two.in_order(t, hand)


who_sends_req_xchar_takes_answers_and_news.wrong(without(wire.RESP_XCHAR))
who_sends_req_xchar_takes_answers_and_news.wrong(without(wire.UPD_XCHAR))

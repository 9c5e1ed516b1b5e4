# SPDX-License-Identifier: BSD-3-Clause
"""RDMA_OPTIONAL: draft-cel-nfsv4-rpcrdma-version-two-00 section 3.1, X-9 and X-10."""
from scene import two
from scene.client_session import new_xid
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header, xdr

DIALECT = 'version two'
UNKNOWN = (0, 5, 99, 2**32 - 1)


def broken(xid):
    """Returns (description, bytes) of RDMA_OPTIONALs that do not decode."""
    words = b''.join(map(xdr.u32, (xid, 2, 16, header.OPTIONAL)))
    for opttype in (wire.INIT_XCHAR, 99):
        yield f'{opttype}, longer than the Send', words + xdr.u32(opttype) + xdr.u32(2**32 - 1)
        yield f'{opttype}, a byte short', words + xdr.u32(opttype) + xdr.u32(5) + bytes(4)
    update = b''.join(map(xdr.u32, (wire.UPD_XCHAR, 12, 77, 0, 2)))
    yield 'UPD_XCHAR, neither pending nor not', words + update


@responder('E3.1-1')
def an_unknown_operation_gets_inval_option(t):
    """The error has the XID of the message and 20 bytes; Calls continue."""
    hand = t.connect()
    for opttype in UNKNOWN:
        two.refused(t, hand, two.operation(opttype, b'abcdef'), header.INVAL_OPTION)
        two.barrier(t, hand)


@an_unknown_operation_gets_inval_option.wrong
def _(end):
    end.refuse_option = lambda xid: None


@an_unknown_operation_gets_inval_option.wrong
def _(end):
    right = end.refuse_option
    end.refuse_option = lambda xid: right(xid + 1)


@an_unknown_operation_gets_inval_option.wrong
def _(end):
    end.refuse_option = lambda xid: end.refuse_header(xid, 2, 'unknown')


@requester('E3.1-1', keys=two.KEYS)
def a_requester_refuses_an_unknown_operation_so_too(t):
    """The error has the XID of the message; Calls continue."""
    hand = two.ready(t)
    for opttype in UNKNOWN:
        two.refused(t, hand, two.operation(opttype, b'abcdef'), header.INVAL_OPTION)
        two.in_order(t, hand)


@a_requester_refuses_an_unknown_operation_so_too.wrong
def _(end):
    end.refuse_option = lambda xid: None


@a_requester_refuses_an_unknown_operation_so_too.wrong
def _(end):
    right = end.refuse_option
    end.refuse_option = lambda xid: right(xid + 1)


@responder('X-9')
def an_operation_that_does_not_decode_gets_bad_header(t):
    """With any opttype it is neither Call nor Reply."""
    hand = t.connect()
    two.barrier(t, hand)
    for _what, data in broken(new_xid()):
        two.refused(t, hand, data, header.BAD_HEADER)
        two.barrier(t, hand)


@an_operation_that_does_not_decode_gets_bad_header.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: end.refuse_option(xid)


@an_operation_that_does_not_decode_gets_bad_header.wrong
def _(end):
    end.may_be_call = lambda data: False


@requester('X-9', keys=two.KEYS)
def a_requester_says_bad_header_of_such_an_operation_too(t):
    """With any opttype it is neither Call nor Reply, and Calls continue."""
    hand = two.ready(t)
    for _what, data in broken(new_xid()):
        two.refused(t, hand, data, header.BAD_HEADER)
        two.in_order(t, hand)


@a_requester_says_bad_header_of_such_an_operation_too.wrong
def _(end):
    end.may_be_call = lambda data: False


@a_requester_says_bad_header_of_such_an_operation_too.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: end.refuse_option(xid)


def errors():
    """Errors of version two without a message of the other end."""
    xid = new_xid()
    yield two.error(xid, header.INVAL_OPTION)
    yield two.error(xid, header.BAD_HEADER)
    yield two.error(xid, header.ERR_VERS, low=1, high=2)
    yield header.encode(two.error(xid, header.BAD_HEADER))[:16] + xdr.u32(77)


@responder('X-9')
def an_error_gets_nothing(t):
    """No RDMA_ERROR is answered, known or unknown."""
    hand = t.connect()
    two.barrier(t, hand)
    for message in errors():
        hand.send(message)
        two.barrier(t, hand)


@an_error_gets_nothing.wrong
def _(end):
    end.take_error = lambda data: end.refuse_option(header.decode_fixed(data)[0])


@requester('X-9', keys=two.KEYS)
def an_error_for_nothing_gets_nothing(t):
    """No RDMA_ERROR is answered, known or unknown, and Calls continue."""
    hand = two.ready(t)
    for message in errors():
        hand.send(message)
        two.in_order(t, hand)


@an_error_for_nothing_gets_nothing.wrong
def _(end):
    end.take_error = lambda data: end.refuse_option(header.decode_fixed(data)[0])


@responder('X-10')
def an_operation_of_the_acceptor_grants_credits(t):
    """INIT_XCHAR and RESP_XCHAR grant at least one credit, and as many Calls as granted are served."""
    hand = t.connect()
    grants = [two.own_init(hand, hand.send(two.init(credit=0))).header.credit]
    sent = hand.send(two.req(two.size(4096), credit=8))
    got = hand.reply(sent.xid, 'RESP_XCHAR')
    t.hold(two.is_operation(got, wire.RESP_XCHAR), 'REQ_XCHAR is answered, but not by RESP_XCHAR')
    grants.append(got.header.credit)
    t.hold(min(grants) >= 1, f'the operations grant {grants}')
    calls = [hand.call(t.null(), vers=2) for _ in range(min(grants[-1], 64))]
    two.all_served(t, hand, calls)


@an_operation_of_the_acceptor_grants_credits.wrong
def _(end):
    right = end.operation

    def without(*args):
        message = right(*args)
        message.credit = 0
        return message
    end.operation = without


@requester('X-10', keys=two.KEYS)
def an_operation_of_the_connector_asks_for_credits(t):
    """Its INIT_XCHAR requests credits like its Calls."""
    asked, hand, first = two.probed(t, t.null())
    hand.send(two.init(xid=first.header.xid))
    got = hand.next('the Call')
    t.hold(first.header.credit == got.header.credit >= 1,
           f'INIT_XCHAR asks for {first.header.credit}, the Call for {got.header.credit}')
    two.done(t, hand, asked, got)


@an_operation_of_the_connector_asks_for_credits.wrong
def _(end):
    right = end.init_message

    def without(xid):
        message = right(xid)
        message.credit = 0
        return message
    end.init_message = without


@requester('X-10', keys=two.KEYS)
def a_grant_in_an_operation_is_obeyed(t):
    """Its grant counts like that of a Reply, smaller or larger, from the next Call on."""
    hand = two.ready(t)
    for grant in (2, 5, 1):
        two.refused(t, hand, two.operation(99, b'', credit=grant), header.INVAL_OPTION)
        asked = [t.have_called(t.null()) for _ in range(grant + 1)]
        calls = [hand.next(f'Call {n + 1} of {grant}') for n in range(grant)]
        hand.send(two.operation(99, b'', credit=grant))
        got = hand.next('INVAL_OPTION')
        t.hold(got.header.proc == header.ERROR, f'more than {grant} Calls are in flight')
        for got in calls:
            hand.answer_null(got, credit=grant)
        hand.answer_null(hand.next('the last Call'), credit=grant)
        for call in asked:
            t.answered(call)


@a_grant_in_an_operation_is_obeyed.wrong
def _(end):
    right = end.take_optional
    end.take_optional = lambda message: (setattr(message, 'credit', end.granted), right(message))

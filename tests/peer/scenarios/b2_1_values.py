# SPDX-License-Identifier: BSD-3-Clause
"""How values travel: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 2.1."""
from scene import two
from scene.client_session import new_xid
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header, xdr

DIALECT = 'version two'


def u32s(*numbers):
    """Returns numbers in XDR."""
    return b''.join(map(xdr.u32, numbers))


def op(opttype, *numbers):
    """Returns an operation with these words as optinfo."""
    return two.operation(opttype, u32s(*numbers))


def run_past():
    """Operations with a length or a count beyond the message: B2.1-2."""
    init, request, response, update = 1, 2, 3, 4
    yield op(init, 1, wire.RBSIZ, 2**32 - 1, 4096, 0)
    yield op(init, 1, 77, 2**32 - 1)
    yield op(init, 1, 77, 5, 0)
    yield op(init, 2**32 - 1, 77, 0)
    yield op(init, 0, 2**30)
    yield op(init, 0)
    yield op(init)
    yield op(request, 1, 77, 2**31)
    yield op(request, 2, 77, 0)
    yield op(response, 0, 0)
    yield op(response, 2**30, 0, 0, 0)
    yield op(update, 77, 2**32 - 1, 0)
    yield op(update, 77, 0)


def of_a_wrong_type():
    """Known ids with data that are invalid for their type: B2.1-3."""
    values = ((wire.RQREMINV, u32s(2)), (wire.BRS, u32s(4)), (wire.BRS, u32s(9)),
              (wire.RBSIZ, b''), (wire.RBSIZ, b'\0\0\x10'), (wire.RQREMINV, b'\0'),
              (wire.BRS, b''), (wire.RBSIZ, u32s(4096, 0)), (wire.RQREMINV, u32s(1, 0)),
              (wire.BRS, u32s(2) + b'\0'))
    for value in values:
        yield two.init((77, b'abc'), value)
        yield two.req(value)
        yield two.upd(value)


def all_get_bad_header(t, messages):
    """A responder refuses each of them."""
    hand = two.greeted(t)
    for message in messages:
        two.refused(t, hand, message, header.BAD_HEADER)
    two.barrier(t, hand)


def all_get_bad_header_of_a_requester(t, messages):
    """A requester refuses each of them."""
    hand = two.ready(t)
    for message in messages:
        two.refused(t, hand, message, header.BAD_HEADER)
    two.in_order(t, hand)


@responder('B2.1-1', needs={'behind'})
def an_acceptor_encodes_its_values(t):
    """INIT_XCHAR is a list of values and a subset of it: 72 bytes for all three."""
    hand = t.connect()
    sent = hand.send(two.init())
    is_whole(t, hand.reply(sent.xid))


def is_whole(t, got):
    """An INIT_XCHAR of all three values has its constant members in one word."""
    values, nochg = two.decoded(wire.decode_init, got)
    t.hold({ident for ident, _data in values} == {wire.RBSIZ, wire.RQREMINV, wire.BRS},
           f'it has the values {values}')
    t.hold(all(len(data) == 4 for _ident, data in values), 'a value is no word')
    t.hold(len(got.data) == (72 if nochg else 68), f'it has {len(got.data)} bytes')


@an_acceptor_encodes_its_values.wrong
def _(end):
    right = end.operation
    end.operation = lambda opttype, optinfo, xid: right(opttype, optinfo + bytes(4), xid)


@an_acceptor_encodes_its_values.wrong
def _(end):
    right = end.own_values
    end.own_values = lambda: [(ident, data.rjust(8, b'\0')) for ident, data in right()]


@requester('B2.1-1', keys=two.KEYS)
def a_connector_encodes_its_values(t):
    """The same for the connector's INIT_XCHAR."""
    _asked, _hand, first = two.probed(t, t.null())
    is_whole(t, first)


@a_connector_encodes_its_values.wrong
def _(end):
    right = end.operation
    end.operation = lambda opttype, optinfo, xid: right(opttype, optinfo + bytes(4), xid)


@responder('B2.1-2')
def data_that_run_past_the_message_are_an_error(t):
    """BAD_HEADER has the XID of the operation; the connection continues."""
    all_get_bad_header(t, run_past())


@data_that_run_past_the_message_are_an_error.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: None


@data_that_run_past_the_message_are_an_error.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: end.conn.terminate(0, 0)


@data_that_run_past_the_message_are_an_error.wrong
def _(end):
    end.take_resp = lambda message: None


@requester('B2.1-2', keys=two.KEYS)
def a_requester_finds_them_too(t):
    """BAD_HEADER has the XID of the operation; the connection continues."""
    all_get_bad_header_of_a_requester(t, run_past())


@a_requester_finds_them_too.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: None


@a_requester_finds_them_too.wrong
def _(end):
    end.take_upd = lambda message: None


@responder('B2.1-3')
def data_of_a_wrong_type_are_an_error(t):
    """Values of a known id: a bool of 2, an enum of 4, too short or too long."""
    all_get_bad_header(t, of_a_wrong_type())


@data_of_a_wrong_type_are_an_error.wrong
def _(end):
    end.take_req = lambda message: end.put(two.resp(message.xid, rej={0}))


@data_of_a_wrong_type_are_an_error.wrong
def _(end):
    right = end.take_upd
    end.take_upd = lambda message: (right(message) if len(message.optinfo) <= 16 else None)


@requester('B2.1-3', keys=two.KEYS)
def a_requester_finds_a_wrong_type_too(t):
    """The same for the acceptor's operations."""
    all_get_bad_header_of_a_requester(t, of_a_wrong_type())


@a_requester_finds_a_wrong_type_too.wrong
def _(end):
    end.take_req = lambda message: end.put(two.resp(message.xid, rej={0}))


@responder('B2.1-5', needs={'files'})
def the_last_of_an_id_holds(t):
    """The order of different ids has no meaning."""
    reverse = two.value(wire.BRS, wire.BRS_SZLIM)
    hand = two.greeted(t, reverse, two.size(4096), two.size(two.BIG))
    two.inline_reply(hand, t.readdir(6000))
    hand = two.greeted(t, two.size(two.BIG), reverse, two.size(4096))
    two.chunk_reply(hand, t.readdir(6000))


def first_holds(end):
    """A bend: of an id that comes twice the first value is taken."""
    right = end.learn
    end.learn = lambda values: right(values[::-1])


the_last_of_an_id_holds.wrong(first_holds)


@requester('B2.1-5', keys=two.KEYS)
def a_requester_takes_the_last_of_an_id(t):
    """The order of different ids has no meaning."""
    hand = two.ready(t, two.size(two.BIG), two.value(wire.BRS, 2), two.size(4096))
    t.hold(not two.goes_inline(t, hand, two.write(t, 6000)), 'the first is taken')
    hand.send(two.init(two.size(4096), two.size(two.BIG)))
    two.in_order(t, hand)
    t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'the last is not taken')


a_requester_takes_the_last_of_an_id.wrong(first_holds)


def subset_of_34(t, hand):
    """Checks the two words of bits for 33 unknown values and a known one, which may have any result."""
    values = [(1000 + n, b'') for n in range(33)] + [two.size(4096)]
    _done, rej, _pend = two.disposition(t, hand, two.req(*values))
    t.hold(rej >= set(range(33)), f'rejected are {sorted(rej)}')
    hand.send(two.operation(wire.INIT_XCHAR, wire.encode_init([(77, b'')])[:-4]
                            + u32s(4, 2**32 - 1, 1, 0, 7), xid=new_xid()))


def most_significant_first(end):
    """A bend: element N is bit 31 - N mod 32."""
    right = end.operation

    def mirrored(opttype, optinfo, xid):
        if opttype == wire.RESP_XCHAR:
            subsets = wire.decode_resp(optinfo)
            optinfo = wire.encode_resp(*({n // 32 * 32 + 31 - n % 32 for n in members}
                                         for members in subsets))
        return right(opttype, optinfo, xid)
    end.operation = mirrored


@responder('B2.1-6')
def subsets_count_bits_from_the_least_significant(t):
    """The bits in RESP_XCHAR to 34 values; those beyond the values of an INIT_XCHAR are ignored."""
    hand = two.greeted(t)
    subset_of_34(t, hand)
    two.barrier(t, hand)


subsets_count_bits_from_the_least_significant.wrong(most_significant_first)


@subsets_count_bits_from_the_least_significant.wrong
def _(end):
    right = end.take_init

    def strict(message):
        right(message)
        if message.optinfo[-4:] == u32s(7):
            raise xdr.XdrError('bits beyond')
    end.take_init = strict


@requester('B2.1-6', keys=two.KEYS)
def a_requester_counts_bits_so_too(t):
    """The bits in RESP_XCHAR to 34 values; those beyond the values of an INIT_XCHAR are ignored."""
    hand = two.ready(t)
    subset_of_34(t, hand)
    two.in_order(t, hand)


a_requester_counts_bits_so_too.wrong(most_significant_first)

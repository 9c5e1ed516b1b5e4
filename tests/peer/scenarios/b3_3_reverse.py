# SPDX-License-Identifier: BSD-3-Clause
"""Support for reverse Calls: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 3.3."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'
REVERSE = {'reverse', 'behind'}


def brs(level):
    """Returns the characteristic BRS."""
    return two.value(wire.BRS, level)


@responder('B3.3-1')
def an_acceptor_takes_the_four_levels(t):
    """UNKNOWN, NONE, SZLIM and GENL are valid; the next number is not."""
    hand = two.greeted(t)
    for level in (0, 1, 2, 3):
        hand.send(two.upd(brs(level)))
    two.barrier(t, hand)
    two.refused(t, hand, two.upd(brs(4)), header.BAD_HEADER)


def knows_three_levels(end):
    """A bend: GENL is taken for nonsense."""
    right = end.take_upd

    def take(message):
        if message.optinfo[:4] == b'\0\0\0\3' and message.optinfo[11] == wire.BRS_GENL:
            end.refuse_header(message.xid, 2, 'GENL')
        else:
            right(message)
    end.take_upd = take


an_acceptor_takes_the_four_levels.wrong(knows_three_levels)


@requester('B3.3-1', keys=two.KEYS)
def a_connector_takes_the_four_levels(t):
    """UNKNOWN, NONE, SZLIM and GENL are valid; the next number is not."""
    hand = two.ready(t)
    for level in (0, 1, 2, 3):
        hand.send(two.upd(brs(level)))
    two.in_order(t, hand)
    two.refused(t, hand, two.upd(brs(4)), header.BAD_HEADER)


a_connector_takes_the_four_levels.wrong(knows_three_levels)


@responder('B3.3-1', needs=REVERSE)
def no_reverse_call_goes_to_a_connector_without_support(t):
    """It announced NONE; its own Calls are served."""
    hand = two.greeted(t, brs(wire.BRS_NONE))
    two.barrier(t, hand)
    t.have_called_back(t.echo(b'back'))
    for _ in range(3):
        two.barrier(t, hand)


@no_reverse_call_goes_to_a_connector_without_support.wrong
def _(end):
    end.peer_takes_reverse = lambda: True


@responder('B3.3-1', needs=REVERSE)
def size_limited_support_gets_calls_without_chunks(t):
    """A reverse Call to a connector with SZLIM is one RDMA_MSG with three empty lists."""
    hand = two.greeted(t, brs(wire.BRS_SZLIM))
    two.barrier(t, hand)
    asked = t.have_called_back(t.echo(t.pattern(2000)))
    got = hand.next('the reverse Call')
    t.hold(got.header.proc == header.MSG and got.body == asked.call, 'it is no RDMA_MSG')
    t.hold(got.data[16:28] == bytes(12), 'its lists are not empty')
    hand.answer(got, t.server.answer(asked.call))
    t.settle(lambda: asked.over, 'the Reply at the other side')


@size_limited_support_gets_calls_without_chunks.wrong
def _(end):
    end.has_chunks = lambda: True


@responder('B3.3-2', needs=REVERSE)
def where_nothing_is_told_the_program_decides(t):
    """If its program permits it, the server's Call is sent, without chunks."""
    for values in ([], [brs(wire.BRS_UNKNOWN)]):
        hand = two.greeted(t, *values)
        two.barrier(t, hand)
        asked = t.have_called_back(t.null())
        got = hand.next('the reverse Call')
        t.hold(got.header.proc == header.MSG and got.body == asked.call, 'it is something else')
        hand.answer_null(got)
        t.settle(lambda call=asked: call.over, 'the Reply at the other side')


@where_nothing_is_told_the_program_decides.wrong
def _(end):
    end.peer_takes_reverse = lambda: end.peer_value(wire.BRS) > wire.BRS_NONE


@requester('B3.3-3', keys=two.with_keys(reverse_chunks=True), needs=REVERSE)
def a_reverse_call_with_chunks_tells_that_its_reply_may_have_them(t):
    """The Reply uses the Reply chunk of its Call, whatever the acceptor announced."""
    hand = two.ready(t)
    key, landing = hand.lend(10000, writable=True)
    got = two.ask(hand, t.echo(b'', 9000), reply=[landing])
    t.hold(got.header.proc == header.NOMSG, 'the reply chunk is not used')
    size = sum(segment.length for segment in got.reply_chunk())
    t.hold(bytes(key.memory[:size])[-9000:] == t.pattern(9000), 'something else is written')


@a_reverse_call_with_chunks_tells_that_its_reply_may_have_them.wrong
def _(end):
    right = end.into_reply_chunk
    end.into_reply_chunk = lambda message, out: (end.peer_value(wire.BRS) == wire.BRS_GENL
                                                 and right(message, out))


@requester('B3.3-3', keys=two.KEYS, needs=REVERSE)
def a_reverse_call_without_chunks_gets_a_reply_without(t):
    """The Reply is one RDMA_MSG with empty lists, whatever the acceptor announced."""
    for level in (wire.BRS_UNKNOWN, wire.BRS_GENL):
        hand = two.ready(t, brs(level))
        got = two.ask(hand, t.echo(t.pattern(1000)))
        t.hold(got.header.proc == header.MSG and got.data[16:28] == bytes(12), 'it has chunks')
        t.hold(got.body.endswith(t.pattern(1000)), 'it is another Reply')
        t.hang_up(hand)


@a_reverse_call_without_chunks_gets_a_reply_without.wrong
def _(end):
    end.unused_reply = lambda message: []


@responder('B3.3-4')
def an_acceptor_tells_its_support(t):
    """The value describes what an end receives, Calls or Replies; so an acceptor has one, too."""
    hand = t.connect()
    told = two.greet(hand)
    t.hold(told.get(wire.BRS, 0) != wire.BRS_NONE, 'it says NONE, and version two asks for support')


def tells_none(end):
    """A bend: says that it supports nothing reverse."""
    right = end.own_values
    end.own_values = lambda: right()[:2] + [brs(wire.BRS_NONE)]


an_acceptor_tells_its_support.wrong(tells_none)


@requester('B3.3-4', keys=two.KEYS)
def a_connector_tells_its_support(t):
    """The same for the connector."""
    _asked, _hand, first = two.probed(t, t.null())
    told = wire.values_known(two.decoded(wire.decode_init, first)[0])
    t.hold(told.get(wire.BRS, 0) != wire.BRS_NONE, 'it says NONE, and version two asks for support')


a_connector_tells_its_support.wrong(tells_none)

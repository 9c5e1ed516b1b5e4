# SPDX-License-Identifier: BSD-3-Clause
"""RDMA_OPTIONAL and the peer's receives (X-11), XIDs (X-12), reverse Calls with chunks (X-16)."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'
OF_ITS_OWN = (wire.INIT_XCHAR, wire.REQ_XCHAR, wire.UPD_XCHAR)
GRANT = 3


class Window:
    """Counts the receives that a peer without a reserve needs for messages of a requester."""

    def __init__(self, t, hand, asked):
        self.t = t
        self.hand = hand
        self.asked = {call.call[:4]: call for call in asked}
        self.calls = []
        self.unheard = 0        # operations that have no answer, since our last message

    def take(self):
        """Returns the next message. Refuses a REQ_XCHAR, which returns its credit."""
        got = self.hand.next('a Call')
        if got.header.proc != header.OPTIONAL:
            self.calls.append(got)
        else:
            self.unheard += 1
        self.t.hold(len(self.calls) + self.unheard <= GRANT,
                    f'{len(self.calls)} Calls and {self.unheard} operations for {GRANT} credits')
        if two.is_operation(got, wire.REQ_XCHAR):
            self.hand.send(two.resp(got.header.xid, rej={0}, credit=GRANT))
            self.unheard = 0

    def answer(self):
        """Answers the oldest Call."""
        got = self.calls.pop(0)
        call = self.asked.pop(got.data[:4]).call
        two.answer(self.hand, got, self.t.server.answer(call), credit=GRANT)
        self.unheard = 0


@requester('X-11', keys=two.with_keys(inline_threshold_bytes=4096))
def an_operation_of_the_connector_takes_a_credit(t):
    """Under long Replies and Calls, which cause announcements and requests, all messages keep to the grant."""
    asked, hand, got = two.called(t, t.null(), credit=GRANT)
    two.done(t, hand, asked, got, credit=GRANT)
    calls = [t.have_called(two.write(t, two.LONG) if n % 8 < 4 else t.readdir(6000))
             for n in range(32)]
    window = Window(t, hand, calls)
    while window.asked:
        while len(window.calls) + window.unheard < min(GRANT, len(window.asked)):
            window.take()
        t.loop.turn(0.001)
        while hand.conn.sends:
            window.take()
        window.answer()
    for call in calls:
        t.answered(call)


@an_operation_of_the_connector_takes_a_credit.wrong
def _(end):
    end.held = lambda: 0
    end.may_update = lambda room: True


@an_operation_of_the_connector_takes_a_credit.wrong
def _(end):
    end.may_update = lambda room: end.granted > 1


@an_operation_of_the_connector_takes_a_credit.wrong
def _(end):
    right = end.may_update
    end.may_update = lambda room: not room or right(room)     # REQ_XCHAR alone goes beyond


@requester('X-11', keys=two.KEYS)
def silence_gives_the_credit_of_init_xchar_back(t):
    """The Call after the second of silence needs only the credit of the first one."""
    asked, hand, _first = two.probed(t, t.null())
    two.done(t, hand, asked, hand.next('the Call'), credit=1)
    asked, got = two.again(t, hand, t.null())
    two.done(t, hand, asked, got, credit=1)


@silence_gives_the_credit_of_init_xchar_back.wrong
def _(end):
    end.held = lambda: 1 if end.probed else 0


@responder('X-11')
def the_acceptor_tells_one_thing_at_a_time(t):
    """The acceptor sends at most one operation for each message of the connector, and one before."""
    hand = two.greeted(t)
    told = 0
    for spoken, count in enumerate((8192, 12288, 16384), 1):
        for message in (two.req(two.size(count)), two.req((77, b''))):
            hand.send(message)
            while (got := hand.next('RESP_XCHAR')).header.xid != message.xid:
                t.hold(got.header.proc == header.OPTIONAL and got.header.opttype in OF_ITS_OWN,
                       f'something else comes: {header.describe(got.data)}')
                told += 1
        t.hold(told <= 2 * spoken + 1, f'{told} operations after {2 * spoken} messages')


@the_acceptor_tells_one_thing_at_a_time.wrong
def _(end):
    end.may_update = lambda room: True
    right = end.raised

    def told_too(size):
        for _ in range(3):
            end.update(wire.RBSIZ, size)
        return right(size)
    end.raised = told_too


# ----------------------------------------------------------------

@requester('X-12', keys=two.KEYS)
def inval_option_ends_no_call(t):
    """INVAL_OPTION is only for operations: a Call with its XID continues. BAD_HEADER ends one."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.null())
    hand.send(two.error(got.header.xid, header.INVAL_OPTION))
    two.done(t, hand, asked, got)
    asked, got = two.again(t, hand, t.null())
    hand.send(two.error(got.header.xid, header.BAD_HEADER))
    t.settle(lambda: asked.over, 'an end of the Call')
    two.in_order(t, hand)


@inval_option_ends_no_call.wrong
def _(end):
    end.for_operations_only = lambda error: False


@inval_option_ends_no_call.wrong
def _(end):
    end.for_operations_only = lambda error: True


@requester('X-12', keys=two.KEYS)
def a_call_waits_for_our_own_message_of_its_xid(t):
    """A Call with the XID of REQ_XCHAR is sent when that is answered."""
    hand, request, _count = two.asking(t)
    clash = t.have_called(request.data[:4] + t.null()[4:])
    t.loop.run(0.02)
    t.hold(not hand.conn.sends, 'the Call comes while REQ_XCHAR has its XID')
    hand.send(two.resp(request.header.xid, rej={0}))
    got = hand.next('the Call')
    t.hold(got.body == clash.call, 'something else comes')
    two.done(t, hand, clash, got)


@a_call_waits_for_our_own_message_of_its_xid.wrong
def _(end):
    end.xid_is_taken = lambda xid: False


@a_call_waits_for_our_own_message_of_its_xid.wrong
def _(end):
    right = end.take_resp

    def take(message):
        end.queue.clear()
        right(message)
    end.take_resp = take


# ----------------------------------------------------------------

def brs_of(t, got):
    """Returns the value of an INIT_XCHAR for reverse Calls."""
    values = wire.values_known(two.decoded(wire.decode_init, got)[0])
    t.hold(wire.BRS in values, 'it says nothing of reverse Calls')
    return values[wire.BRS]


@responder('X-16', needs={'behind'})
def an_acceptor_announces_szlim(t):
    """The default configuration."""
    hand = t.connect()
    sent = hand.send(two.init())
    t.hold(brs_of(t, hand.reply(sent.xid)) == wire.BRS_SZLIM, 'it announces something else')


@an_acceptor_announces_szlim.wrong
def _(end):
    end.options.reverse_chunks = True


@requester('X-16', keys=two.KEYS)
def a_connector_announces_szlim(t):
    """The default configuration."""
    _asked, _hand, first = two.probed(t, t.null())
    t.hold(brs_of(t, first) == wire.BRS_SZLIM, 'it announces something else')


@a_connector_announces_szlim.wrong
def _(end):
    end.options.reverse_chunks = True


@requester('X-16', keys=two.with_keys(reverse_chunks=True), needs={'reverse', 'behind'})
def a_connector_answers_reverse_calls_with_chunks(t):
    """It announces GENL: a Call by chunk is read, and its Reply written to the Reply chunk."""
    asked, hand, first = two.probed(t, t.null())
    t.hold(brs_of(t, first) == wire.BRS_GENL, 'it does not announce GENL')
    hand.send(two.init(two.value(wire.BRS, wire.BRS_GENL), xid=first.header.xid))
    two.done(t, hand, asked, hand.next('the Call'))
    call = t.echo(t.pattern(9000))
    key, landing = hand.lend(10000, writable=True)
    sent = hand.call(b'', xid=int.from_bytes(call[:4], 'big'), vers=2, proc=header.NOMSG,
                     reads=hand.read_chunk(0, call), reply=[landing])
    got = hand.reply(sent.xid)
    t.hold(got.header.proc == header.NOMSG and got.header.reply, 'the reply chunk is not used')
    size = sum(segment.length for segment in got.reply_chunk())
    t.hold(bytes(key.memory[:size])[-9000:] == t.pattern(9000), 'something else is written')


@a_connector_answers_reverse_calls_with_chunks.wrong
def _(end):
    end.call_flaw = lambda message: 'chunks in a reverse Call' if message.reads else None


@a_connector_answers_reverse_calls_with_chunks.wrong
def _(end):
    end.into_reply_chunk = lambda message, out: False


@responder('X-16', keys={'reverse_chunks': True}, needs={'reverse', 'behind'})
def an_acceptor_makes_reverse_calls_with_chunks(t):
    """A long Call to a connector with GENL uses chunks."""
    hand = t.connect()
    told = two.greet(hand, two.value(wire.BRS, wire.BRS_GENL))
    t.hold(told.get(wire.BRS) == wire.BRS_GENL, 'it does not announce GENL')
    two.barrier(t, hand)
    asked = t.have_called_back(t.echo(t.pattern(9000)))
    got = hand.next('the reverse Call')
    t.hold(got.header.proc == header.NOMSG, 'it is no RDMA_NOMSG')
    t.hold(hand.message_of(got) == asked.call, 'the chunk carries something else')
    t.hold(got.header.reply, 'no reply chunk is offered')
    two.answer(hand, got, t.server.answer(asked.call))
    t.settle(lambda: asked.over, 'the Reply at the other side')


@an_acceptor_makes_reverse_calls_with_chunks.wrong
def _(end):
    end.reverse_has_chunks = lambda: False


@an_acceptor_makes_reverse_calls_with_chunks.wrong
def _(end):
    end.offer_room = lambda pending, message: None


@responder('X-16', keys={'reverse_chunks': True}, needs={'reverse', 'behind'})
def chunks_are_for_connectors_that_announce_genl(t):
    """A connector with SZLIM, or without a value, gets short reverse Calls without chunks."""
    for told in ([two.value(wire.BRS, wire.BRS_SZLIM)], []):
        hand = two.greeted(t, *told)
        two.barrier(t, hand)
        asked = t.have_called_back(t.echo(b'short'))
        got = hand.next('the reverse Call')
        lists = got.header.reads, got.header.writes, got.header.reply
        t.hold(got.header.proc == header.MSG and not any(lists), 'it has chunks')
        hand.answer(got, t.server.answer(asked.call))
        t.settle(lambda call=asked: call.over, 'the Reply at the other side')


@chunks_are_for_connectors_that_announce_genl.wrong
def _(end):
    end.reverse_has_chunks = lambda: True

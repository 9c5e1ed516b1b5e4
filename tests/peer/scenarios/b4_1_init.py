# SPDX-License-Identifier: BSD-3-Clause
"""INIT_XCHAR: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 4.1."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'


@requester('B4.1-1', keys=two.KEYS)
def init_xchar_comes_first_and_is_short(t):
    """INIT_XCHAR precedes any Call and has at most 1024 bytes, because the server may be of version one."""
    _asked, _hand, first = two.probed(t, t.null(), send=1024, recv=1024)
    t.hold(two.is_operation(first, wire.INIT_XCHAR), 'it is something else')
    t.hold(len(first.data) <= 1024, f'it has {len(first.data)} bytes')


@init_xchar_comes_first_and_is_short.wrong
def _(end):
    right = end.own_values
    end.own_values = lambda: right() + [(0xffffff00 + n, bytes(200)) for n in range(6)]


@init_xchar_comes_first_and_is_short.wrong
def _(end):
    end.tries_two = lambda: False
    end.call_version = lambda: 2


@responder('B4.1-1')
def an_acceptors_init_xchar_is_short(t):
    """It fits the receives that every peer of version two has."""
    hand = t.connect()
    got = two.own_init(hand, hand.send(two.init()))
    t.hold(len(got.data) <= 4096, f'it has {len(got.data)} bytes')


@an_acceptors_init_xchar_is_short.wrong
def _(end):
    right = end.own_values
    end.own_values = lambda: right() + [(0xffffff00 + n, bytes(2000)) for n in range(3)]


def tells_all(t, got):
    """An INIT_XCHAR has the three characteristics."""
    told = wire.values_known(two.decoded(wire.decode_init, got)[0])
    t.hold(set(told) >= {wire.RBSIZ, wire.RQREMINV, wire.BRS}, f'it tells {sorted(told)} only')
    t.hold(told[wire.RBSIZ] >= 4096, f'its receives have {told[wire.RBSIZ]} bytes')


def tells_two(end):
    """A bend: one is left out."""
    right = end.own_values
    end.own_values = lambda: right()[:2]


@responder('B4.1-2', needs={'behind'})
def an_acceptor_tells_all_that_it_knows(t):
    """The three characteristics of the document."""
    hand = t.connect()
    sent = hand.send(two.init())
    tells_all(t, hand.reply(sent.xid, 'INIT_XCHAR'))


an_acceptor_tells_all_that_it_knows.wrong(tells_two)


@requester('B4.1-2', keys=two.KEYS)
def a_connector_tells_all_that_it_knows(t):
    """The three characteristics of the document."""
    _asked, _hand, first = two.probed(t, t.null())
    tells_all(t, first)


a_connector_tells_all_that_it_knows.wrong(tells_two)


@responder('B4.1-2', keys={'inline_threshold_bytes': 65536}, needs={'files'})
def an_acceptor_bears_a_peer_that_tells_nothing(t):
    """Its own receives are large; the connector keeps to 4096 bytes, and gets no more."""
    hand = two.greeted(t, send=4096, recv=4096)
    two.chunk_reply(hand, t.readdir(6000))
    call = two.write(t, 9000)
    sent = hand.call(b'', xid=int.from_bytes(call[:4], 'big'), vers=2, proc=header.NOMSG,
                     reads=hand.read_chunk(0, call))
    t.hold(hand.reply(sent.xid).header.proc == header.MSG, 'a Call by chunk is not served')


@an_acceptor_bears_a_peer_that_tells_nothing.wrong
def _(end):
    end.send_limit_two = end.largest_send


def constant_and_changed(t, hand, serve):
    """A characteristic that was announced as constant changes."""
    hand.send(two.init(two.size(4096), two.value(wire.RQREMINV, False), nochg={0, 1}))
    hand.send(two.upd(two.size(two.BIG)))
    serve()


@responder('B4.1-3', needs={'files'})
def a_broken_promise_is_accepted(t):
    """An UPD_XCHAR of a member of nochg is no error, and takes effect."""
    hand = two.greeted(t)
    constant_and_changed(t, hand, lambda: two.barrier(t, hand))
    two.inline_reply(hand, t.readdir(6000))


def holds_to_promises(end):
    """A bend: what was promised to be constant is."""
    constant = set()
    init, learn = end.take_init, end.take_upd

    def take_init(message):
        values, nochg = wire.decode_init(message.optinfo)
        constant.update(values[n][0] for n in nochg)
        init(message)

    def take_upd(message):
        if wire.decode_upd(message.optinfo)[0][0] not in constant:
            learn(message)
    end.take_init, end.take_upd = take_init, take_upd


a_broken_promise_is_accepted.wrong(holds_to_promises)


@a_broken_promise_is_accepted.wrong
def _(end):
    holds_to_promises(end)
    end.take_upd = lambda message: end.refuse_header(message.xid, 2, 'constant')


@requester('B4.1-3', keys=two.KEYS)
def a_requester_accepts_a_broken_promise_too(t):
    """An UPD_XCHAR of a member of nochg is no error, and takes effect."""
    hand = two.ready(t)
    constant_and_changed(t, hand, lambda: two.in_order(t, hand))
    t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'it does not hold')


a_requester_accepts_a_broken_promise_too.wrong(holds_to_promises)


def keeps_promises(t, promised, changed):
    """An end does not change what it announced as constant."""
    for got in changed:
        (ident, _data), _pendclr = two.decoded(wire.decode_upd, got)
        t.hold(ident not in promised, f'characteristic {ident} changes, and was promised not to')


@requester('B4.1-3', keys=two.KEYS)
def a_connector_keeps_its_promises(t):
    """Changes because of long Replies and requests affect no member of its own nochg."""
    asked, hand, first = two.probed(t, t.null())
    values, nochg = two.decoded(wire.decode_init, first)
    promised = {values[member][0] for member in nochg}
    hand.send(two.init(xid=first.header.xid))
    two.done(t, hand, asked, hand.next('the Call'))
    changed = []
    done, _rej, _pend = two.disposition(t, hand, two.req(two.size(8192)))
    t.hold(not (done and wire.RBSIZ in promised), 'it grants what it promised not to change')
    for _ in range(12):
        asked = t.have_called(t.readdir(12000))
        while two.is_operation(got := hand.next('the Call'), wire.UPD_XCHAR):
            changed.append(got)
        two.done(t, hand, asked, got)
    keeps_promises(t, promised, changed)


@a_connector_keeps_its_promises.wrong
def _(end):
    right = end.init_message

    def all_constant(xid):
        message = right(xid)
        message.optinfo = wire.encode_init(end.own_values(), {0, 1, 2})
        return message
    end.init_message = all_constant


@responder('B4.1-4')
def init_xchar_gets_no_answer_of_its_own(t):
    """Only the acceptor's own INIT_XCHAR comes, for any values."""
    hand = t.connect()
    two.barrier(t, hand)
    sent = hand.send(two.init((77, b'what'), two.size(8192), (78, b'')))
    after = hand.call(t.null(), vers=2)
    got = hand.next('the Reply')
    if got.header.xid == sent.xid:
        t.hold(two.is_operation(got, wire.INIT_XCHAR), 'it is answered, but not by INIT_XCHAR')
        got = hand.next('the Reply')
    t.hold(got.header.xid == after.xid, 'something else comes')


@init_xchar_gets_no_answer_of_its_own.wrong
def _(end):
    end.answer_init = lambda message: end.put(two.resp(message.xid, done={1}, rej={0, 2}))


@init_xchar_gets_no_answer_of_its_own.wrong
def _(end):
    end.take_init = lambda message: end.refuse_option(message.xid)


@requester('B4.1-4', keys=two.KEYS)
def a_connector_does_not_answer_init_xchar(t):
    """Only Calls come, for any values."""
    hand = two.ready(t, (77, b'what'), two.size(8192), (78, b''))
    hand.send(two.init((79, b'')))
    two.in_order(t, hand)


@a_connector_does_not_answer_init_xchar.wrong
def _(end):
    right = end.take_init

    def take(message):
        right(message)
        end.put(two.resp(message.xid))
    end.take_init = take


def first_alone(end):
    """A bend: the first INIT_XCHAR is the last that counts."""
    right, count = end.take_init, []

    def take(message):
        count.append(message)
        if len(count) == 1:
            right(message)
    end.take_init = take


@responder('B4.1-5', needs={'files'})
def another_init_xchar_is_an_update(t):
    """A second INIT_XCHAR, and one after Calls: its values take effect, the others stay."""
    hand = two.greeted(t)
    two.chunk_reply(hand, t.readdir(6000))
    for values in ([two.size(two.BIG)], [two.value(wire.BRS, wire.BRS_SZLIM)]):
        sent = hand.send(two.init(*values))
        after = hand.call(t.readdir(6000), vers=2)
        got = hand.next('the Reply')
        if got.header.xid == sent.xid:
            t.hold(two.is_operation(got, wire.INIT_XCHAR), 'something else comes')
            got = hand.next('the Reply')
        t.hold((got.header.xid, got.header.proc) == (after.xid, header.MSG),
               'the Reply does not come inline')


another_init_xchar_is_an_update.wrong(first_alone)


@another_init_xchar_is_an_update.wrong
def _(end):
    right = end.take_init

    def fresh(message):
        end.peers.clear()
        right(message)
    end.take_init = fresh


@requester('B4.1-5', keys=two.KEYS)
def another_init_xchar_updates_a_requester(t):
    """A second INIT_XCHAR after Calls: its values take effect, the others stay."""
    hand = two.ready(t)
    t.hold(not two.goes_inline(t, hand, two.write(t, 6000)), 'a receive size is assumed')
    for values in ([two.size(two.BIG)], [two.value(wire.BRS, wire.BRS_SZLIM)]):
        hand.send(two.init(*values))
        two.in_order(t, hand)
        t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'it does not hold')


another_init_xchar_updates_a_requester.wrong(first_alone)

# SPDX-License-Identifier: BSD-3-Clause
"""What the drafts of version two leave open about its first message: X-1."""

from model.version_two import TWO
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'


@requester('X-1', keys=two.KEYS)
def the_first_message_is_init_xchar(t):
    """With an XID of its own, and all that the connector knows of itself."""
    asked, hand, first = two.probed(t, t.null())
    t.hold(two.is_operation(first, wire.INIT_XCHAR), 'it is something else')
    t.hold(first.data[:4] != asked.call[:4], 'it has the XID of the Call')
    hand.send(two.init(xid=first.header.xid))
    got = hand.next('the Call')
    t.hold(got.header.vers == 2, f'the Call goes in version {got.header.vers}')
    two.done(t, hand, asked, got)


@the_first_message_is_init_xchar.wrong
def _(end):
    end.first_message = lambda xid: two.req(two.size(4096), xid=xid)


@the_first_message_is_init_xchar.wrong
def _(end):
    end.own_xid = lambda: int.from_bytes(end.queue[0].call[:4], 'big')


@requester('X-1', keys=two.KEYS)
def every_answer_of_version_two_settles_it(t):
    """An operation, INVAL_OPTION, BAD_HEADER: the Call goes in version two."""
    def answers(xid):
        yield two.init(xid=xid)
        yield two.error(xid, header.INVAL_OPTION)
        yield two.error(xid, header.BAD_HEADER)
        yield two.upd(two.size(4096))
    for index in range(4):
        asked, hand, first = two.probed(t, t.null())
        hand.send(list(answers(first.header.xid))[index])
        got = hand.next('the Call')
        t.hold(got.header.vers == 2, f'answer {index}: the Call goes in version {got.header.vers}')
        two.done(t, hand, asked, got)
        t.hang_up(hand)


@every_answer_of_version_two_settles_it.wrong
def _(end):
    right = end.heard_two
    end.take_error = lambda data: None
    end.heard_two = right


@every_answer_of_version_two_settles_it.wrong
def _(end):
    right = end.heard_two
    end.heard_two = lambda: right() if end.peer_understands else None


@requester('X-1', keys=two.KEYS)
def silence_lasts_a_second(t):
    """Then the Call goes as version one; the next connection begins so at once."""
    asked = t.have_called(t.null())
    begin = t.loop.now()
    hand = t.accept()
    t.hold(hand.next('the first message').header.vers == 2, 'version two is not tried')
    got = hand.next('the Call after a second of silence')
    waited = t.loop.now() - begin
    t.hold(got.header.vers == 1, f'the Call goes in version {got.header.vers}')
    t.hold(0.9 < waited < 4.9, f'it goes after {waited:.1f} s')
    two.done(t, hand, asked, got)
    t.hang_up(hand)
    waits = []
    while len(waits) < 5 and min(waits, default=1) > 0.9:   # a slow machine may need several
        begin = t.loop.now()
        asked = t.have_called(t.null())
        hand = t.accept()
        got = hand.next('the Call without silence')
        waits.append(t.loop.now() - begin)
        t.hold(got.header.vers == 1, 'version two is tried again')
        two.done(t, hand, asked, got)
        t.hang_up(hand)
    t.hold(min(waits) <= 0.9, f'each waits for a second again: {min(waits):.1f} s at least')


@silence_lasts_a_second.wrong
def _(end):
    end.silence_s = 0.1


@silence_lasts_a_second.wrong
def _(end):
    end.silence_s = 4.95


@silence_lasts_a_second.wrong
def _(end):
    end.memory.one_only = lambda: False


@silence_lasts_a_second.wrong
def _(end):
    right = end.begin
    end.begin = lambda: right() if end.tries_two() else end.loop.after(1.0, right)


@requester('X-1', keys=two.KEYS)
def a_call_refused_after_silence_goes_once_more(t):
    """ERR_VERS 2..2 shows that it was not executed; later Calls are of version two."""
    asked, hand, _first = two.probed(t, t.null())
    got = hand.next('the Call')
    t.hold(got.header.vers == 1, 'silence is not taken for version one')
    hand.send(two.error(got.header.xid, header.ERR_VERS, low=2, high=2))
    for _ in range(2):
        got = hand.next('the Call in version two')
        t.hold((got.header.vers, got.body) == (2, asked.call), 'it is something else')
        two.done(t, hand, asked, got)
        asked = t.have_called(t.null())


@a_call_refused_after_silence_goes_once_more.wrong
def _(end):
    end.take_err_vers = lambda error: False


@a_call_refused_after_silence_goes_once_more.wrong
def _(end):
    end.once_more = lambda pending, version: end.conn.close()


@requester('X-1', keys=two.KEYS)
def a_call_goes_twice_at_most(t):
    """Refused again in version two it is over, and its caller is told or left."""
    asked, hand, _first = two.probed(t, t.null())
    for low in (2, 1):
        got = hand.next('the Call')
        t.hold(got.body == asked.call, 'it is something else')
        hand.send(two.error(got.header.xid, header.ERR_VERS, low=low, high=low))
    t.settle(lambda: asked.over or hand.conn.ended, 'an end of the Call')
    t.loop.run(0.02)
    hand.quiet()


@a_call_goes_twice_at_most.wrong
def _(end):
    right = end.once_more

    def again(pending, version):
        right(pending, version)
        end.moved, end.version = False, None
    end.once_more = again


@requester('X-1', keys=two.KEYS)
def after_silence_one_call_goes_alone(t):
    """The window stays one until a Reply grants more."""
    asked = [t.have_called(t.null()) for _ in range(3)]
    hand = t.accept()
    hand.next('the first message')
    got = hand.next('the Call')
    t.loop.run(0.02)
    hand.quiet()
    hand.answer_null(got, credit=2)
    for n in range(2):
        hand.answer_null(hand.next(f'Call {n + 2}'), credit=2)
    for call in asked:
        t.answered(call)


@after_silence_one_call_goes_alone.wrong
def _(end):
    end.granted = 3


@requester('X-1', keys=two.KEYS)
def a_late_answer_is_dropped(t):
    """Once a Call went as version one, an answer to INIT_XCHAR changes nothing and gets nothing."""
    asked, hand, first = two.probed(t, t.null())
    got = hand.next('the Call')
    for _ in range(2):
        hand.send(two.init(xid=first.header.xid))
        hand.send(two.error(first.header.xid, header.INVAL_OPTION))
        two.done(t, hand, asked, got)
        asked, got = two.again(t, hand, t.null())
        t.hold((got.header.vers, got.body) == (1, asked.call), 'it is no Call of version one')
    two.done(t, hand, asked, got)
    two.in_order(t, hand)


@a_late_answer_is_dropped.wrong
def _(end):
    end.is_late = lambda xid, version, proc: False


@a_late_answer_is_dropped.wrong
def _(end):
    def late(_xid, version, _proc):
        if version == TWO:
            end.settle(TWO)
        return version == TWO
    end.is_late = late
    end.call_version = lambda: TWO if end.version == TWO else 1


@responder('X-1')
def init_xchar_is_answered_by_the_acceptors_own(t):
    """In version two, with the same XID."""
    hand = t.connect()
    sent = hand.send(two.init(two.size(4096)))
    got = hand.reply(sent.xid, 'the INIT_XCHAR of the acceptor')
    t.hold(got.header.vers == 2, f'the answer is of version {got.header.vers}')
    t.hold(two.is_operation(got, wire.INIT_XCHAR), 'it is something else')
    two.barrier(t, hand)


@init_xchar_is_answered_by_the_acceptors_own.wrong
def _(end):
    end.answer_init = lambda message: None


@init_xchar_is_answered_by_the_acceptors_own.wrong
def _(end):
    end.answer_init = lambda message: end.put(end.init_message(message.xid + 1))


@responder('X-1')
def who_is_sent_no_init_xchar_sends_none(t):
    """Calls of version two bring Replies and nothing else."""
    hand = t.connect()
    for _ in range(3):
        two.barrier(t, hand)
    hand.quiet()


@who_is_sent_no_init_xchar_sends_none.wrong
def _(end):
    right = end.settled_by_call

    def tell(message):
        if end.version is None:
            end.put(end.init_message(end.own_xid()))
        right(message)
    end.settled_by_call = tell


@responder('X-1', needs={'files'})
def a_call_of_version_one_voids_the_characteristics(t):
    """What INIT_XCHAR said of receives and keys does not hold for a Reply of version one."""
    hand = two.greeted(t, two.size(two.BIG), two.value(wire.RQREMINV, True),
                       send=4096, recv=4096, invalidate=False)
    _key, segment = hand.lend(8192, writable=True)
    got = hand.ask(t.readdir(6000), reply=[segment])
    t.hold(got.header.vers == 1, f'a Call of version one is answered in {got.header.vers}')
    t.hold(got.header.proc == header.NOMSG, f'{len(got.data)} bytes come inline')
    t.hold(got.invalidated is None, 'a key is invalidated')


@a_call_of_version_one_voids_the_characteristics.wrong
def _(end):
    end.in_two = lambda: True


@a_call_of_version_one_voids_the_characteristics.wrong
def _(end):
    end.may_invalidate = lambda message: end.may_invalidate_two()

# SPDX-License-Identifier: BSD-3-Clause
"""Receive sizes that change: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 3.1."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'
BIG = {'inline_threshold_bytes': two.BIG}


def raised_only_in_words(end):
    """A bend: it says that receives are larger, and posts the old ones."""
    def raised(size):
        end.told_size = size
        return 'done'
    end.raised = raised


def told_too_soon(end):
    """A bend: the first receives behind the news are old ones still."""
    right, old = end.raised, []

    def raised(size):
        old[:] = [end.receive_size] * 3
        return right(size)
    end.raised = raised
    end.fits_receive = lambda size: size <= (old.pop() if old else end.receive_size)


@responder('B3.1-3', needs={'files'})
def a_raised_size_is_told_when_all_receives_have_it(t):
    """After RESP_XCHAR (done) or UPD_XCHAR each receive fits a Send of that size."""
    hand = two.greeted(t)
    two.barrier(t, hand)
    for count in (8192, two.BIG):
        two.raised(t, hand, count)
        sent = [hand.call(two.write(t, count), vers=2) for _ in range(8)]
        two.all_served(t, hand, sent)


a_raised_size_is_told_when_all_receives_have_it.wrong(raised_only_in_words)
a_raised_size_is_told_when_all_receives_have_it.wrong(told_too_soon)


@requester('B3.1-3', keys=two.KEYS)
def a_requester_tells_a_raised_size_so_too(t):
    """Its receives fit Replies of that size as soon as it announces it."""
    hand = two.ready(t)
    for count in (8192, two.BIG):
        two.raised(t, hand, count)
        asked = [t.have_called(t.echo(b'', count - 28 - 28)) for _ in range(4)]
        calls = [hand.next('a Call') for _ in asked]
        for got, call in zip(calls, asked):
            hand.answer(got, t.server.answer(call.call))
        for call in asked:
            t.hold(t.answered(call) == t.server.answer(call.call),
                   'another Reply reaches the caller')


a_requester_tells_a_raised_size_so_too.wrong(raised_only_in_words)
a_requester_tells_a_raised_size_so_too.wrong(told_too_soon)


def falls(t, hand, told, serve):
    """An announced size never falls without a request; checks messages between Calls."""
    for _ in range(12):
        for got in serve():
            if two.is_operation(got, wire.UPD_XCHAR):
                (ident, data), _pendclr = two.decoded(wire.decode_upd, got)
                if ident == wire.RBSIZ:
                    t.hold(wire.value_of(ident, data) >= told, 'the receive size falls unasked')
                    told = wire.value_of(ident, data)
    hand.quiet()


def lowers_unasked(end):
    """A bend: after some messages it makes its receives smaller by itself."""
    right, count = end.take_message, []

    def take(xid, version, sent):
        right(xid, version, sent)
        count.append(xid)
        if len(count) == 5:
            end.update(wire.RBSIZ, 4096)
    end.take_message = take


@responder('B3.1-4', keys=BIG)
def a_receive_size_falls_only_when_asked_for(t):
    """Small Calls do not lower the acceptor's size; after a request its answer is in effect."""
    hand = t.connect()
    told = two.greet(hand).get(wire.RBSIZ, 4096)

    def serve():
        sent = hand.call(t.null(), vers=2)
        while (got := hand.next('the Reply')).header.xid != sent.xid:
            yield got
    falls(t, hand, told, serve)
    two.granted(t, hand, 4096)
    two.barrier(t, hand)


a_receive_size_falls_only_when_asked_for.wrong(lowers_unasked)


@a_receive_size_falls_only_when_asked_for.wrong
def _(end):
    def lowered(size):
        end.update(wire.RBSIZ, size - 1, pendclr=True)
        return 'pend'
    end.lowered = lowered


@requester('B3.1-4', keys=two.with_keys(**BIG))
def a_requesters_receive_size_falls_only_when_asked_for(t):
    """The same for the connector."""
    hand, told = two.ready_and_told(t)

    def serve():
        asked = t.have_called(t.null())
        while (got := hand.next('the Call')).header.proc == header.OPTIONAL:
            yield got
        two.done(t, hand, asked, got)
    falls(t, hand, told, serve)
    two.granted(t, hand, 4096)
    two.in_order(t, hand)


a_requesters_receive_size_falls_only_when_asked_for.wrong(lowers_unasked)


@responder('B3.1-4', keys=BIG, needs={'files'})
def a_size_falls_for_what_follows_the_request(t):
    """Sends of the old size that preceded a request for a lower one are accepted."""
    hand = t.connect()
    told = two.greet(hand).get(wire.RBSIZ, 4096)
    sent = [hand.call(two.write(t, told), vers=2) for _ in range(4)]
    waiting = {message.xid for message in sent + [hand.send(two.req(two.size(4096)))]}
    while waiting:
        got = hand.next('an answer')
        if two.is_operation(got, wire.UPD_XCHAR):       # where the request was pending
            continue
        t.hold(got.header.xid in waiting and got.header.proc != header.ERROR,
               f'no answer to what was sent but: {header.describe(got.data)}')
        waiting.remove(got.header.xid)


@a_size_falls_for_what_follows_the_request.wrong
def _(end):
    right = end.answer_init

    def smaller(message):
        right(message)
        end.receive_size = 4096
    end.answer_init = smaller


@requester('B3.1-4', keys=two.KEYS, needs={'reverse'})
def who_asks_keeps_to_what_it_asked_for(t):
    """Until the answer to its REQ_XCHAR, Calls and reverse Replies keep the old size, even if more is announced."""
    hand, request, count = two.asking(t)
    hand.send(two.upd(two.size(2 * count)))
    two.in_order(t, hand)
    t.hold(not two.goes_inline(t, hand, two.write(t, count + 4)), 'a longer Call goes inline')
    got = hand.ask(t.echo(b'', count), vers=2)
    t.hold(len(got.data) <= count, f'a reverse Reply of {len(got.data)} bytes comes, not {count}')
    hand.send(two.resp(request.header.xid, rej={0}))
    two.in_order(t, hand)
    t.hold(two.goes_inline(t, hand, two.write(t, count + 4)), 'a rejected request is a limit')
    got = hand.ask(t.echo(b'', count), vers=2)
    t.hold(got.header.proc == header.MSG and len(got.data) > count,
           f'then a reverse Reply is: {header.describe(got.data)}')


def _without_what_is_asked(end, name):
    """A bend: what is asked for bounds nothing in this method."""
    right = getattr(end, name)

    def bent(*arguments):
        waiting, end.waiting = end.waiting, {}
        try:
            return right(*arguments)
        finally:
            end.waiting = waiting
    setattr(end, name, bent)


@who_asks_keeps_to_what_it_asked_for.wrong
def _(end):
    _without_what_is_asked(end, 'send_limit_two')


@who_asks_keeps_to_what_it_asked_for.wrong
def _(end):
    _without_what_is_asked(end, 'reply_is_here')


@requester('B3.1-7', keys=two.with_keys(inline_threshold_bytes=two.BIG))
def a_lower_size_is_granted_when_no_call_counts_on_more(t):
    """With a Call in flight without a chunk for a long Reply the request is pending."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.read(6000))
    t.hold(not got.header.reply, 'a reply chunk is offered though the receive is large enough')
    done, _rej, pend = two.disposition(t, hand, two.req(two.size(4096)))
    t.hold(not done, 'it is granted while a Call counts on more')
    t.hold(pend, 'it is refused, and only has to wait')
    two.done(t, hand, asked, got)
    t.hold(two.updated(hand, wire.RBSIZ) == (4096, True),
           'another size is told, or it stays pending')
    asked, got = two.again(t, hand, t.read(6000))
    t.hold(got.header.reply, 'a Call counts on receives that are gone')
    two.done(t, hand, asked, got)


@a_lower_size_is_granted_when_no_call_counts_on_more.wrong
def _(end):
    end.counted_on = lambda: 0


@a_lower_size_is_granted_when_no_call_counts_on_more.wrong
def _(end):
    end.lowered = lambda size: 'rej'


@a_lower_size_is_granted_when_no_call_counts_on_more.wrong
def _(end):
    end.one_answered = lambda: None


@a_lower_size_is_granted_when_no_call_counts_on_more.wrong
def _(end):
    right = end.give_lower

    def too_low():
        end.lower_pending -= 4
        right()
    end.give_lower = too_low


@requester('B3.1-7', keys=two.with_keys(inline_threshold_bytes=two.BIG))
def a_lower_size_is_granted_while_short_replies_are_due(t):
    """Calls whose Replies fit the lower size do not delay it."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.null())
    t.hold(two.granted(t, hand, 4096), 'it is refused')
    two.done(t, hand, asked, got)


@a_lower_size_is_granted_while_short_replies_are_due.wrong
def _(end):
    end.counted_on = lambda: two.BIG if end.pending else 0


@responder('B3.1-8', needs={'files'})
def a_lower_size_unasked_for_is_obeyed_at_once(t):
    """After UPD_XCHAR the next long Reply uses a chunk."""
    hand = two.greeted(t, two.size(two.BIG))
    two.inline_reply(hand, t.readdir(6000))
    hand.send(two.upd(two.size(4096)))
    two.chunk_reply(hand, t.readdir(6000))
    two.barrier(t, hand)


def keeps_the_larger(end):
    """A bend: a receive size never falls."""
    right = end.learn

    def learn(values):
        old = end.peers.get(wire.RBSIZ, 0)
        right(values)
        end.peers[wire.RBSIZ] = max(old, end.peers.get(wire.RBSIZ, 0))
    end.learn = learn


a_lower_size_unasked_for_is_obeyed_at_once.wrong(keeps_the_larger)


@requester('B3.1-8', keys=two.KEYS)
def a_requester_obeys_a_lower_size_at_once_too(t):
    """After UPD_XCHAR the next long Call uses a chunk."""
    hand = two.ready(t, two.size(two.BIG))
    t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'the larger size is not taken')
    hand.send(two.upd(two.size(4096)))
    two.in_order(t, hand)
    t.hold(not two.goes_inline(t, hand, two.write(t, 6000)), 'the lower one is not')


a_requester_obeys_a_lower_size_at_once_too.wrong(keeps_the_larger)


def changes(t, hand, serve):
    """Unrequested changes, larger and smaller sizes, and Calls between them."""
    for count in (two.BIG, 4096, 65536, 8192):
        hand.send(two.upd(two.size(count)))
        hand.send(two.upd(two.value(wire.RQREMINV, count > 4096)))
        hand.send(two.upd(two.value(wire.BRS, wire.BRS_NONE if count > 8192 else wire.BRS_SZLIM)))
        serve()


def takes_no_change(end):
    """A bend: a change ends the connection."""
    end.take_upd = lambda message: end.conn.terminate(0, 0)


@responder('B3-2', needs={'files'})
def changes_disturb_nothing(t):
    """Each characteristic changes many times; a refused request changes nothing."""
    hand = two.greeted(t)

    def serve():
        _key, segment = hand.lend(8192, writable=True)
        t.hold(two.ask(hand, t.readdir(3000), reply=[segment]).header.proc != header.ERROR,
               'a READDIR is not served')
    changes(t, hand, serve)
    two.disposition(t, hand, two.req(two.size(2**32 - 1), two.value(wire.BRS, wire.BRS_NONE)))
    serve()
    two.barrier(t, hand)


changes_disturb_nothing.wrong(takes_no_change)


@changes_disturb_nothing.wrong
def _(end):
    end.verdict = lambda ident, data: end.conn.terminate(0, 0) or 'rej'


@requester('B3-2', keys=two.KEYS)
def changes_disturb_no_requester(t):
    """Calls of every size continue between the acceptor's changes, and after its refusals."""
    hand = two.ready(t)

    def serve():
        two.in_order(t, hand)
        for count in (1000, 5000):
            asked, got = two.again(t, hand, two.write(t, count))
            t.hold(hand.message_of(got) == asked.call, 'another Call comes')
            two.done(t, hand, asked, got)
    changes(t, hand, serve)


changes_disturb_no_requester.wrong(takes_no_change)

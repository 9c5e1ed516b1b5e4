# SPDX-License-Identifier: BSD-3-Clause
"""The receive size as it is told: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 3.1."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'
BIG = {'inline_threshold_bytes': two.BIG}
HUGE = 2**32 - 1


@responder('B3-1', needs={'files'})
def what_is_not_told_has_its_default(t):
    """INIT_XCHAR with one value keeps the other defaults: 4096 bytes, no invalidation."""
    hand = two.greeted(t, two.value(wire.BRS, wire.BRS_SZLIM), send=32768, recv=4096)
    got = two.chunk_reply(hand, t.readdir(6000))
    t.hold(got.invalidated is None, 'a key is invalidated')
    two.inline_reply(hand, t.readdir(3400))
    hand = two.greeted(t, two.value(wire.RQREMINV, False))
    two.chunk_reply(hand, t.readdir(6000))


@what_is_not_told_has_its_default.wrong
def _(end):
    end.told = lambda ident: True
    end.peer_value = lambda ident: {wire.RBSIZ: 65536}.get(ident, 0)


@what_is_not_told_has_its_default.wrong
def _(end):
    end.may_invalidate_two = lambda: not end.told(wire.RQREMINV)


@requester('B3-1', keys=two.with_keys(**BIG))
def a_requester_assumes_the_default(t):
    """A peer without characteristics has receives of 4096 bytes."""
    hand = two.ready(t)
    t.hold(two.goes_inline(t, hand, two.write(t, 4096)), '4096 bytes do not go inline')
    t.hold(not two.goes_inline(t, hand, two.write(t, 4100)), '4100 bytes go inline')


@a_requester_assumes_the_default.wrong
def _(end):
    end.send_limit_two = lambda: two.BIG


@responder('B3.1-1', keys=BIG, needs={'files'})
def an_acceptors_receives_are_as_large_as_it_says(t):
    """It accepts as many concurrent Sends as it grants, each of the size in its INIT_XCHAR."""
    hand = t.connect()
    count = two.greet(hand).get(wire.RBSIZ, 4096)
    grant = min(two.barrier(t, hand).header.credit, 16)
    sent = [hand.call(two.write(t, count), vers=2) for _ in range(grant)]
    two.all_served(t, hand, sent)


@an_acceptors_receives_are_as_large_as_it_says.wrong
def _(end):
    end.fits_receive = lambda size: size <= end.receive_size - 4


@requester('B3.1-1', keys=two.with_keys(**BIG))
def a_connectors_receives_are_as_large_as_it_says(t):
    """A Reply of the size in its INIT_XCHAR is accepted inline."""
    asked, hand, first = two.probed(t, t.null())
    values = wire.values_known(two.decoded(wire.decode_init, first)[0])
    count = values.get(wire.RBSIZ, 4096)
    hand.send(two.init(xid=first.header.xid))
    two.done(t, hand, asked, hand.next('the Call'))
    asked, got = two.again(t, hand, t.echo(b'', count - 28 - 28))
    reply = t.server.answer(asked.call)
    sent = hand.answer(got, reply)
    t.hold(len(header.encode(sent)) == count, 'the Reply has another size')
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@a_connectors_receives_are_as_large_as_it_says.wrong
def _(end):
    end.fits_receive = lambda size: size <= 4096


@responder('B3.1-2', needs={'behind'})
def the_reply_chunk_is_used_where_the_receive_is_too_small(t):
    """A Reply of exactly the receive size comes inline; with one more word it uses the chunk."""
    hand = two.greeted(t, two.size(8192))
    got = two.inline_reply(hand, t.echo(b'', 8192 - 28 - 28))
    t.hold(len(got.data) == 8192, f'the Reply has {len(got.data)} bytes')
    returned = 4 + 16       # a reply chunk of one segment
    two.chunk_reply(hand, t.echo(b'', 8192 - 28 - returned - 28 + 4))
    two.chunk_reply(hand, t.echo(b'', two.BIG - 64))


@the_reply_chunk_is_used_where_the_receive_is_too_small.wrong
def _(end):
    end.send_limit_two = lambda: 8188


@the_reply_chunk_is_used_where_the_receive_is_too_small.wrong
def _(end):
    end.send_limit_two = lambda: 8192 + 4 + 20      # a word more, and the reply chunk that comes back


@requester('B3.1-2', keys=two.KEYS)
def the_peers_receive_size_decides_on_a_position_zero_chunk(t):
    """A Call of exactly that size is sent inline; with one more word it uses a chunk."""
    hand = two.ready(t, two.size(8192))
    t.hold(two.goes_inline(t, hand, two.write(t, 8192)), '8192 bytes do not go inline')
    t.hold(not two.goes_inline(t, hand, two.write(t, 8196)), '8196 bytes go inline')


@the_peers_receive_size_decides_on_a_position_zero_chunk.wrong
def _(end):
    end.send_limit_two = lambda: 8188


@the_peers_receive_size_decides_on_a_position_zero_chunk.wrong
def _(end):
    end.send_limit_two = lambda: 8192 + 4 + 20      # a word more, and the reply chunk that comes back


@responder('B3.1-5', needs={'files'})
def a_receive_size_below_4096_counts_as_4096(t):
    """Small sizes in INIT_XCHAR and UPD_XCHAR, including 0."""
    for count in (0, 1024, 4095):
        hand = two.greeted(t, two.size(count))
        two.inline_reply(hand, t.readdir(3400))
        hand.send(two.upd(two.size(two.BIG)))
        hand.send(two.upd(two.size(count)))
        two.inline_reply(hand, t.readdir(3400))
        two.chunk_reply(hand, t.readdir(6000))


@a_receive_size_below_4096_counts_as_4096.wrong
def _(end):
    end.send_limit_two = lambda: end.peer_value(wire.RBSIZ)


@responder('B3.1-5', keys={'inline_threshold_bytes': 4096, 'receive_max_bytes': two.BIG},
           needs={'behind'})
def no_send_is_larger_than_the_largest_of_ours(t):
    """Long Replies use the chunk even with a receive size of 2^32-1 bytes."""
    hand = two.greeted(t, two.size(HUGE))
    got = two.inline_reply(hand, t.echo(b'', two.BIG - 28 - 28))
    t.hold(len(got.data) == two.BIG, f'the Reply has {len(got.data)} bytes')
    two.chunk_reply(hand, t.echo(b'', two.BIG - 28 - 28 + 4), room=2 * two.BIG)


@no_send_is_larger_than_the_largest_of_ours.wrong
def _(end):
    end.largest_send = lambda: HUGE


@no_send_is_larger_than_the_largest_of_ours.wrong
def _(end):
    end.largest_send = lambda: 4096


@requester('B3.1-5', keys=two.with_keys(receive_max_bytes=two.BIG))
def a_requester_bounds_a_receive_size_so_too(t):
    """1024 counts as 4096, 2^32-1 as the largest Send that it makes."""
    hand = two.ready(t, two.size(1024))
    t.hold(two.goes_inline(t, hand, two.write(t, 4096)), '1024 does not count as 4096')
    hand.send(two.upd(two.size(HUGE)))
    two.in_order(t, hand)
    t.hold(two.goes_inline(t, hand, two.write(t, two.BIG)), 'the largest Send is not made')
    t.hold(not two.goes_inline(t, hand, two.write(t, two.BIG + 4)), 'a larger one is made')


@a_requester_bounds_a_receive_size_so_too.wrong
def _(end):
    end.largest_send = lambda: HUGE


@a_requester_bounds_a_receive_size_so_too.wrong
def _(end):
    end.send_limit_two = lambda: min(end.peer_value(wire.RBSIZ), two.BIG)


@requester('B3.1-6', keys=two.with_keys(inline_threshold_bytes=65536))
def a_reply_chunk_is_offered_to_a_peer_that_ignores_init(t):
    """READDIR of 6000 bytes, for a peer that answers INVAL_OPTION and for a silent one."""
    for silent in (False, True):
        asked, hand, first = two.probed(t, t.readdir(6000))
        if silent:
            got = hand.next('the Call')
            hand.send(two.error(got.header.xid, header.ERR_VERS, low=2, high=2))
        else:
            hand.send(two.error(first.header.xid, header.INVAL_OPTION))
        got = hand.next('the Call')
        t.hold(got.header.vers == 2, f'the Call goes in version {got.header.vers}')
        t.hold(got.header.reply, 'no reply chunk is offered')
        two.done(t, hand, asked, got)
        t.hang_up(hand)


@a_reply_chunk_is_offered_to_a_peer_that_ignores_init.wrong
def _(end):
    end.receive_limit_two = lambda: end.told_size


@requester('B3.1-6', keys=two.with_keys(inline_threshold_bytes=65536))
def no_reply_chunk_is_offered_to_a_peer_that_knows_our_size(t):
    """A peer that has sent any of the four operations gets a READDIR of 6000 bytes inline."""
    asked, hand, first = two.probed(t, t.readdir(6000))
    hand.send(two.init(xid=first.header.xid))
    got = hand.next('the Call')
    t.hold(not got.header.reply, 'a reply chunk is offered')
    two.done(t, hand, asked, got)


@no_reply_chunk_is_offered_to_a_peer_that_knows_our_size.wrong
def _(end):
    end.receive_limit_two = lambda: 4096


@requester('B3.1-6', keys=two.with_keys(inline_threshold_bytes=4096))
def calls_before_the_news_keep_their_reply_chunk(t):
    """When it raises its receives, only Calls after the message omit the chunk."""
    hand, told = two.ready_and_told(t)
    for credit in [1] * 12 + [16] * 12:      # with one credit it may have to keep the news
        asked = t.have_called(t.readdir(6000))
        while two.is_operation(got := hand.next('the Call'), wire.UPD_XCHAR):
            (ident, data), _pendclr = two.decoded(wire.decode_upd, got)
            told = wire.value_of(ident, data) if ident == wire.RBSIZ else told
        t.hold(told > 6000 or got.header.reply, f'no reply chunk is offered with {told} bytes told')
        two.done(t, hand, asked, got, credit=credit)


@calls_before_the_news_keep_their_reply_chunk.wrong
def _(end):
    end.receive_limit_two = lambda: end.receive_size


@calls_before_the_news_keep_their_reply_chunk.wrong
def _(end):
    end.receive_limit_two = lambda: 65536

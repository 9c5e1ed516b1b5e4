# SPDX-License-Identifier: BSD-3-Clause
"""UPD_XCHAR: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 4.4."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire

DIALECT = 'version two'


@responder('B4.4-1', needs={'files'})
def an_update_holds_at_once(t):
    """Whatever its XID and pendclr, asked for or not."""
    hand = two.greeted(t)
    for pendclr in (False, True):
        two.chunk_reply(hand, t.readdir(6000))
        hand.send(two.upd(two.size(two.BIG), pendclr=pendclr))
        two.inline_reply(hand, t.readdir(6000))
        hand.send(two.upd(two.size(4096), pendclr=pendclr))
    two.barrier(t, hand)


def only_what_was_asked_for(end):
    """A bend: an UPD_XCHAR is taken only while something is pending."""
    right = end.take_upd
    end.take_upd = lambda message: right(message) if end.waiting else None


an_update_holds_at_once.wrong(only_what_was_asked_for)


@requester('B4.4-1', keys=two.KEYS)
def an_update_ends_what_is_pending(t):
    """It brings the size; with pendclr and the old value it lets the requester ask again."""
    hand, request, count = two.asking(t)
    hand.send(two.resp(request.header.xid, pend={0}))
    two.in_order(t, hand)
    two.long_goes(t, hand, False, 'pending: the Call goes inline')
    hand.send(two.upd(two.size(4096), pendclr=True))
    two.in_order(t, hand)
    request = two.wanted(t, hand)
    t.hold(request is not None, 'it does not ask again, though nothing is pending')
    hand.send(two.resp(request.header.xid, pend={0}))
    hand.send(two.upd(two.size(count), pendclr=True))
    two.in_order(t, hand)
    two.long_goes(t, hand, True, 'told: the Call does not go inline')


@an_update_ends_what_is_pending.wrong
def _(end):
    end.take_upd = lambda message: None


@an_update_ends_what_is_pending.wrong
def _(end):
    end.take_upd = lambda message: end.learn([wire.decode_upd(message.optinfo)[0]])


@requester('B4.4-1', keys=two.KEYS)
def an_update_of_the_acceptor_holds_at_once(t):
    """Whatever its XID and pendclr, asked for or not."""
    hand = two.ready(t)
    for pendclr in (False, True):
        t.hold(not two.goes_inline(t, hand, two.write(t, 6000)), 'a Call of 6000 bytes goes inline')
        hand.send(two.upd(two.size(two.BIG), pendclr=pendclr))
        two.in_order(t, hand)
        t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'the larger size is not taken')
        hand.send(two.upd(two.size(4096), pendclr=pendclr))
        two.in_order(t, hand)


an_update_of_the_acceptor_holds_at_once.wrong(only_what_was_asked_for)


def updates_of_strangers():
    """UPD_XCHARs of ids that nobody knows."""
    for ident in (0, 4, 77, 0xffffff00, 2**32 - 1):
        for pendclr in (False, True):
            yield two.upd((ident, bytes(ident % 9)), pendclr)


def refuses_strangers(end):
    """A bend: an unknown id is an error."""
    right = end.take_upd

    def take(message):
        if wire.decode_upd(message.optinfo)[0][0] in wire.DEFAULTS:
            right(message)
        else:
            end.refuse_header(message.xid, 2, 'unknown id')
    end.take_upd = take


def takes_it_for_a_size(end):
    """A bend: the id is not looked at."""
    right = end.learn
    end.learn = lambda values: right([two.size(4096)] if values[0][0] == 77 else values)


@responder('B4.4-2', needs={'files'})
def an_update_of_an_unknown_id_is_ignored(t):
    """Nothing comes of it, and what was told before holds."""
    hand = two.greeted(t, two.size(two.BIG))
    for message in updates_of_strangers():
        hand.send(message)
        two.barrier(t, hand)
    two.inline_reply(hand, t.readdir(6000))


an_update_of_an_unknown_id_is_ignored.wrong(refuses_strangers)
an_update_of_an_unknown_id_is_ignored.wrong(takes_it_for_a_size)


@requester('B4.4-2', keys=two.KEYS)
def a_requester_ignores_an_update_of_an_unknown_id(t):
    """Nothing comes of it, and what was told before holds."""
    hand = two.ready(t, two.size(two.BIG))
    for message in updates_of_strangers():
        hand.send(message)
    two.in_order(t, hand)
    t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'the size does not hold any more')


a_requester_ignores_an_update_of_an_unknown_id.wrong(refuses_strangers)
a_requester_ignores_an_update_of_an_unknown_id.wrong(takes_it_for_a_size)

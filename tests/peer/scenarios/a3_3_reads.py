# SPDX-License-Identifier: BSD-3-Clause
"""How many RDMA Reads are under way: draft-ietf-nfsv4-rpcrdma-03 section 3.3, RFC 8166 section 3.3.1."""
from net.loop import Late
from scene.scenario import Unfit, responder
from wire import header


def _many_reads(t, ird, count):
    """Sends a Call with many Read segments to a responder with this limit of concurrent Reads."""
    hand = t.connect(ird=ird)
    if hand.conn.peer.ird is None:
        raise Unfit('its MPA has revision one, which negotiates no depth')
    grant = hand.ask(t.null()).header.credit
    hand.conn.hold_reads = True
    call = t.null()
    sent = hand.call(call, proc=header.NOMSG, body=b'', reads=hand.read_chunk(0, call, count))
    return hand, sent, grant > 1


def _passes(hand, null):
    """Returns whether a Reply comes while Reads wait. RDMA's ordered send queue may delay it behind them."""
    try:
        hand.loop.until(lambda: hand.conn.sends, 'a Reply beside the Reads', 1)
    except Late:
        return False
    hand.reply(null.xid)
    return True


@responder('A3.3-10')
def reads_under_way_keep_to_the_depth(t):
    """Of ten Reads two may be in flight. The others wait in order, and none is lost."""
    hand, sent, passed = _many_reads(t, 2, 10)
    null = hand.call(t.null()) if passed else None
    for entry in sent.reads:
        t.settle(lambda: hand.conn.reads_waiting, 'the next Read')
        t.hold(t.server is None or hand.conn.reads_waiting[0].stag == entry.handle,
               'Reads are out of order')      # which no document asks of others
        if passed:
            passed = _passes(hand, null)
            null = hand.call(t.null()) if passed else null
        t.hold(hand.conn.reads_most <= 2, f'{hand.conn.reads_most} Reads are under way')
        hand.conn.answer_reads(1)
    left = {message.xid for message in (sent, null) if message}
    while left:
        got = hand.next('the Replies')
        t.hold(got.header.xid in left and got.header.proc == header.MSG,
               f'no Reply to one of the Calls but: {header.describe(got.data)}')
        left.remove(got.header.xid)


@reads_under_way_keep_to_the_depth.wrong
def _(end):
    end.read_depth = lambda: 3


@reads_under_way_keep_to_the_depth.wrong
def _(end):
    right = end.take_call

    def dropped(message):
        del message.reads[5:]
        right(message)
    end.take_call = dropped


@reads_under_way_keep_to_the_depth.wrong
def _(end):
    right = end.pull_more

    def last_first():
        end.reads_queued.reverse()
        right()
        end.reads_queued.reverse()
    end.pull_more = last_first

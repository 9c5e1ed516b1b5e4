# SPDX-License-Identifier: BSD-3-Clause
"""What a client makes of the answer to CONF_RDMA: draft-ietf-nfsv4-rpcrdma-03 section 6.2."""
from scene import draft03
from scene.configuration import CONF_CLIENT, configured
from scene.client_session import is_rpc_error
from scene.scenario import requester
from wire import header

DIALECT = 'configuration protocol'
OWN = {**CONF_CLIENT, 'inline_threshold_bytes': 4096}


def _ignores(end):
    end.results_of = lambda message: None


@requester('A6.2-3', keys=CONF_CLIENT)
def no_call_inline_is_longer_than_the_server_said(t):
    """What is longer comes as a read chunk, however long it is."""
    start = len(t.write(b''))
    for most in (1500, 2048):
        what, hand, got, _args = configured(t, t.null(), maxcall=most)
        hand.answer_null(got)
        for size in (most - start - 28, most - start, most - start + 4, most, 3000, draft03.LONG):
            what, got = t.next_called(hand, t.write(t.pattern(size)))
            t.hold(len(got.body) <= most, f'a Call of {len(got.body)} bytes inline, not {most}')
            t.hold(hand.message_of(got) == what.call, 'another Call comes')
            hand.answer_null(got)
            t.answered(what)
        t.hang_up(hand)


no_call_inline_is_longer_than_the_server_said.wrong(_ignores)


@no_call_inline_is_longer_than_the_server_said.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 32


@no_call_inline_is_longer_than_the_server_said.wrong
def _(end):
    right = end.carries
    end.carries = lambda message: right(message) and not message.reads


@requester('A6.2-9', keys=CONF_CLIENT)
def no_send_is_longer_than_the_server_said(t):
    """The header counts: a Send that is just as long comes inline, a longer one does not."""
    _what, hand, got, _args = configured(t, t.null(), maxcall=1500)
    hand.answer_null(got)
    start = len(t.write(b'')) + 28
    for size, inline in ((1500 - start, True), (1504 - start, False)):
        _what, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(len(got.data) <= 1500, f'a Send of {len(got.data)} bytes, 1500 were said')
        t.hold(inline != bool(got.header.reads), f'a Call of {size + start} bytes with its header '
               'comes ' + ('as a chunk' if inline else 'inline'))
        hand.answer_null(got)


no_send_is_longer_than_the_server_said.wrong(_ignores)


@no_send_is_longer_than_the_server_said.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 28


@no_send_is_longer_than_the_server_said.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() - 4


@requester('A6.2-9', keys=CONF_CLIENT)
def a_reply_as_long_as_the_client_said_fits(t):
    """The RPC message has that length; what may get longer has a reply chunk on offer."""
    what, hand, got, args = configured(t, t.null())
    hand.answer_null(got)
    t.answered(what)
    most = args.maxreply_sendsize & ~3
    around = len(t.server.answer(t.read(4))) - 4
    what, got = t.next_called(hand, t.read(most - around))
    reply = t.server.answer(what.call)
    hand.answer(got, reply)
    t.hold(t.answered(what) == reply, 'another Reply reaches the caller')
    what, got = t.next_called(hand, t.read(most - around + 4))
    hand.answer_long(got, t.server.answer(what.call))
    t.answered(what)


@a_reply_as_long_as_the_client_said_fits.wrong
def _(end):
    right = end.on_send
    end.room = lambda: 4096
    end.on_send = lambda sent: right(sent) if len(sent.data) <= 4096 else end.conn.close()


@a_reply_as_long_as_the_client_said_fits.wrong
def _(end):
    end.receive_limit = lambda: 1 << 20


@requester('A6.2-5', keys=CONF_CLIENT)
def no_more_reads_are_under_way_than_the_server_said(t):
    """A Reply that is lent in eight segments is read in steps of one or two."""
    for most in (1, 2):
        what, hand, got, _args = configured(t, t.read(8000), reads=most)
        reply = t.server.answer(what.call)
        hand.conn.hold_reads = True
        reads = draft03.lend_reply(hand, got, reply, pieces=8)
        for _ in reads:
            t.settle(lambda h=hand: h.conn.reads_waiting, 'the next Read')
            asked_, null = t.next_called(hand, t.null())
            hand.answer_null(null)
            t.answered(asked_)
            t.hold(hand.conn.reads_most <= most, f'{hand.conn.reads_most} Reads are under way')
            hand.conn.answer_reads(1)
        draft03.next_done(t, hand, got.header.xid)
        t.hold(t.answered(what) == reply, 'another Reply reaches the caller')
        t.hang_up(hand)


@no_more_reads_are_under_way_than_the_server_said.wrong
def _(end):
    end.read_depth = lambda: 16


@no_more_reads_are_under_way_than_the_server_said.wrong
def _(end):
    right = end.read_depth
    end.read_depth = lambda: right() + 1


@requester('A6.2-5', keys=CONF_CLIENT)
def where_the_server_said_zero_no_call_has_read_chunks(t):
    """A long Call is refused at its caller; short ones go on."""
    what, hand, got, _args = configured(t, t.null(), reads=0)
    hand.answer_null(got)
    t.answered(what)
    what = t.have_called(t.write(t.pattern(draft03.LONG)))
    t.settle(lambda: what.over or hand.conn.sends, 'the end of a Call that cannot go')
    hand.quiet()
    t.hold(what.reply is not None and is_rpc_error(what.reply), 'its caller gets no error')
    if t.play.gone:
        return
    what, got = t.next_called(hand, t.write(t.pattern(500)))
    t.hold(got.body == what.call, 'another Call comes')


@where_the_server_said_zero_no_call_has_read_chunks.wrong
def _(end):
    end.carries = lambda message: True


@where_the_server_said_zero_no_call_has_read_chunks.wrong
def _(end):
    end.fail = lambda pending: None


@requester('A6.2-6', keys={**CONF_CLIENT, 'padding_align_bytes': 512})
def whatever_alignment_is_recommended_calls_come_right(t):
    """Pads are where the header says, also where the server recommends what cannot be."""
    for align in (0, 1, 3, 256, 1 << 31, (1 << 32) - 1):
        what, hand, got, _args = configured(t, t.write(t.pattern(1200)), align=align)
        t.hold(got.header.proc != header.MSGP or got.header.align in (512, align),
               f'an alignment of {got.header.align}, {align} is recommended')
        t.hold(draft03.plain(got) == what.call, f'{align} is recommended: another Call comes')
        hand.answer_null(got)
        t.answered(what)
        t.hang_up(hand)


@whatever_alignment_is_recommended_calls_come_right.wrong
def _(end):
    end.base = lambda message: 0


@whatever_alignment_is_recommended_calls_come_right.wrong
def _(end):
    right = end.padded
    end.padded = lambda m, places, align, thresh: right(m, places, 64, thresh)


@requester('A6.2-7', keys=OWN)
def sizes_are_from_1024_to_the_clients_own(t):
    """Calls of less than 1024 bytes come inline whatever the server said; none above 4096 does."""
    for value in (0, 1, 1023, (1 << 32) - 1):
        what, hand, got, _args = configured(t, t.write(t.pattern(700)), maxcall=value)
        t.hold(not got.header.reads, f'{value} is said: a Call of 800 bytes comes as a chunk')
        hand.answer_null(got)
        t.answered(what)
        what, got = t.next_called(hand, t.write(t.pattern(6000)))
        t.hold(len(got.data) <= 4096, f'{value} is said: a Send of {len(got.data)} bytes')
        t.hold(hand.message_of(got) == what.call, 'another Call comes')
        hand.answer_null(got)
        t.answered(what)
        t.hang_up(hand)


@sizes_are_from_1024_to_the_clients_own.wrong
def _(end):
    end.at_least = lambda value: value


@sizes_are_from_1024_to_the_clients_own.wrong
def _(end):
    end.send_limit = lambda: max(1024, end.call_limit or 1024)

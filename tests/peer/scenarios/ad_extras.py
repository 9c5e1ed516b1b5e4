# SPDX-License-Identifier: BSD-3-Clause
"""What RFC 8166 has removed from draft-ietf-nfsv4-rpcrdma-03: RDMA_MSGP, RDMA_DONE, Replies by Read chunk."""
from net.events import Read
from scene.configuration import conf_call
from scene.draft03 import LONG, call_padded, done, lend_reply, padded
from scene.client_session import is_error
from scene.scenario import requester, responder
from wire import ccp, header, rpc


def _draft03(end):
    end.options.listen_compat = end.options.connect_compat = 'draft03'


def _reads(hand):
    return [event for event in hand.conn.events if isinstance(event, Read)]


@responder('A-Δ1', needs={'files'})
def an_rdma_msgp_is_an_unknown_type(t):
    """A Call in an RDMA_MSGP gets ERR_CHUNK, with and without pads; the connection continues."""
    hand = t.connect()
    for call, align in ((t.null(), 0), (t.null(), 64), (t.write(t.pattern(600)), 128)):
        hand.refused(call_padded(hand, call, align, 512).xid, 'an RDMA_MSGP')
    hand.barrier(t.null())


an_rdma_msgp_is_an_unknown_type.wrong(_draft03)


@an_rdma_msgp_is_an_unknown_type.wrong
def _(end):
    end.take_padded = lambda message: None


@requester('A-Δ1')
def a_reply_in_an_rdma_msgp_is_none(t):
    """A padded Reply reaches no caller, and is not answered."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(2000))
    reply = t.server.answer(asked.call)
    message = header.Header(got.header.xid, credit=16, body=reply)
    hand.send(padded(message, 64, 1024, asked.call))
    t.not_delivered(hand, asked, 'a Reply in an RDMA_MSGP')
    hand.quiet()


a_reply_in_an_rdma_msgp_is_none.wrong(_draft03)


@a_reply_in_an_rdma_msgp_is_none.wrong
def _(end):
    end.take_padded = lambda m: end.refuse_header(m.xid, 1, 'RDMA_MSGP')


@requester('A-Δ1')
def no_call_is_an_rdma_msgp(t):
    """Calls of all sizes that fit inline are RDMA_MSG."""
    hand = t.working()
    for size in (1, 1024, 2048, 3000):
        _asked, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(got.header.proc == header.MSG, f'a WRITE comes as {header.describe(got.data)}')
        hand.answer_null(got)


@no_call_is_an_rdma_msgp.wrong
def _(end):
    _draft03(end)
    end.options.padding_align_bytes = 64


@responder('A-Δ2', needs={'files'})
def an_rdma_done_is_dropped(t):
    """An RDMA_DONE for an answered Call or for none has no effect."""
    hand = t.connect()
    xid = hand.ask(t.null()).header.xid
    for each in (xid, 0x0badcafe, xid):
        done(hand, each)
    hand.barrier(t.null())
    hand.quiet()


@an_rdma_done_is_dropped.wrong
def _(end):
    end.take_done = lambda m: end.refuse_header(m.xid, 1, 'RDMA_DONE')


@an_rdma_done_is_dropped.wrong
def _(end):
    end.take_done = lambda m: end.conn.close()


@responder('A-Δ2', needs={'files'})
def no_reply_is_to_be_read(t):
    """A Reply that fits nowhere is an error, and no Reply has a Read list."""
    hand = t.connect()
    for size in (100, LONG):
        got = hand.ask(t.read(size))
        t.hold(not got.header.reads, 'a Reply has a read list')
    t.hold(is_error(got), f'no error but: {header.describe(got.data)}')
    hand.barrier(t.null())


no_reply_is_to_be_read.wrong(_draft03)


@no_reply_is_to_be_read.wrong
def _(end):
    end.no_room = lambda work, out: None


@requester('A-Δ2')
def a_reply_to_be_read_is_refused(t):
    """Nothing of it is read, no RDMA_DONE comes, and its caller gets no result."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(LONG))
    lend_reply(hand, got, t.server.answer(asked.call))
    t.not_delivered(hand, asked, 'a Reply to be read')
    t.hold(not _reads(hand), 'it is read')
    hand.quiet()


a_reply_to_be_read_is_refused.wrong(_draft03)


@a_reply_to_be_read_is_refused.wrong
def _(end):
    right = end.take_reply

    def says_done(message, invalidated):
        if message.reads:
            end.say_done(message.xid)
        right(message, invalidated)
    end.take_reply = says_done


@responder('A-Δ3', needs={'files'})
def a_reply_chunk_that_is_too_small_is_err_chunk(t):
    """With four bytes too few, or nearly all, nothing is written, and no Read chunk is offered."""
    hand = t.connect()
    _key, segment = hand.lend(LONG + 1000, writable=True)
    got = hand.ask(t.read(LONG), reply=[segment])
    t.hold(got.header.proc == header.NOMSG and got.header.reply, 'a large reply chunk is not used')
    size = got.reply_chunk()[0].length
    for room in (4, size - 4):
        key, segment = hand.lend(room, writable=True)
        sent = hand.call(t.read(LONG), reply=[segment])
        hand.not_executed(sent.xid, f'a READ with a reply chunk of {room} bytes, {size} are needed')
        t.hold(not any(key.memory), 'something is written to it')
    hand.barrier(t.null())


a_reply_chunk_that_is_too_small_is_err_chunk.wrong(_draft03)


@a_reply_chunk_that_is_too_small_is_err_chunk.wrong
def _(end):
    right = end.no_room

    def begins_to_write(work, out):
        end.written(work.message.reply, out.body)
        right(work, out)
    end.no_room = begins_to_write


@a_reply_chunk_that_is_too_small_is_err_chunk.wrong
def _(end):
    right = end.into_reply_chunk
    end.into_reply_chunk = lambda message, out: (
        right(message, out) or end.written(message.reply, out.body) and right(message, out)
        or setattr(out, 'body', out.body[:100]) or True)


@responder('A3.8-2')
def an_rdma_done_for_nothing_changes_nothing(t):
    """It affects neither the Calls around it nor their credits; it is not answered."""
    hand = t.connect()
    for number in range(200):
        if number % 4 == 0:     # each takes a receive
            hand.barrier(t.null())
        done(hand, number)
    first = hand.call(t.null())
    done(hand, first.xid)
    t.hold(hand.reply(first.xid).header.proc == header.MSG, 'NULL is not answered')
    hand.barrier(t.null())
    hand.quiet()


@an_rdma_done_for_nothing_changes_nothing.wrong
def _(end):
    end.take_done = lambda m: end.refuse_header(m.xid, 1, 'RDMA_DONE')


@an_rdma_done_for_nothing_changes_nothing.wrong
def _(end):
    end.take_done = lambda m: setattr(end, 'take_call', lambda message: None)


@responder('A6.2-10', needs={'behind'})
def without_configuration_its_program_is_unavailable(t):
    """The end itself answers PROG_UNAVAIL; the server behind it sees no such Call."""
    hand = t.connect()
    came = []
    t.server.before = came.append
    args = ccp.encode_args(ccp.Args(4096, 4096, 4))
    for call in (conf_call(args), conf_call(proc=0), conf_call(args, vers=2)):
        got = hand.ask(call)
        t.hold(got.header.proc == header.MSG
               and rpc.decode(got.body).accept_stat == rpc.PROG_UNAVAIL, 'no PROG_UNAVAIL')
    hand.barrier(t.null())
    t.hold([call.prog for call in came] == [100003], 'a Call of the program is passed on')


@without_configuration_its_program_is_unavailable.wrong
def _(end):
    end.own_reply = lambda work: None


@without_configuration_its_program_is_unavailable.wrong
def _(end):
    end.options.config_protocol = True

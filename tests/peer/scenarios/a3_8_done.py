# SPDX-License-Identifier: BSD-3-Clause
"""Replies that the client reads, at the server: draft-ietf-nfsv4-rpcrdma-03 section 3.8."""
from scene import draft03
from scene.draft03 import LONG, SERVER
from scene.parts import data_of
from scene.scenario import responder
from wire import header, rpc

DIALECT = 'draft-03'
SOON = {**SERVER, 'done_timeout_s': 1}


@responder('A3.8-1', keys=SERVER, needs={'files'})
def all_kinds_of_chunks_go_together(t):
    """Makes a Call in a Read chunk, with a Write chunk and a Reply chunk, whose Reply comes by Read chunk."""
    hand = t.connect()
    call = t.readdir(8000)
    written, write = hand.lend(2000, writable=True)
    _key, small = hand.lend(64, writable=True)
    got = draft03.lent(t, hand, call, proc=header.NOMSG, body=b'', writes=[[write]], reply=[small],
                       reads=hand.read_chunk(0, call, pieces=2))
    reply = rpc.decode(hand.message_of(got))
    t.hold((reply.stat, reply.accept_stat) == (rpc.ACCEPTED, rpc.SUCCESS), 'the Call is refused')
    t.hold(reply.result[:4] == bytes(4) and len(reply.result) > 2000, 'READDIR fails')
    t.hold(not any(written.memory), 'a READDIR is written to the write chunk')
    t.hold(not any(s.length for chunk in got.header.writes for s in chunk),
           'the write chunk comes back as if used')
    draft03.done(hand, got.header.xid)
    hand.barrier(t.null())


@all_kinds_of_chunks_go_together.wrong
def _(end):
    flaw = end.call_flaw
    end.call_flaw = lambda m: 'both' if m.reads and m.writes else flaw(m)


@all_kinds_of_chunks_go_together.wrong
def _(end):
    expose = end.expose
    end.expose = lambda work, out: (end.refuse if work.message.writes else expose)(work, out)


@responder('A3.8-2', keys=SERVER, needs={'files'})
def done_frees_what_its_reply_lent(t):
    """The key of a Reply is valid until RDMA_DONE, and invalid afterwards."""
    hand = t.connect()
    got = draft03.lent(t, hand, t.read(LONG))
    hand.message_of(got)
    hand.barrier(t.null())
    hand.message_of(got)
    draft03.done(hand, got.header.xid)
    hand.barrier(t.null())
    t.hold(hand.is_dead(got.read_list()[0]), 'the key lives on behind RDMA_DONE')


@done_frees_what_its_reply_lent.wrong
def _(end):
    end.take_done = lambda message: None


@done_frees_what_its_reply_lent.wrong
def _(end):
    expose = end.expose

    def soon_over(work, out):
        expose(work, out)
        end.release(out.xid)
    end.expose = soon_over


@responder('A3.8-2', keys=SERVER, needs={'files'})
def done_frees_nothing_else(t):
    """An RDMA_DONE for another Reply, a Call or nothing has no effect, and is not answered."""
    hand = t.connect()
    first = draft03.lent(t, hand, t.read(LONG))
    second = draft03.lent(t, hand, t.read(LONG))
    null = hand.ask(t.null())
    for xid in (first.header.xid, null.header.xid, first.header.xid, 0x0badcafe):
        draft03.done(hand, xid)
    hand.barrier(t.null())
    hand.quiet()
    hand.message_of(second)
    draft03.done(hand, second.header.xid)
    hand.barrier(t.null())


@done_frees_nothing_else.wrong
def _(end):
    right = end.take_done
    end.take_done = lambda m: [end.release(xid) for xid in list(end.exposed)] or right(m)


@done_frees_nothing_else.wrong
def _(end):
    right = end.take_done
    end.take_done = lambda m: right(m) if m.xid in end.exposed else end.refuse_header(m.xid, 1, '')


@done_frees_nothing_else.wrong
def _(end):
    right = end.take_done
    end.take_done = lambda m: right(m) if m.xid in end.exposed else end.conn.close()


@responder('A3.8-3', keys=SOON, needs={'files', 'behind'})
def without_done_the_connection_closes(t):
    """The memory is invalidated after the time limit, and not before."""
    hand = t.connect()
    begin = t.loop.now()
    draft03.lent(t, hand, t.read(LONG))
    hand.barrier(t.null())
    hand.ends('the time limit for RDMA_DONE', 4 * t.pace)
    t.hold(t.loop.now() - begin > 0.8 * t.pace, 'the connection closes too early')


@without_done_the_connection_closes.wrong
def _(end):
    end.done_is_late = lambda xid, key: None


@without_done_the_connection_closes.wrong
def _(end):
    end.options.done_timeout_s = 0.1


@responder('A3.8-3', keys={**SOON, 'done_policy': 'withdraw'}, needs={'files', 'behind'})
def or_the_memory_is_taken_back(t):
    """After the time limit the key is invalid, not before; the connection stays open."""
    hand = t.connect()
    got = draft03.lent(t, hand, t.read(LONG))
    hand.message_of(got)
    t.loop.run(2.5 * t.pace)
    t.hold(not hand.conn.ended, 'the connection ends')
    hand.barrier(t.null())
    draft03.done(hand, got.header.xid)
    hand.barrier(t.null())
    t.hold(hand.is_dead(got.read_list()[0]), 'the key lives on')


@or_the_memory_is_taken_back.wrong
def _(end):
    end.done_is_late = lambda xid, key: end.conn.close()


@or_the_memory_is_taken_back.wrong
def _(end):
    end.done_is_late = end.take_done = lambda *_: None


@or_the_memory_is_taken_back.wrong
def _(end):
    end.options.done_timeout_s = 0


@responder('A3.8-3', keys=SOON, needs={'files', 'behind'})
def done_in_time_ends_the_limit(t):
    """A connection with completed Replies stays open; a long transfer ends no other connection."""
    hand = t.connect()
    for _ in range(3):
        got = draft03.lent(t, hand, t.read(LONG))
        draft03.done(hand, got.header.xid)
    hand.barrier(t.null())
    t.loop.run(2.5 * t.pace)
    t.hold(not hand.conn.ended, 'the connection ends')
    hand.barrier(t.null())


@done_in_time_ends_the_limit.wrong
def _(end):
    end.done_is_late = lambda xid, key: end.conn.close()


@responder('A3.8-4', keys={**SERVER, 'credits': 1}, needs={'files'})
def with_one_credit_replies_that_are_read_go_on(t):
    """With a grant of one and Replies by Read chunk, RDMA_DONE and the next Call follow together, many times."""
    hand = t.connect()
    for _ in range(200):
        call = t.read(5000)
        got = draft03.lent(t, hand, call, credit=1)
        t.hold(got.header.credit >= 1, 'a Reply that is read grants nothing')
        t.hold(data_of(call, hand.message_of(got)) == t.pattern(5000), 'other data is lent')
        draft03.done(hand, got.header.xid, credit=1)


@with_one_credit_replies_that_are_read_go_on.wrong
def _(end):
    end.take_done = lambda message: None


@with_one_credit_replies_that_are_read_go_on.wrong
def _(end):
    expose = end.expose

    def grants_nothing(work, out):
        out.credit = 0
        expose(work, out)
    end.expose = grants_nothing


@with_one_credit_replies_that_are_read_go_on.wrong
def _(end):
    right = end.take_done

    def takes_a_credit(message):
        right(message)
        end.options.credits -= 1
    end.take_done = takes_a_credit


@responder('A3.8-5', keys=SERVER, needs={'files'})
def the_xid_of_a_lent_reply_is_in_use(t):
    """A Call with that XID closes the connection before RDMA_DONE; afterwards it is served."""
    hand = t.connect()
    call = t.read(LONG)
    xid = draft03.lent(t, hand, call).header.xid
    draft03.done(hand, xid)
    draft03.lent(t, hand, call)
    hand.call(call)
    t.settle(lambda: hand.conn.ended or hand.conn.sends, 'what becomes of an XID in use')
    t.hold(not hand.conn.sends, 'a Call is served whose XID is in use')


@the_xid_of_a_lent_reply_is_in_use.wrong
def _(end):
    right = end.take_call

    def whichever(message):
        end.exposed.pop(message.xid, None)
        right(message)
    end.take_call = whichever


@the_xid_of_a_lent_reply_is_in_use.wrong
def _(end):
    used = set()
    right = end.take_call

    def never_again(message):
        if message.xid in used:
            end.conn.close()
            return
        used.add(message.xid)
        right(message)
    end.take_call = never_again


@responder('A3.8-5', keys={**SERVER, 'credits': 2}, needs={'files', 'behind'})
def no_more_replies_are_lent_than_credits_granted(t):
    """With two exposed Replies and a grant of two, a third one is an error, waits, or closes the connection."""
    hand = t.connect()
    first = draft03.lent(t, hand, t.read(LONG))
    t.hold(first.header.credit == 2, f'{first.header.credit} credits are granted instead of 2')
    draft03.done(hand, first.header.xid)
    for _ in range(2):
        draft03.lent(t, hand, t.read(LONG))
    third = hand.call(t.read(LONG))
    null = hand.call(t.null())
    while not hand.conn.ended:
        t.settle(lambda: hand.conn.sends or hand.conn.ended, 'an answer to a third or to NULL')
        if not hand.conn.sends:
            break
        got = hand.next()
        t.hold(got.header.xid != third.xid or not got.header.reads, 'a third Reply is lent')
        if got.header.xid == null.xid:
            break


@no_more_replies_are_lent_than_credits_granted.wrong
def _(end):
    end.may_expose = lambda: True


@no_more_replies_are_lent_than_credits_granted.wrong
def _(end):
    end.may_expose = lambda: len(end.exposed) <= end.options.credits


@no_more_replies_are_lent_than_credits_granted.wrong
def _(end):
    lent = []
    end.may_expose = lambda: lent.append(1) or len(lent) <= 2


@responder('A4.1-5', keys=SERVER, needs={'files'})
def what_follows_done_is_ignored(t):
    """RDMA_DONE has no lists and no message; further bytes have no effect."""
    hand = t.connect()
    got = draft03.lent(t, hand, t.read(LONG))
    draft03.done(hand, got.header.xid, body=b'\xff' * 36)
    hand.barrier(t.null())
    hand.quiet()
    t.hold(hand.is_dead(got.read_list()[0]), 'RDMA_DONE with bytes behind it does not count')


@what_follows_done_is_ignored.wrong
def _(end):
    right = end.take_done
    end.take_done = lambda m: None if m.body else right(m)


@what_follows_done_is_ignored.wrong
def _(end):
    right = end.take_done
    end.take_done = lambda m: end.refuse_header(m.xid, 1, '') if m.body else right(m)

# SPDX-License-Identifier: BSD-3-Clause
"""Replies that the client reads, at the client: draft-ietf-nfsv4-rpcrdma-03 sections 3.6, 3.8, 5.1."""
from nfs import binding
from scene.draft03 import CLIENT, LONG, lend_reply, next_done
from scene.parts import cut
from scene.scenario import requester
from wire import header

DIALECT = 'draft-03'
NFS = {**CLIENT, 'ddp': 'nfs'}
CREDITS = {**CLIENT, 'credits': 7}


def _reply(t, asked):
    """Returns the answer of the in-memory server to a Call."""
    return t.server.answer(asked.call)


@requester('A5.1-3', keys=CLIENT)
def a_reply_by_read_chunk_is_read(t):
    """A Reply as a Read chunk at position zero, in one segment or several, reaches the caller."""
    hand = t.working()
    for pieces in (1, 3, 7):
        asked, got = t.next_called(hand, t.read(LONG))
        reply = _reply(t, asked)
        lend_reply(hand, got, reply, pieces=pieces)
        t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')
        next_done(t, hand, got.header.xid)


@a_reply_by_read_chunk_is_read.wrong
def _(end):
    end.may_pull = lambda message: False


@a_reply_by_read_chunk_is_read.wrong
def _(end):
    pull = end.pull

    def the_first_alone(work):
        del work.message.reads[1:]
        pull(work)
    end.pull = the_first_alone


@requester('A5.1-3', keys=CLIENT)
def what_is_lent_and_no_message_harms_nobody(t):
    """A Reply by Read chunk with another XID, or of four bytes, gives its caller no result."""
    for lies in (b'\xee\xee\xee\xee', b''):
        hand = t.working()
        asked, got = t.next_called(hand, t.read(LONG))
        reply = _reply(t, asked)
        lend_reply(hand, got, lies + reply[4:] if lies else reply[:4])
        t.settle(lambda h=hand: h.conn.sends or h.conn.ended, 'RDMA_DONE or the end')
        if not hand.conn.ended:
            next_done(t, hand, got.header.xid)
            t.not_delivered(hand, asked, 'a lent Reply that is none')
            t.hang_up(hand)


@what_is_lent_and_no_message_harms_nobody.wrong
def _(end):
    def as_it_is(work):
        pending = end.pending[work.message.xid]
        end.say_done(pending.xid)
        end.over(pending, reply=pending.call[:4] + bytes(work.chunks[0])[4:])
    end.reply_is_pulled = as_it_is


@requester('A3.6-4', keys=CLIENT)
def done_follows_the_reads(t):
    """RDMA_DONE with the same XID follows when all data were read, exactly once."""
    hand = t.working()
    hand.conn.hold_reads = True
    asked, got = t.next_called(hand, t.read(LONG))
    lend_reply(hand, got, _reply(t, asked), pieces=3)
    for _ in range(3):
        t.settle(lambda: hand.conn.reads_waiting or hand.conn.sends, 'a Read of the Reply')
        hand.quiet()
        hand.conn.answer_reads(1)
    next_done(t, hand, got.header.xid)
    t.answered(asked)
    hand.conn.hold_reads = False
    _asked, got = t.next_called(hand, t.null())
    t.hold(got.header.proc == header.MSG, f'unasked for: {header.describe(got.data)}')


@done_follows_the_reads.wrong
def _(end):
    end.say_done = lambda xid: None


@done_follows_the_reads.wrong
def _(end):
    right = end.say_done
    end.say_done = lambda xid: right(xid ^ 1)


@done_follows_the_reads.wrong
def _(end):
    right = end.say_done
    end.say_done = lambda xid: right(xid) or right(xid)


@done_follows_the_reads.wrong
def _(end):
    pull = end.pull

    def too_early(work):
        end.say_done(work.message.xid)
        pull(work)
    end.pull = too_early


@requester('A3.6-4', keys=CLIENT)
def where_nothing_was_lent_no_done_comes(t):
    """RDMA_DONE does not follow an inline Reply or one in the Reply chunk."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(LONG))
    hand.answer_long(got, _reply(t, asked))
    t.answered(asked)
    asked, got = t.next_called(hand, t.null())
    t.hold(got.header.proc == header.MSG, f'unasked for: {header.describe(got.data)}')
    lend_reply(hand, got, _reply(t, asked))
    next_done(t, hand, got.header.xid)


@where_nothing_was_lent_no_done_comes.wrong
def _(end):
    over = end.over

    def always(pending, **answer):
        end.say_done(pending.xid)
        over(pending, **answer)
    end.over = always


@requester('A4.1-5', keys=CLIENT)
def done_is_four_words(t):
    """RDMA_DONE has neither lists nor a message, and has version one."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(LONG))
    lend_reply(hand, got, _reply(t, asked))
    got = next_done(t, hand, got.header.xid)
    t.hold(len(got.data) == 16, f'RDMA_DONE has {len(got.data)} bytes')
    t.hold(got.header.vers == 1, f'RDMA_DONE is of version {got.header.vers}')


@done_is_four_words.wrong
def _(end):
    end.say_done = lambda xid: end.put(header.Header(xid, proc=header.DONE, body=bytes(12)))


@requester('A3.8-1', keys=NFS)
def a_call_in_chunks_may_get_a_reply_that_is_lent(t):
    """Both the data of a WRITE and its Reply are read."""
    hand = t.working()
    asked, got = t.next_called(hand, t.write(t.pattern(LONG)))
    t.hold(got.header.reads and got.header.proc == header.MSG, 'no read chunk for a WRITE')
    t.hold(hand.message_of(got) == asked.call, 'another Call comes')
    reply = _reply(t, asked)
    lend_reply(hand, got, reply)
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')
    next_done(t, hand, got.header.xid)


@a_call_in_chunks_may_get_a_reply_that_is_lent.wrong
def _(end):
    right = end.may_pull
    end.may_pull = lambda m: right(m) and not end.pending[m.xid].sent.reads


@requester('A3.8-1', keys=NFS)
def what_is_written_and_what_is_read_make_one_reply(t):
    """The data of a READ come in its Write chunk, the rest of the Reply by Read chunk."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(LONG))
    t.hold(got.header.writes, 'no write chunk for a READ')
    reply = _reply(t, asked)
    at, size = binding.reply_payload(asked.call, reply)
    data, rest = cut(reply, at, size + -size % 4)
    written = hand.fill(got.write_chunk(), data[:size])
    lend_reply(hand, got, rest, writes=[written])
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')
    next_done(t, hand, got.header.xid)


@what_is_written_and_what_is_read_make_one_reply.wrong
def _(end):
    end.filled = lambda pending, body, size: body


@requester('A3.8-1', keys=CLIENT)
def one_item_of_a_reply_may_be_lent(t):
    """The data of a READ come as a Read chunk at their position, the rest of the Reply inline."""
    hand = t.working()
    asked, got = t.next_called(hand, t.read(LONG - 1))
    reply = _reply(t, asked)
    at, size = binding.reply_payload(asked.call, reply)
    data, rest = cut(reply, at, size + -size % 4)
    hand.answer(got, rest, reads=hand.read_chunk(at, data[:size], pieces=2))
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')
    next_done(t, hand, got.header.xid)


@one_item_of_a_reply_may_be_lent.wrong
def _(end):
    end.joined = lambda message, chunks: message.body + b''.join(chunks.values())


@one_item_of_a_reply_may_be_lent.wrong
def _(end):
    right = end.may_pull
    end.may_pull = lambda message: message.proc == header.NOMSG and right(message)


def _queue(t, grant, count):
    """Requests READs; `grant` of them are in flight, and Reads of their Replies wait."""
    asked = [t.have_called(t.read(LONG)) for _ in range(count)]
    hand = t.accept()
    first = hand.next('the first Call')
    hand.answer_long(first, _reply(t, asked[0]), credit=grant)
    hand.conn.hold_reads = True
    return asked, hand, [hand.next(f'Call {n + 1} of {grant}') for n in range(grant)]


@requester('A3.8-4', keys=CLIENT)
def a_credit_is_kept_for_each_done(t):
    """While a Reply is being read its credit is in use: no Call comes until RDMA_DONE."""
    for grant in (1, 3):
        asked, hand, calls = _queue(t, grant, 2 * grant + 1)
        for number, got in enumerate(calls, 1):
            lend_reply(hand, got, _reply(t, asked[number]), credit=grant)
        for got in calls:
            t.settle(lambda h=hand: h.conn.reads_waiting or h.conn.sends, 'the Reads of a Reply')
            hand.quiet()
            hand.conn.answer_reads(1)
            next_done(t, hand, got.header.xid)
            got = hand.next('the Call that waits for a credit')
            t.hold(got.header.proc != header.DONE, 'RDMA_DONE comes twice')
        t.hang_up(hand)


@a_credit_is_kept_for_each_done.wrong
def _(end):
    end.may_send = lambda: end.conn.open and len(end.pending) - len(end.pulling) < end.granted


@a_credit_is_kept_for_each_done.wrong
def _(end):
    pull = end.pull

    def forgets(work):
        end.granted += 1
        end.send_more()
        pull(work)
    end.pull = forgets


@a_credit_is_kept_for_each_done.wrong
def _(end):
    right = end.reply_is_pulled

    def done_last(work):
        end.say_done = lambda xid: None
        right(work)
        del end.say_done
        end.say_done(work.message.xid)
    end.reply_is_pulled = done_last


@requester('A3.8-6', keys=CREDITS)
def done_asks_for_credits_as_a_call_does(t):
    """RDMA_DONE requests as many credits as Calls, independent of the grant of the Reply."""
    hand = t.working()
    for granted in (1, 100):
        asked, got = t.next_called(hand, t.read(LONG))
        wanted = got.header.credit
        lend_reply(hand, got, _reply(t, asked), credit=granted)
        got = next_done(t, hand, got.header.xid)
        t.hold(got.header.credit == wanted,
               f'a Call asks for {wanted}, its RDMA_DONE for {got.header.credit}')
        t.answered(asked)


@done_asks_for_credits_as_a_call_does.wrong
def _(end):
    end.say_done = lambda xid: end.put(header.Header(xid, credit=0, proc=header.DONE))


@done_asks_for_credits_as_a_call_does.wrong
def _(end):
    right = end.may_pull

    def keeps_the_grant(message):
        end.say_done = lambda xid: end.put(
            header.Header(xid, credit=message.credit, proc=header.DONE))
        return right(message)
    end.may_pull = keeps_the_grant


@requester('A3.3-11', keys={**CLIENT, 'peer': 'strict'})
def a_grant_of_zero_is_waited_out(t):
    """With Calls in flight no further Call follows a zero grant; with none in flight zero counts as one."""
    asked = [t.have_called(t.echo(bytes(LONG), 0)) for _ in range(8)]
    hand = t.accept()
    hand.answer_null(hand.next('the first Call'), credit=3)
    calls = [hand.next(f'Call {n + 1} of 3') for n in range(3)]
    for number in (0, 1):
        hand.answer_null(calls[number], credit=0)
        t.answered(asked[number + 1])
        hand.message_of(calls[2])            # comes behind all that was sent
        hand.quiet()
    hand.answer_null(calls[2], credit=0)
    got = hand.next('a Call, since none is in flight')
    hand.message_of(got)
    hand.quiet()
    hand.answer_null(got, credit=2)
    hand.next('the first of two Calls')
    hand.next('the second of two Calls')


@a_grant_of_zero_is_waited_out.wrong
def _(end):
    right = end.take_grant
    end.take_grant = lambda credit: right(credit) if credit else end.conn.close()


@a_grant_of_zero_is_waited_out.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', credit)


@a_grant_of_zero_is_waited_out.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', credit or end.granted)

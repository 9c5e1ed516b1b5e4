# SPDX-License-Identifier: BSD-3-Clause
"""What the transport does with RDMA: draft-ietf-nfsv4-rpcrdma-03 section 2, RFC 8166
section 2.3.2."""
from net.events import Read, Sent, Written
from scene.parts import parted
from scene.scenario import requester, responder
from wire import header

LONG = 6000


@requester('A2-1')
def memory_is_there_before_it_is_told_of(t):
    """Memory that a Call exposes can be read and written to its last byte as soon as the Call has come."""
    asked, hand, got = t.called(t.echo(bytes(range(250)) * 24))
    t.hold(hand.message_of(got) == asked.call, 'the read chunk is not the Call')
    t.hold(got.header.reply, 'no reply chunk is offered where the Reply may be long')
    for segment in got.reply_chunk():
        hand.conn.write(segment.handle, segment.offset + segment.length - 4, b'last')
    reply = t.server.answer(asked.call)
    hand.answer_long(got, reply)
    t.settle(lambda: asked.over or hand.conn.ended, 'the Reply at the other side')
    t.hold(asked.reply == reply, 'what is lent cannot be written to its last byte')


@memory_is_there_before_it_is_told_of.wrong
def _(end):
    end.segment = lambda key: header.Segment(key.stag, len(key.memory) + 4, key.to)


@memory_is_there_before_it_is_told_of.wrong
def _(end):
    right = end.lend

    def too_late(*args, **rights):
        key = right(*args, **rights)
        end.conn.withdraw(key)
        return key
    end.lend = too_late


@responder('A2-2', needs={'files'})
def no_reply_is_longer_than_the_receive(t):
    """No Send exceeds the receive, for Replies around the largest inline length."""
    hand = t.connect(recv=1024)
    for count in range(820, 1020, 8):
        _key, segment = hand.lend(2048, writable=True)
        got = hand.ask(t.read(count), reply=[segment])
        t.hold(len(got.data) <= 1024, f'a Send of {len(got.data)} bytes to a receive of 1024')
        t.hold(got.header.proc in (header.MSG, header.NOMSG), f'no Reply to a READ of {count}')


@no_reply_is_longer_than_the_receive.wrong
def _(end):
    end.send_limit = lambda: 1024 + 28


@no_reply_is_longer_than_the_receive.wrong
def _(end):
    end.send_limit = lambda: end.options.inline_threshold_bytes


@requester('A2-2')
def no_call_is_longer_than_the_receive(t):
    """No Send exceeds the receive, for Calls around the largest inline length."""
    hand = t.working(recv=1024)
    for size in range(880, 1000, 8):
        asked, got = t.next_called(hand, t.echo(bytes(size), 0))
        t.hold(len(got.data) <= 1024, f'a Send of {len(got.data)} bytes to a receive of 1024')
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        hand.answer(got, t.server.answer(asked.call))
        t.answered(asked)


@no_call_is_longer_than_the_receive.wrong
def _(end):
    end.send_limit = lambda: 1024 + 28


@no_call_is_longer_than_the_receive.wrong
def _(end):
    end.send_limit = lambda: end.options.inline_threshold_bytes


def _written_before(t, hand, got):
    """All Writes of a Reply precede its Send."""
    hand.barrier(t.null())
    events = hand.conn.events
    sent = next(i for i, e in enumerate(events)
                if isinstance(e, Sent) and e.data == got.data)
    writes = [i for i, e in enumerate(events) if isinstance(e, Written)]
    t.hold(writes, 'nothing is written')
    t.hold(max(writes) < sent, 'an RDMA Write comes behind the Send that announces it')


def _write_late(end):
    late, put = [], end.put

    def written(segments, data):
        late.append((segments[0], data))
        return [header.Segment(s.handle, len(data) if s is segments[0] else 0, s.offset)
                for s in segments]

    def put_first(message, invalidate=None):
        put(message)
        while late:
            segment, data = late.pop()
            end.conn.write(segment.handle, segment.offset, data)
    end.written, end.put = written, put_first


@responder('A2-3', needs={'files'})
def a_write_chunk_is_full_before_its_reply_comes(t):
    """The Writes into a Write chunk precede the Send, so the data are there with it."""
    hand = t.connect()
    key, segment = hand.lend(3000, writable=True)
    got = hand.ask(t.read(3000), writes=[[segment]])
    t.hold(key.memory == t.pattern(3000), 'the Reply is here, the data is not')
    _written_before(t, hand, got)


a_write_chunk_is_full_before_its_reply_comes.wrong(_write_late)


@responder('A2-3', needs={'files'})
def a_reply_chunk_is_full_before_its_reply_comes(t):
    """The Writes into a Reply chunk precede the Send."""
    hand = t.connect()
    _key, segment = hand.lend(8192, writable=True)
    _written_before(t, hand, hand.ask(t.read(LONG), reply=[segment]))


a_reply_chunk_is_full_before_its_reply_comes.wrong(_write_late)


@responder('A2-4')
def who_has_pulled_a_call_says_so_by_its_reply(t):
    """No message reports that memory was read; only the Reply does."""
    hand = t.connect()
    call = t.null()
    sent = hand.call(call, proc=header.NOMSG, reads=hand.read_chunk(0, call), body=b'')
    hand.result(sent.xid)
    t.hold(any(isinstance(e, Read) for e in hand.conn.events), 'nothing was read')


@who_has_pulled_a_call_says_so_by_its_reply.wrong
def _(end):
    right = end.call_is_here
    end.call_is_here = lambda work: None if work.chunks else right(work)


@responder('A2-4', needs={'files'})
def what_a_call_lent_is_left_alone_behind_its_reply(t):
    """The Reply ends the use of its memory: the peer neither reads nor writes it afterwards."""
    hand = t.connect()
    call = t.write(t.pattern(1000))
    position, payload, body = parted(call)
    _key, segment = hand.lend(2000, writable=True)
    for sent in (header.Header(0, body=body, reads=hand.read_chunk(position, payload)),
                 header.Header(0, body=t.read(2000), writes=[[segment]])):
        before = len(hand.conn.events)
        sent.xid, sent.credit = int.from_bytes(sent.body[:4], 'big'), 16
        hand.result(hand.send(sent).xid)
        hand.barrier(t.null())
        came = hand.conn.events[before:]
        reply = next(at for at, event in enumerate(came) if isinstance(event, Sent))
        late = [event for event in came[reply:] if isinstance(event, (Read, Written)) and event.size]
        t.hold(not late, f'behind the Reply comes: {late}')


@what_a_call_lent_is_left_alone_behind_its_reply.wrong
def _(end):
    right = end.put

    def put(message, invalidate=None):
        work = end.works_done[-1] if end.works_done else None
        right(message, None)
        if work and work.message.reads:
            entry = work.message.reads[0]
            end.conn.read(entry.handle, entry.offset, entry.length)
    _keep_works(end)
    end.put = put


@what_a_call_lent_is_left_alone_behind_its_reply.wrong
def _(end):
    right = end.put

    def put(message, invalidate=None):
        right(message, None)
        for segment in message.writes[0] if message.writes else []:
            end.conn.write(segment.handle, segment.offset, b'late')
    end.put = put


def _keep_works(end):
    """Makes the other end hold the Calls that it received."""
    end.works_done = []
    here = end.call_is_here

    def call_is_here(work):
        end.works_done.append(work)
        here(work)
    end.call_is_here = call_is_here


@requester('A2-4')
def what_was_read_stays_until_the_reply(t):
    """A Read does not end the use of a chunk: it can be read again until the Reply."""
    asked, hand, got = t.called(t.echo(bytes(LONG)))
    for _time in range(3):
        t.hold(hand.message_of(got) == asked.call, 'the read chunk is not the Call')
    hand.answer(got, t.server.answer(asked.call), credit=4, proc=header.ERROR,
                err=header.ERR_CHUNK, body=b'')
    t.refused_by_caller(hand, asked, 'ERR_CHUNK')


@what_was_read_stays_until_the_reply.wrong
def _(end):
    def attach(conn):
        type(end).attach(end, conn)
        answer_reads = conn.answer_reads

        def once(*args):
            answer_reads(*args)
            for key in conn.keys.values():
                conn.withdraw(key)
        conn.answer_reads = once
    end.attach = attach

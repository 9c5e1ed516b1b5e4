# SPDX-License-Identifier: BSD-3-Clause
"""Decoding read chunks: draft-ietf-nfsv4-rpcrdma-03 section 3.6, RFC 8166 section
3.4.5."""
from scene.inline import granted
from scene.parts import parted
from scene.scenario import requester, responder
from wire import header, rpc


def _without_lists(end):
    right = end.take_message

    def behind_the_fixed_part(xid, version, sent):
        sent.data = sent.data[:16] + bytes(12) + sent.data[28:]
        right(xid, version, sent)
    end.take_message = behind_the_fixed_part


@responder('A3.6-1', needs={'files'})
def the_body_begins_behind_all_lists(t):
    """A Call with entries in each of the three lists."""
    hand = t.connect()
    data = t.pattern(1001)
    call = t.write(data)
    position, payload, body = parted(call)
    _keys, chunk = hand.lend_pieces(100, 200)
    _keys, reply = hand.lend_pieces(100, 300)
    hand.result(hand.call(call, body=body, reads=hand.read_chunk(position, payload, 2),
                          writes=[chunk], reply=reply).xid, 'a Call with all three lists')
    t.hold(t.written(hand, 1001) == data, 'other data is stored')


the_body_begins_behind_all_lists.wrong(_without_lists)


@the_body_begins_behind_all_lists.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'too many lists' if message.reads and message.reply else right(message))


@requester('A3.6-1', keys={'ddp': 'nfs'})
def the_body_of_a_reply_begins_behind_all_lists(t):
    """A Reply to a READ with the write list that was offered, and one to an ECHO with its chunk."""
    hand = t.working()
    for call in (t.read(20000), t.echo(t.pattern(20))):
        asked, got = t.next_called(hand, call)
        reply = rpc.accepted(got.header.xid, stat=rpc.SYSTEM_ERR)
        empty = [[header.Segment(s.handle, 0, s.offset) for s in chunk]
                 for chunk in [*got.header.writes, got.header.reply or []]]
        fields = {'reply': empty[-1]} if got.header.reply else {}
        hand.answer(got, reply, writes=empty[:-1], **fields)
        t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


the_body_of_a_reply_begins_behind_all_lists.wrong(_without_lists)


@responder('A3.6-2', needs={'files'})
def each_chunk_is_pulled_to_its_position(t):
    """The data of a WRITE comes by RDMA Read, and is stored as it was in the requester's memory."""
    hand = t.connect()
    for data in (t.pattern(3000, offset=77), bytes(2999), b'\xff' * 3001):
        call = t.write(data)
        position, payload, body = parted(call)
        hand.result(hand.call(call, body=body, reads=hand.read_chunk(position, payload)).xid)
        t.hold(t.written(hand, len(data)) == data, 'other data is stored')


@each_chunk_is_pulled_to_its_position.wrong
def _(end):
    right = end.pulled
    end.pulled = lambda work, entry, data: right(work, entry, bytes(len(data)))


@each_chunk_is_pulled_to_its_position.wrong
def _(end):
    right = end.joined

    def first(message, chunks):
        whole = right(message, chunks)
        if not chunks or 0 in chunks:
            return whole
        at, data = next(iter(chunks.items()))
        return whole[:at] + (bytes(4) + data)[:len(data)] + whole[at + len(data):]
    end.joined = first


def _too_early(end):
    right = end.take_call

    def at_once(message):
        reads, early = end.conn.read, []

        def read(*args):
            reads(*args[:3])
            early.append(args)
        end.conn.read = read
        right(message)
        end.conn.read = reads
        for handle, offset, length, done in early:
            key = bytes(length) if handle and offset else b''
            done(key)
    end.take_call = at_once


def _not_before_its_reads(t, hand, call, **fields):
    """A Call whose Reads wait: no Reply of any kind may come while one is under way."""
    granted(t, hand, 2)
    hand.conn.hold_reads = True
    sent = hand.call(call, **fields)
    null = hand.call(t.null())
    early = None
    while (got := hand.next()).header.xid != null.xid:
        early = got
        t.hold(got.header.xid == sent.xid, 'an answer to nothing')
        t.hold(not hand.conn.reads_waiting, 'the Reply comes before the Read is done')
    hand.conn.hold_reads = False
    hand.conn.answer_reads()
    return early or hand.reply(sent.xid)


@responder('A3.6-3', needs={'files'})
def the_reply_comes_when_all_is_read(t):
    """While a Read of a WRITE's data waits, its Reply does."""
    hand = t.connect()
    data = t.pattern(1000, offset=5)
    call = t.write(data)
    position, payload, body = parted(call)
    _not_before_its_reads(t, hand, call, body=body, reads=hand.read_chunk(position, payload, 3))
    t.hold(t.written(hand, 1000) == data, 'other data is stored')


the_reply_comes_when_all_is_read.wrong(_too_early)


@responder('A3.6-3')
def a_refusal_comes_when_all_is_read(t):
    """A Call of no program or with a bad credential is not refused while a Read of it waits."""
    hand = t.connect()
    args = t.pattern(400)
    version = t.files.version
    for call in (rpc.call(0x1234, 0x2fffffff, 1, 1, args), rpc.call(0x1236, 100003, version, 99, args),
                 rpc.call(0x1235, 100003, version, 0, args, rpcvers=3)):
        position = len(call) - 400
        got = _not_before_its_reads(t, hand, call, body=call[:position],
                                    reads=hand.read_chunk(position, call[position:], 2))
        t.hold(got.header.proc in (header.MSG, header.ERROR), 'another answer comes')


a_refusal_comes_when_all_is_read.wrong(_too_early)

# SPDX-License-Identifier: BSD-3-Clause
"""What RFC 8166 took from draft-ietf-nfsv4-rpcrdma-03, its sections 3.5 and 3.8."""
from scene.scenario import requester, responder
from wire import header, rpc, xdr


@responder('A-Δ1', needs={'behind'})
def rdma_msgp_is_an_unknown_type(t):
    """Without compat draft03 an RDMA_MSGP gets ERR_CHUNK, and is not executed."""
    hand = t.connect()
    hand.ask(t.null())
    executed = len(t.server.log)
    got = hand.ask(t.null(), proc=header.MSGP, align=4, thresh=1024)
    t.hold(got.header.proc == header.ERROR and got.header.err == header.ERR_CHUNK,
           f'no ERR_CHUNK: {header.describe(got.data)}')
    t.hold(len(t.server.log) == executed, 'it was executed')


@rdma_msgp_is_an_unknown_type.wrong
def _(end):
    end.take_padded = end.take_call


@rdma_msgp_is_an_unknown_type.wrong
def _(end):
    end.take_padded = lambda message: None


@requester('A-Δ1')
def rdma_msgp_is_neither_sent_nor_taken(t):
    """Calls have no pads, and a padded Reply is not accepted."""
    hand = t.working()
    asked = t.have_called(t.echo(bytes(3000)))
    got = hand.next('the Call')
    t.hold(got.header.proc in (header.MSG, header.NOMSG), header.describe(got.data))
    hand.answer(got, rpc.accepted(got.header.xid, xdr.var(b'evil')), proc=header.MSGP, align=4,
                thresh=1024)
    t.only_calls_follow(hand)
    t.hold(not asked.over or b'evil' not in asked.reply, 'a padded Reply is taken')


@rdma_msgp_is_neither_sent_nor_taken.wrong
def _(end):
    end.take_padded = lambda message: end.take_reply(message, None)


@rdma_msgp_is_neither_sent_nor_taken.wrong
def _(end):
    end.take_padded = lambda message: end.refuse_header(message.xid, 1, '')


@rdma_msgp_is_neither_sent_nor_taken.wrong
def _(end):
    right = end.planned

    def planned(pending):
        message = right(pending)
        if len(message.body) > 2000:
            message.proc, message.align, message.thresh = header.MSGP, 4, 1024
        return message
    end.planned = planned


@responder('A-Δ2', needs={'files'})
def rdma_done_is_dropped_and_no_reply_has_read_chunks(t):
    """An RDMA_DONE has no effect; a Reply that fits nowhere uses no Read chunks."""
    hand = t.connect()
    hand.ask(t.null())
    for xid in (1, 0xdddd0000):
        hand.send(header.Header(xid, proc=header.DONE))
        hand.barrier(t.null())
    got = hand.ask(t.read(60000))
    t.hold(not got.header.reads, f'read chunks in a Reply: {header.describe(got.data)}')
    hand.send(header.Header(got.header.xid, proc=header.DONE))
    hand.barrier(t.null())


@rdma_done_is_dropped_and_no_reply_has_read_chunks.wrong
def _(end):
    end.take_done = lambda message: end.refuse_header(message.xid, 1, '')


@rdma_done_is_dropped_and_no_reply_has_read_chunks.wrong
def _(end):
    end.take_done = lambda message: end.conn.close()


@rdma_done_is_dropped_and_no_reply_has_read_chunks.wrong
def _(end):
    def exposed(_work, out):
        key = end.conn.expose(out.body, readable=True)
        out.reads = [header.ReadSegment(0, key.stag, len(out.body), key.to)]
        out.proc, out.body = header.NOMSG, b''
        end.put(out)
    end.no_room = exposed


def _exposed(hand, got, reply):
    """Answers by Read chunks, as in the draft."""
    key, _segment = hand.lend(reply, readable=True)
    hand.answer(got, b'', proc=header.NOMSG,
                reads=[header.ReadSegment(0, key.stag, len(reply), key.to)])


@requester('A-Δ2')
def a_reply_with_read_chunks_is_not_taken_and_no_rdma_done_comes(t):
    """Nothing is read or sent, and data of the Read chunks reach no caller."""
    hand = t.working()
    asked = t.have_called(t.echo(bytes(16)))
    got = hand.next('the Call')
    _exposed(hand, got, rpc.accepted(got.header.xid, xdr.var(b'evil' * 1000)))
    t.only_calls_follow(hand)
    t.hold(not asked.over or b'evil' not in asked.reply, 'read chunks of a Reply are taken')
    t.hold(not hand.conn.reads_most, 'read chunks of a Reply are read')
    hand.quiet()


def _pulls(end, done):
    """Bends: the end reads the Read chunks of a Reply."""
    right = end.take_reply

    def take_reply(message, gone):
        if not message.reads:
            right(message, gone)
            return
        entry, = message.reads

        def pulled(data):
            message.reads, message.proc, message.body = [], header.MSG, data
            if done:
                end.put(header.Header(message.xid, proc=header.DONE))
            right(message, gone)
        end.conn.read(entry.handle, entry.offset, entry.length, pulled)
    end.take_reply = take_reply


@a_reply_with_read_chunks_is_not_taken_and_no_rdma_done_comes.wrong
def _(end):
    _pulls(end, done=False)


@a_reply_with_read_chunks_is_not_taken_and_no_rdma_done_comes.wrong
def _(end):
    _pulls(end, done=True)


@a_reply_with_read_chunks_is_not_taken_and_no_rdma_done_comes.wrong
def _(end):
    right = end.take_reply

    def says_done(message, gone):
        if message.reads:
            end.put(header.Header(message.xid, proc=header.DONE))
        right(message, gone)
    end.take_reply = says_done

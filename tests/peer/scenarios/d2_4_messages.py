# SPDX-License-Identifier: BSD-3-Clause
"""Messages: draft-ietf-nfsv4-rpcrdma-bidirection-02 sections 2.4 to 4.2, RFC 8167 section 5."""
from scene import inline, reverse
from scene.scenario import requester, responder
from wire import header, rpc


@responder('D2.4-1', needs={'reverse'})
def no_reverse_call_is_longer_than_a_receive_of_the_client(t):
    """A reverse Call that fills the client's receives is sent; one of four more bytes is not."""
    for recv in (1024, 2048):
        hand = reverse.acceptor(t, recv=recv)
        limit = min(recv, inline.told(hand).send_bytes)
        for more in (0, 4, 8192):
            t.have_called_back(t.echo(bytes(limit - 72 + more)))
            if not more:
                got = reverse.came(hand)
                t.hold(len(got.data) == limit, f'{len(got.data)} bytes instead of {limit}')
                reverse.answer(hand, got)
            hand.barrier(t.null())
        asked, = reverse.calls(t, hand)
        reverse.answer(hand, reverse.came(hand))
        t.answered(asked)


@no_reverse_call_is_longer_than_a_receive_of_the_client.wrong
def _(end):
    end.carries = lambda message: True


@no_reverse_call_is_longer_than_a_receive_of_the_client.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 4


@no_reverse_call_is_longer_than_a_receive_of_the_client.wrong
def _(end):
    right = end.send_limit
    end.carries = lambda message: len(header.encode(message)) <= right() - 4


@requester('D2.4-1', needs={'reverse'})
def no_reverse_reply_is_longer_than_a_receive_of_the_server(t):
    """A reverse Reply that fills the server's receives is sent; one of four more bytes is not."""
    for recv in (1024, 2048):
        hand = t.working(recv=recv)
        limit = min(recv, inline.told(hand).send_bytes)
        got = hand.ask(t.echo(b'', limit - 56))
        t.hold(len(got.data) == limit, f'{len(got.data)} bytes instead of {limit}')
        for more in (4, 8192):
            hand.call(t.echo(b'', limit - 56 + more))
            last = hand.call(t.null()).xid
            while (got := hand.next('a Reply')).header.xid != last:
                t.hold(len(got.data) <= limit, f'a Send of {len(got.data)} bytes')
        t.hang_up(hand)


@no_reverse_reply_is_longer_than_a_receive_of_the_server.wrong
def _(end):
    end.no_room = lambda work, out: end.put(out)


@no_reverse_reply_is_longer_than_a_receive_of_the_server.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 4


def _cut(message):
    """The beginnings of a message that are too short for it."""
    data = header.encode(message)
    least = 40 if message.body[4:8] == b'\0\0\0\0' else 20
    return [data[:size] for size in (0, 4, 12, 15, 16, 27, 28, 35, 36, 28 + least - 1)]


@responder('D2.4-2', needs={'behind'})
def sends_too_short_for_a_call_are_discarded(t):
    """A Call with an incomplete header gets no answer, and is not executed."""
    hand = t.connect()
    hand.ask(t.null())
    call = t.null()
    before = len(t.server.log)
    for data in _cut(header.Header(int.from_bytes(call[:4], 'big'), credit=1, body=call)):
        hand.send(data)
        hand.barrier(t.null())
        before += 1
    t.hold(len(t.server.log) == before, 'a Call that is cut off was executed')


@sends_too_short_for_a_call_are_discarded.wrong
def _(end):
    end.too_short = lambda data: len(data) < 16


@sends_too_short_for_a_call_are_discarded.wrong
def _(end):
    right, seen = end.too_short, []

    def closes_at_the_second(data):
        if right(data):
            seen.append(data)
            if len(seen) > 1:
                end.conn.close()
        return right(data)
    end.too_short = closes_at_the_second


@sends_too_short_for_a_call_are_discarded.wrong
def _(end):
    end.body_too_short = lambda body: False


@requester('D2.4-2')
def sends_too_short_for_a_reply_are_discarded(t):
    """A Reply with an incomplete header ends no Call, and grants nothing."""
    asked = [t.have_called(t.echo(bytes(8000))) for _ in range(4)]
    hand = t.accept()
    got = hand.next('the first Call')
    reply = rpc.accepted(got.header.xid, b'\0\0\0\4good')
    for data in _cut(header.Header(got.header.xid, credit=8, body=reply)):
        hand.send(data)
    hand.message_of(got)       # the answer to the Reads comes after what was made of the Sends
    hand.quiet()
    t.hold(not asked[0].over, 'a Call is over by a Reply that is cut off')
    hand.answer(got, reply, credit=1)
    t.hold(t.answered(asked[0])[-4:] == b'good', 'the Reply is lost')
    hand.answer_null(hand.next('the second Call'), credit=8)
    for one in asked[2:]:
        hand.answer_null(hand.next('a Call'))
        t.answered(one)


@sends_too_short_for_a_reply_are_discarded.wrong
def _(end):
    end.body_too_short = lambda body: False


@sends_too_short_for_a_reply_are_discarded.wrong
def _(end):
    right = end.too_short

    def obeys_first(data):
        if right(data) and len(data) >= 16:
            end.take_grant(header.decode_fixed(data)[2])
            end.send_more()
        return right(data)
    end.too_short = obeys_first


@responder('D2.5-1', needs={'reverse', 'draft'})
def a_reverse_call_is_an_rdma_msg_without_chunks(t):
    """RDMA_MSG, three empty lists, a credit, and then the Call, with one XID in both places."""
    hand = reverse.acceptor(t)
    seen = set()
    for call in (t.null(), t.echo(bytes(300)), t.read(60000), t.nfs(6, b'')):
        asked = t.have_called_back(call)
        got = hand.next('the reverse Call')
        t.hold(got.header.proc == header.MSG, f'no RDMA_MSG: {header.describe(got.data)}')
        t.hold(got.data[16:28] == bytes(12), 'the lists are not empty')
        t.hold(got.header.credit >= 1, 'no credit is asked for')
        t.hold(got.body[:4] == got.data[:4], 'two XIDs')
        t.hold(got.body[4:] == call[4:], 'another Call than was made')
        t.hold(got.header.xid not in seen, 'the XID is no fresh one')
        seen.add(got.header.xid)
        reverse.answer(hand, got)
        t.answered(asked)


def _changed(change):
    """A bend: change(end, message) before messages of this end's reverse direction leave."""
    def bend(end):
        right = end.put

        def put(message, invalidate=None):
            if message.body[4:8] == (b'\0\0\0\1' if end.connector else b'\0\0\0\0'):
                change(end, message)
            right(message, invalidate)
        end.put = put
    return bend


def _other_xid(_end, message):
    message.xid ^= 0x10000


def _no_credit(_end, message):
    message.credit = 0


def _padded(_end, message):
    message.proc, message.align, message.thresh = header.MSGP, 4, 1024


def _reply_chunk(_end, message):
    message.reply = []


def _position_zero(end, message):
    key = end.conn.expose(message.body, readable=True)
    message.reads = [header.ReadSegment(0, key.stag, len(message.body), key.to)]
    message.proc, message.body = header.NOMSG, b''


def _write_chunk(end, message):
    key = end.conn.expose(b'1234', writable=True)
    message.writes = [[header.Segment(key.stag, 4, key.to)]]


for _change in (_other_xid, _no_credit, _padded, _reply_chunk, _position_zero, _write_chunk):
    a_reverse_call_is_an_rdma_msg_without_chunks.wrong(_changed(_change))


@responder('D2.5-1', needs={'reverse'})
def a_reverse_call_has_one_xid_and_the_version_of_forward_calls(t):
    """Whatever it carries: RFC 8167 section 5.1, which lets it have chunks."""
    hand = reverse.acceptor(t)
    for call in (t.null(), t.echo(bytes(300))):
        asked = t.have_called_back(call)
        got = hand.next('the reverse Call')
        t.hold(got.header.vers == 1, f'version {got.header.vers} beside forward Calls of version one')
        t.hold(got.header.credit >= 1, 'no credit is asked for')
        whole = hand.message_of(got)
        t.hold(whole[:4] == got.data[:4], 'two XIDs')
        t.hold(whole[4:8] == bytes(4), 'its RPC message is no Call')
        reverse.answer(hand, got)
        t.answered(asked)


def _version_two(_end, message):
    message.vers = 2


for _change in (_other_xid, _no_credit, _version_two):
    a_reverse_call_has_one_xid_and_the_version_of_forward_calls.wrong(_changed(_change))


@requester('D2.5-1', needs={'reverse'})
def a_reverse_call_with_chunks_is_err_chunk(t):
    """A connector that takes no chunks says so of each kind: RFC 8167 section 5.3."""
    hand = t.working()
    _key, segment = hand.lend(2000, writable=True)
    for kind in ('reads', 'writes', 'reply', 'whole'):
        call = t.echo(bytes(40))
        fields = {'reads': {'reads': hand.read_chunk(len(call), bytes(8))},
                  'writes': {'writes': [[segment]]}, 'reply': {'reply': [segment]},
                  'whole': {'reads': hand.read_chunk(0, call), 'body': b'',
                            'proc': header.NOMSG}}[kind]
        hand.refused(hand.call(call, **fields).xid, f'a reverse Call with chunks ({kind})')
    t.hold(t.goes_on(hand, 'reverse Calls with chunks'), 'the connection ends')
    t.hold(not hand.conn.reads_most, 'chunks of a reverse Call are read')


@a_reverse_call_with_chunks_is_err_chunk.wrong
def _(end):
    right = end.take_call

    def without_chunks(message):
        message.reads, message.writes, message.reply = [], [], None
        right(message)
    end.take_call = without_chunks


@a_reverse_call_with_chunks_is_err_chunk.wrong
def _(end):
    right = end.is_long_call
    end.is_long_call = lambda message: message.vers == 2 and right(message)


@a_reverse_call_with_chunks_is_err_chunk.wrong
def _(end):
    right = end.refuse_header
    end.refuse_header = lambda *why: end.works and right(*why)


@requester('D2.6-1', needs={'reverse'})
def a_reverse_reply_is_an_rdma_msg_without_chunks(t):
    """RDMA_MSG, three empty lists, a grant, and then the Reply, with the Call's XID."""
    hand = t.working()
    for call in (t.null(), t.echo(bytes(300)), t.read(400)):
        sent = hand.call(call)
        got = hand.next('the reverse Reply')
        t.hold(got.header.proc == header.MSG, f'no RDMA_MSG: {header.describe(got.data)}')
        t.hold(got.data[16:28] == bytes(12), 'the lists are not empty')
        t.hold(got.header.credit >= 1, 'no credit is granted')
        t.hold(got.header.xid == sent.xid and got.body[:4] == got.data[:4], 'another XID')
        t.hold(got.body[4:] == t.server.answer(call)[4:], 'another Reply')


for _change in (_other_xid, _no_credit, _padded, _reply_chunk, _position_zero, _write_chunk):
    a_reverse_reply_is_an_rdma_msg_without_chunks.wrong(_changed(_change))


@responder('D3-1', needs={'reverse', 'draft'})
def no_item_of_a_reverse_call_goes_by_rdma(t):
    """A READ and a WRITE as reverse Calls are inline like any other."""
    hand = reverse.acceptor(t)
    for call in (t.write(bytes(2000)), t.read(3000), t.readdir(3000)):
        asked = t.have_called_back(call)
        got = reverse.came(hand)
        t.hold(got.body[4:] == call[4:] and got.data[16:28] == bytes(12),
               f'not the whole Call inline: {header.describe(got.data)}')
        reverse.answer(hand, got)
        t.answered(asked)


def _reduced(end, message):
    """A bend: chunks as an upper-layer binding uses them for forward Calls."""
    if end.connector:
        _write_chunk(end, message)
    elif len(message.body) > 2000:
        data = message.body[-2000:]
        key = end.conn.expose(data, readable=True)
        message.body = message.body[:-2000]
        message.reads = [header.ReadSegment(len(message.body), key.stag, 2000, key.to)]


no_item_of_a_reverse_call_goes_by_rdma.wrong(_changed(_reduced))


@requester('D3-1', keys={'ddp': 'nfs'}, needs={'reverse'})
def no_item_of_a_reverse_reply_goes_by_rdma(t):
    """A READ as a reverse Call is answered inline."""
    hand = t.working()
    for call in (t.read(2000), t.readdir(900)):
        got = hand.ask(call)
        t.hold(got.body[4:] == t.server.answer(call)[4:] and got.data[16:28] == bytes(12),
               f'not the whole Reply inline: {header.describe(got.data)}')


no_item_of_a_reverse_reply_goes_by_rdma.wrong(_changed(_reduced))


@responder('D4.2-2', keys={'reverse_timeout_s': 1}, needs={'reverse'})
def a_reverse_call_without_an_answer_ends_and_keeps_its_credit(t):
    """After reverse_timeout_s its caller gets SYSTEM_ERR; the late Reply releases its credit.

    So does the caller of one that waits for that credit, as soon after it came.
    """
    hand = reverse.acceptor(t)
    both = reverse.calls(t, hand, 2)
    got = reverse.came(hand)
    t.settle(lambda: all(call.over for call in both), 'SYSTEM_ERR after a second', seconds=1.8 * t.pace)
    for call in both:
        t.hold(call.reply == rpc.accepted(int.from_bytes(call.reply[:4], 'big'),
                                          stat=rpc.SYSTEM_ERR), 'no SYSTEM_ERR')
    waits, = reverse.calls(t, hand)
    hand.barrier(t.null())
    reverse.answer(hand, got)
    reverse.answer(hand, reverse.came(hand, 'the Call that waited for the credit'))
    t.hold(rpc.decode(t.answered(waits)).accept_stat == rpc.SUCCESS, 'the next Call fails, too')


@a_reverse_call_without_an_answer_ends_and_keeps_its_credit.wrong
def _(end):
    end.late = lambda pending: None


@a_reverse_call_without_an_answer_ends_and_keeps_its_credit.wrong
def _(end):
    right = end.late

    def late(pending):
        right(pending)
        if pending.xid in end.pending:
            end.take_late(pending)
    end.late = late


@a_reverse_call_without_an_answer_ends_and_keeps_its_credit.wrong
def _(end):
    right = end.late
    end.late = lambda pending: None if pending in end.queue else right(pending)

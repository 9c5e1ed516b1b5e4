# SPDX-License-Identifier: BSD-3-Clause
"""Decisions of tests/REQUIREMENTS.md that the documents leave open: version one."""
from scene import inline, reverse
from scene.scenario import requester, responder
from wire import header, rpc, xdr

RESERVE = 8


def _nothing_to_anybody(hand, count):
    """Returns messages to which no document assigns a credit: errors for unknown Calls."""
    for n in range(count):
        hand.send(header.Header(0xeeee0000 + n, proc=header.ERROR, err=header.ERR_CHUNK))


@responder('X-2', needs={'behind', 'reverse'})
def an_acceptor_has_receives_beside_all_credits(t):
    """With all granted Calls in progress, eight messages without a credit have no effect."""
    hand = reverse.acceptor(t)
    grant = hand.ask(t.null()).header.credit
    asked, = reverse.calls(t, hand)
    got = reverse.came(hand)
    held = t.hold_back()
    for _ in range(grant):
        hand.call(t.null())
    t.settle(lambda: len(held) == grant, 'the Calls at the server')
    _nothing_to_anybody(hand, RESERVE)
    reverse.answer(hand, got)
    t.answered(asked)
    for call in held:
        t.let_go(call)
    for _ in range(grant):
        hand.next('a Reply')
    t.server.before = None
    hand.barrier(t.null())


def _no_reserve(end):
    """Bends: there are receives only for Calls and Replies."""
    right = end.take_error

    def take_error(data):
        if end.works:
            end.conn.close()
        else:
            right(data)
    end.take_error = take_error


an_acceptor_has_receives_beside_all_credits.wrong(_no_reserve)


@requester('X-2', needs={'reverse'})
def a_connector_has_receives_beside_all_credits(t):
    """With all reverse Calls in progress, eight messages without a credit have no effect."""
    hand = t.working()
    grant = reverse.granted(t, hand)
    asked = t.have_called(t.null())
    got = hand.next('the Call')
    held = t.hold_back()
    for _ in range(grant):
        hand.call(t.null())
    t.settle(lambda: len(held) == grant, 'the reverse Calls at the client')
    _nothing_to_anybody(hand, RESERVE)
    hand.answer_null(got)
    t.answered(asked)
    for call in held:
        t.let_go(call)
    for _ in range(grant):
        hand.next('a reverse Reply')


a_connector_has_receives_beside_all_credits.wrong(_no_reserve)


def _too_short(xid):
    """Messages of each type that are one byte or four too short."""
    for proc, least in header.MIN_BYTES[1].items():
        whole = header.encode(header.Header(xid, credit=1, proc=proc, err=header.ERR_CHUNK))
        for short in (1, 4):
            if proc != header.DONE:
                yield whole[:least - short]
    for size in (16, 20, 27):
        yield b''.join(map(xdr.u32, (xid, 1, 1, 66))) + bytes(size - 16)
    for body in (b'', xdr.u32(xid), xdr.u32(xid) + bytes(3)):
        yield header.encode(header.Header(xid, body=body))
    yield xdr.u32(xid) + bytes(11)


def _undecodable(xid, body):
    """Messages of sufficient length with an undecodable header."""
    fixed = b''.join(map(xdr.u32, (xid, 1, 1)))
    yield fixed + xdr.u32(header.MSG) + xdr.u32(2) + bytes(8) + body
    yield fixed + xdr.u32(header.MSG) + bytes(8) + xdr.u32(2) + body
    yield fixed + xdr.u32(header.MSG) + xdr.u32(1) * 20
    yield fixed + xdr.u32(header.NOMSG) + xdr.u32(2) + bytes(8)
    yield fixed + xdr.u32(header.NOMSG) + xdr.u32(0) + xdr.u32(1) + xdr.u32(2**32 - 1) + bytes(64)
    yield fixed + xdr.u32(header.NOMSG) + bytes(8) + xdr.u32(7) + bytes(64)
    yield fixed + xdr.u32(99) + bytes(12) + body


def _discarded(t, hand, messages):
    """Checks that none of these has an effect, and that the next Call is served."""
    for n, data in enumerate(messages):
        hand.send(data)
        got = hand.ask(t.null())
        t.hold(got.header.proc == header.MSG, f'short message {n} spoils the next Call')


@responder('X-3', needs={'ours'})
def what_is_shorter_than_its_kind_is_discarded(t):
    """Messages below the length of their type have no effect; from 28 bytes on, RFC 8166 permits an error."""
    hand = t.connect()
    hand.ask(t.null())
    _discarded(t, hand, _too_short(0x3300))


@responder('X-3')
def a_call_that_is_too_short_is_discarded_and_one_that_does_not_decode_refused(t):
    """Messages below 28 bytes have no effect, whatever their type; a complete Call gets ERR_CHUNK."""
    hand = t.connect()
    hand.ask(t.null())
    whole = header.encode(header.Header(0x3300, body=xdr.u32(0x3300) + t.null()[4:]))
    unknown = [whole[:12] + xdr.u32(proc) + whole[16:] for proc in (5, 99, 2**32 - 1)]
    _discarded(t, hand, [data[:size] for data in (whole, *unknown)
                         for size in (1, 4, 15, 16, 20, 24, 27)])
    for n, data in enumerate(_undecodable(0x3301, t.null())):
        hand.send(data)
        got = hand.reply(0x3301, f'the answer to nonsense {n}')
        t.hold(got.header.proc == header.ERROR and got.header.err == header.ERR_CHUNK,
               f'no ERR_CHUNK: {header.describe(got.data)}')


def _shorter_by_one(end):
    end.too_short = lambda data: (len(data) < 16 or len(data) < header.min_bytes(
        1, header.decode_fixed(data)[3]) - 1)


what_is_shorter_than_its_kind_is_discarded.wrong(_shorter_by_one)
a_call_that_is_too_short_is_discarded_and_one_that_does_not_decode_refused.wrong(_shorter_by_one)


@a_call_that_is_too_short_is_discarded_and_one_that_does_not_decode_refused.wrong
def _(end):
    right = end.too_short
    end.too_short = lambda data: (
        len(data) < 16 or (right(data) and header.decode_fixed(data)[3] in header.MIN_BYTES[1]))


@a_call_that_is_too_short_is_discarded_and_one_that_does_not_decode_refused.wrong
def _(end):
    end.refuse_header = lambda *_: None


@a_call_that_is_too_short_is_discarded_and_one_that_does_not_decode_refused.wrong
def _(end):
    end.too_short = lambda data: len(data) < 16 or len(data) < 28 + 40


@requester('X-3')
def a_reply_that_is_too_short_or_does_not_decode_is_not_answered(t):
    """Neither is a Reply to its Call, and neither causes an RDMA_ERROR."""
    hand = t.working()
    asked = t.have_called(t.echo(bytes(8000)))
    got = hand.next('the Call')
    xid = got.header.xid
    for data in _too_short(xid):
        hand.send(data)
    hand.message_of(got)
    hand.quiet()
    t.hold(not asked.over, 'a message that is too short ends the Call')
    reply = rpc.accepted(xid, xdr.var(b'evil'))
    for data in _undecodable(xid, reply):
        hand.send(data)
    t.only_calls_follow(hand)
    t.hold(not asked.over or b'evil' not in asked.reply, 'a Reply that does not decode is taken')


a_reply_that_is_too_short_or_does_not_decode_is_not_answered.wrong(_shorter_by_one)


@a_reply_that_is_too_short_or_does_not_decode_is_not_answered.wrong
def _(end):
    end.may_be_call = lambda data: True


@a_reply_that_is_too_short_or_does_not_decode_is_not_answered.wrong
def _(end):
    right = end.on_send

    def lists_or_not(sent):
        at = sent.data.find(b'evil')
        if at >= 0:
            body = sent.data[at - 28:]
            sent.data = header.encode(header.Header(int.from_bytes(body[:4], 'big'), body=body))
        right(sent)
    end.on_send = lists_or_not


@responder('X-4', needs={'reverse'})
def a_reverse_call_that_does_not_fit_is_system_err_to_its_caller(t):
    """The caller is always notified, and the connection continues."""
    hand = reverse.acceptor(t, recv=1024)
    asked = t.have_called_back(t.echo(bytes(1024 - 72 + 4)))
    reply = rpc.decode(t.answered(asked))
    t.hold(reply.accept_stat == rpc.SYSTEM_ERR, f'its caller gets {reply}')
    asked, = reverse.calls(t, hand)
    reverse.answer(hand, reverse.came(hand))
    t.answered(asked)


@a_reverse_call_that_does_not_fit_is_system_err_to_its_caller.wrong
def _(end):
    end.fail = lambda pending: None


@a_reverse_call_that_does_not_fit_is_system_err_to_its_caller.wrong
def _(end):
    right = end.fail

    def fail(pending):
        right(pending)
        end.conn.close()
    end.fail = fail


@responder('X-5', needs={'files'})
def private_data_count_before_the_default_at_the_acceptor(t):
    """With 4096 bytes announced, Replies and Calls of that size go inline; without, 1024."""
    inline.keeps_to_sizes(t)
    hand = t.connect(recv=4096, send=262144)
    inline.replies_fill(t, hand, min(4096, inline.told(hand).send_bytes))
    inline.longest_call_is_taken(t, hand)
    inline.replies_fill(t, t.connect(data=b''), 1024)


@private_data_count_before_the_default_at_the_acceptor.wrong
def _(end):
    end.send_limit = lambda: 1024


@private_data_count_before_the_default_at_the_acceptor.wrong
def _(end):
    end.send_limit = lambda: end.options.inline_threshold_bytes


@requester('X-5')
def private_data_count_before_the_default_at_the_connector(t):
    """With 4096 bytes announced, Calls of that size go inline; without, 1024."""
    t.hang_up(inline.calls_fill(t, 4096, recv=4096))
    inline.calls_fill(t, 1024, data=b'')


@private_data_count_before_the_default_at_the_connector.wrong
def _(end):
    end.send_limit = lambda: 1024


@private_data_count_before_the_default_at_the_connector.wrong
def _(end):
    end.send_limit = lambda: end.options.inline_threshold_bytes


@responder('X-6', needs={'files'})
def in_version_one_both_flags_are_needed_to_invalidate(t):
    """A Reply invalidates a key only if request and accept have the flag."""
    for invalidate in (True, False):
        hand = t.connect(invalidate=invalidate)
        _key, segment = hand.lend(2000, writable=True)
        got = hand.ask(t.read(2000), writes=[[segment]])
        t.hold(got.invalidated is None or invalidate and inline.told(hand).invalidate,
               'a key is invalidated, and one end does not have the flag')


@in_version_one_both_flags_are_needed_to_invalidate.wrong
def _(end):
    end.key_to_invalidate = lambda message: message.writes[0][0].handle


@in_version_one_both_flags_are_needed_to_invalidate.wrong
def _(end):
    end.options.invalidate = False
    end.key_to_invalidate = lambda message: (
        message.writes[0][0].handle if end.peer_data().invalidate else None)


@responder('X-7', needs={'files', 'ours'})
def a_call_with_two_xids_is_refused(t):
    """ERR_CHUNK has the XID of the transport header, and neither Call is executed, inline or not."""
    hand = t.connect()
    hand.result(hand.call(t.write(b'old!' * 25)).xid, 'a WRITE')
    call = t.write(b'new!' * 25)
    xid = int.from_bytes(call[:4], 'big') ^ 0x100
    for sent in (header.Header(xid, body=call),
                 header.Header(xid, proc=header.NOMSG, reads=hand.read_chunk(0, call))):
        hand.send(sent)
        hand.refused(xid, 'a Call with two XIDs')
    t.hold(t.written(hand, 100) == b'old!' * 25, 'a Call with two XIDs was executed')


def _header_wins(end):
    right = end.take_call

    def take_call(message):
        if message.body:
            message.body = message.xid.to_bytes(4, 'big') + message.body[4:]
        right(message)
    end.take_call = take_call


@a_call_with_two_xids_is_refused.wrong
def _(end):
    right = end.joined

    def joined(message, chunks):
        whole = right(message, chunks)
        return whole and message.xid.to_bytes(4, 'big') + whole[4:]
    end.joined = joined


a_call_with_two_xids_is_refused.wrong(_header_wins)


@a_call_with_two_xids_is_refused.wrong
def _(end):
    end.refuse = lambda work, why: end.works.pop(work.message.xid, None)


@requester('X-7', needs={'ours'})
def a_reply_with_two_xids_is_taken_for_neither(t):
    """The contents reach no caller, and nothing is sent back; inline or in the Reply chunk."""
    hand = t.working()
    for in_chunk in (False, True):
        asked = [t.have_called(t.echo(bytes(8000))) for _ in range(2)]
        one, two = hand.next('a Call'), hand.next('a Call')
        evil = rpc.accepted(two.header.xid, xdr.var(b'evil'))
        if in_chunk:
            place = one.reply_chunk()[0]
            hand.conn.write(place.handle, place.offset, evil)
            hand.answer(one, b'', proc=header.NOMSG,
                        reply=[header.Segment(place.handle, len(evil), place.offset)])
        else:
            hand.answer(one, evil)
        t.only_calls_follow(hand)
        for caller in asked:
            t.hold(not caller.over or b'evil' not in caller.reply, 'a caller gets that Reply')
        hand.answer(two, rpc.accepted(two.header.xid, xdr.var(b'good')))
        t.hold(t.answered(asked[1])[-4:] == b'good', 'the right Reply is lost')


def _takes(end, xid_of):
    right = end.reply_of

    def reply_of(pending, message):
        if message.body and xid_of(message) == message.xid:
            message.body = message.xid.to_bytes(4, 'big') + message.body[4:]
        return right(pending, message)
    end.reply_of = reply_of


@a_reply_with_two_xids_is_taken_for_neither.wrong
def _(end):
    _takes(end, lambda message: message.xid)


@a_reply_with_two_xids_is_taken_for_neither.wrong
def _(end):
    right = end.take_reply

    def rpc_wins(message, gone):
        if message.body:
            message.xid = int.from_bytes(message.body[:4], 'big')
        right(message, gone)
    end.take_reply = rpc_wins

# SPDX-License-Identifier: BSD-3-Clause
"""Both directions: draft-ietf-nfsv4-rpcrdma-bidirection-02 section 1, RFC 8167 sections 2 and 4."""
from scene import inline, reverse
from scene.scenario import requester, responder
from wire import header, rpc


def _shifted_xid(end):
    """Bends: answers have an XID of their own."""
    right = end.put

    def put(message, invalidate=None):
        if message.body[4:8] == b'\0\0\0\1':
            message.xid ^= 1
            message.body = message.xid.to_bytes(4, 'big') + message.body[4:]
        right(message, invalidate)
    end.put = put


@responder('D1.1.4-1')
def a_reply_has_the_xid_of_its_call(t):
    """Each of several Calls in flight gets one Reply, with its XID in both headers."""
    hand = t.connect()
    count = min(8, hand.ask(t.null()).header.credit)
    sent = {hand.call(t.null()).xid for _ in range(count)}
    for _ in range(count):
        got = hand.next('a Reply')
        t.hold(got.header.xid in sent, f'an answer to XID {got.header.xid:#x}, which nobody uses')
        t.hold(got.body[:4] == got.data[:4], 'two XIDs in one Reply')
        sent.discard(got.header.xid)


a_reply_has_the_xid_of_its_call.wrong(_shifted_xid)


@a_reply_has_the_xid_of_its_call.wrong
def _(end):
    right = end.put

    def put(message, invalidate=None):
        message.xid ^= 1
        right(message, invalidate)
    end.put = put


@requester('D1.1.4-1')
def a_reply_is_matched_by_its_xid(t):
    """Calls in flight have different XIDs, and Replies in another order reach their callers."""
    hand = t.working()
    asked = [t.have_called(t.echo(bytes([n] * 4))) for n in range(4)]
    got = [hand.next('a Call') for _ in asked]
    t.hold(len({call.header.xid for call in got}) == len(got), 'two Calls have one XID')
    for call in reversed(got):
        hand.answer(call, rpc.accepted(call.header.xid, b'\0\0\0\4' + call.body[-4:]))
    for n, one in enumerate(asked):
        t.hold(t.answered(one)[-4:] == bytes([n] * 4), 'a caller got the Reply to another Call')


@a_reply_is_matched_by_its_xid.wrong
def _(end):
    right = end.take_reply

    def oldest_first(message, gone):
        message.xid = next(iter(end.pending), message.xid)
        message.body = message.xid.to_bytes(4, 'big') + message.body[4:]
        right(message, gone)
    end.take_reply = oldest_first


@requester('D1.1.4-1', needs={'reverse'})
def a_reply_to_a_reverse_call_has_its_xid(t):
    """The connector's Reply to a reverse Call has its XID in both places."""
    hand = t.working()
    for _ in range(3):
        got = hand.ask(t.null())
        t.hold(got.body[:4] == got.data[:4], 'two XIDs in one Reply')


a_reply_to_a_reverse_call_has_its_xid.wrong(_shifted_xid)


def _one_space(end):
    """Bends: a message with the XID of a Call in flight counts as its Reply."""
    right = end.is_call
    end.is_call = lambda message: message.xid not in end.pending and right(message)


def _no_twins(end):
    """Bends: a Call with the XID of one in the other direction is not accepted."""
    right = end.take_call
    end.take_call = lambda message: message.xid not in end.pending and right(message)


@requester('D1.1.4.1-1', needs={'reverse'})
def a_reverse_call_may_have_the_xid_of_a_forward_call(t):
    """Calls in both directions are in flight on one connection, and each gets its own Reply."""
    hand = t.working()
    asked = t.have_called(t.echo(b'one!'))
    got = hand.next('the Call')
    twin = got.body[:4] + t.null()[4:]
    back = hand.ask(twin)
    t.hold(back.body[4:8] == b'\0\0\0\1', 'no Reply to the reverse Call')
    hand.answer(got, rpc.accepted(got.header.xid, b'\0\0\0\4one!'))
    t.hold(t.answered(asked)[-4:] == b'one!', 'the forward caller got another Reply')


a_reverse_call_may_have_the_xid_of_a_forward_call.wrong(_one_space)
a_reverse_call_may_have_the_xid_of_a_forward_call.wrong(_no_twins)


@responder('D1.1.4.1-1', needs={'behind', 'reverse'})
def a_forward_call_may_have_the_xid_of_a_reverse_call(t):
    """Calls in both directions are in flight on one connection, and each gets its own Reply."""
    hand = reverse.acceptor(t)
    asked, = reverse.calls(t, hand)
    got = reverse.came(hand)
    twin = got.body[:4] + t.echo(b'two!')[4:]
    back = hand.ask(twin)
    t.hold(back.body[-4:] == b'two!', 'no Reply to the forward Call')
    reverse.answer(hand, got, result=b'\0\0\0\4one!')
    t.hold(t.answered(asked)[-4:] == b'one!', 'the reverse caller got another Reply')


a_forward_call_may_have_the_xid_of_a_reverse_call.wrong(_one_space)
a_forward_call_may_have_the_xid_of_a_reverse_call.wrong(_no_twins)


@responder('D1.3.1-1', needs={'reverse'})
def a_client_that_ignores_reverse_calls_is_served(t):
    """Unanswered reverse Calls delay no Reply to a forward Call."""
    hand = reverse.acceptor(t)
    reverse.calls(t, hand, 3)
    reverse.came(hand)
    for _ in range(20):
        hand.ask(t.null())


@a_client_that_ignores_reverse_calls_is_served.wrong
def _(end):
    right = end.take_call
    end.take_call = lambda message: not end.pending and right(message)


@a_client_that_ignores_reverse_calls_is_served.wrong
def _(end):
    right, seen = end.take_call, []

    def gives_up(message):
        seen.append(message)
        if len(seen) > 10 and end.pending:
            end.conn.close()
        else:
            right(message)
    end.take_call = gives_up


@requester('D1.3.1-1')
def a_server_that_never_calls_is_good_enough(t):
    """A connector whose server makes no reverse Calls sends its own and accepts their Replies."""
    hand = t.working()
    for _ in range(5):
        asked = t.have_called(t.null())
        got = hand.next('the Call')
        t.hold(reverse.is_call(got), 'something else than a Call')
        hand.answer_null(got)
        t.answered(asked)
    hand.quiet()


@a_server_that_never_calls_is_good_enough.wrong
def _(end):
    right = end.may_send
    end.may_send = lambda: right() and (end.works or not end.version)


@responder('D1.3.2-1', needs={'behind', 'reverse'})
def reverse_calls_take_no_forward_credit_from_the_client(t):
    """While a reverse Call waits for its answer, as many forward Calls as granted are accepted."""
    hand = reverse.acceptor(t)
    grant = hand.ask(t.null()).header.credit
    asked, = reverse.calls(t, hand)
    got = reverse.came(hand)
    reverse.many_at_once(t, hand, grant)
    reverse.answer(hand, got)
    t.answered(asked)


@reverse_calls_take_no_forward_credit_from_the_client.wrong
def _(end):
    right = end.take_call

    def take_call(message):
        if len(end.works) + len(end.pending) < end.options.credits:
            right(message)
    end.take_call = take_call


@requester('D1.3.2-1', needs={'reverse'})
def reverse_calls_take_no_forward_credit_from_the_server(t):
    """While a reverse Call is being answered, as many forward Calls as granted are sent."""
    asked, hand, got = t.called(t.null())
    hand.answer_null(got, credit=3)
    t.answered(asked)
    held = t.hold_back()
    back = hand.call(t.null()).xid
    t.settle(lambda: held, 'the reverse Call at the client')
    asked = [t.have_called(t.null()) for _ in range(3)]
    got = [hand.next(f'Call {n} of 3') for n in (1, 2, 3)]
    t.server.before = None
    t.let_go(held[0])
    hand.reply(back)
    for call in got:
        hand.answer_null(call)
    for one in asked:
        t.answered(one)


@reverse_calls_take_no_forward_credit_from_the_server.wrong
def _(end):
    end.may_send = lambda: end.conn.open and len(end.pending) + len(end.works) < end.granted


@responder('D1.3.3-1', needs={'reverse', 'draft'})
def an_acceptor_lends_no_memory_for_its_calls(t):
    """A reverse READ of 60000 bytes has no chunks, although a forward one would."""
    hand = reverse.acceptor(t)
    t.have_called_back(t.read(60000))
    got = reverse.came(hand)
    t.hold(not (got.header.reads or got.header.writes or got.header.reply),
           f'memory is lent: {header.describe(got.data)}')


@an_acceptor_lends_no_memory_for_its_calls.wrong
def _(end):
    right = end.planned

    def planned(pending):
        message = right(pending)
        if not end.connector:
            end.offer_room(pending, message)
        return message
    end.planned = planned


@responder('D1.3.4-1', needs={'reverse', 'draft'})
def the_direction_of_a_reverse_call_is_at_byte_32(t):
    """A reverse Call is one Send with empty lists, CALL at byte 32, no longer than a receive."""
    hand = reverse.acceptor(t, recv=1024)
    for size in (0, 1024 - 72):
        asked = t.have_called_back(t.echo(bytes(size)))
        got = hand.next('the reverse Call')
        t.hold(len(got.data) <= 1024, f'{len(got.data)} bytes')
        t.hold(got.data[16:28] == bytes(12), 'the lists are not empty')
        t.hold(got.data[32:36] == b'\0\0\0\0', f'byte 32 has {got.data[32:36].hex()}')
        reverse.answer(hand, got)
        t.answered(asked)


def _empty_chunk(end):
    """Bends: an empty chunk in the last list."""
    right = end.put

    def put(message, invalidate=None):
        if (message.body[4:8] == b'\0\0\0\1') == end.connector:
            message.reply = []
        right(message, invalidate)
    end.put = put


the_direction_of_a_reverse_call_is_at_byte_32.wrong(_empty_chunk)


@requester('D1.3.4-1', needs={'reverse'})
def the_direction_of_a_reverse_reply_is_at_byte_32(t):
    """A reverse Reply is one Send with empty lists, REPLY at byte 32, no longer than a receive."""
    hand = t.working(recv=1024)
    for size in (0, min(1024, inline.told(hand).send_bytes) - 56):
        got = hand.ask(t.echo(b'', size))
        t.hold(len(got.data) <= 1024, f'{len(got.data)} bytes')
        t.hold(got.data[16:28] == bytes(12), 'the lists are not empty')
        t.hold(got.data[32:36] == b'\0\0\0\1', f'byte 32 has {got.data[32:36].hex()}')


the_direction_of_a_reverse_reply_is_at_byte_32.wrong(_empty_chunk)

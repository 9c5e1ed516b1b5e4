# SPDX-License-Identifier: BSD-3-Clause
"""Headers of version two: draft-cel-nfsv4-rpcrdma-version-two-00 section 4.2."""
from scene import two
from scene.client_session import new_xid
from scene.scenario import requester, responder
from wire import header, xdr

DIALECT = 'version two'


@responder('E4.2-1', needs={'files'})
def chunks_are_as_in_version_one(t):
    """A WRITE by position-zero chunk, a READDIR into the Reply chunk, and a READ inline."""
    hand = t.connect()
    data = t.pattern(9000)
    call = t.write(data)
    got = hand.call(b'', xid=int.from_bytes(call[:4], 'big'), vers=2, proc=header.NOMSG,
                    reads=hand.read_chunk(0, call, pieces=3))
    got = hand.reply(got.xid)
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG), 'the WRITE is not served')
    two.chunk_reply(hand, t.readdir(6000))
    got = two.inline_reply(hand, t.read(2000))
    t.hold(got.body.endswith(t.pattern(2000)), 'other data is read')


@chunks_are_as_in_version_one.wrong
def _(end):
    end.is_call = lambda message: message.body[4:8] == b'\0\0\0\0'


@chunks_are_as_in_version_one.wrong
def _(end):
    end.into_reply_chunk = lambda message, out: False


@responder('A5.2-4')
def an_unused_reply_chunk_comes_back_in_version_two(t):
    """Unused chunks have zero lengths, as in version one."""
    hand = t.connect()
    _keys, segments = hand.lend_pieces(1000, 1000)
    got = two.ask(hand, t.null(), reply=segments)
    if got.header.proc == header.MSG:
        back = got.header.reply
        t.hold(back is not None, 'it is left out')
        t.hold([(s.handle, s.length, s.offset) for s in back] ==
               [(s.handle, 0, s.offset) for s in segments], f'{back} comes back')


@an_unused_reply_chunk_comes_back_in_version_two.wrong
def _(end):
    end.unused_reply = lambda message: None


@requester('E4.2-1', keys=two.KEYS)
def a_requester_uses_chunks_as_in_version_one(t):
    """A long Call by position-zero chunk gets its long Reply in the Reply chunk."""
    hand = two.ready(t)
    asked, got = two.again(t, hand, t.echo(t.pattern(9000)))
    t.hold((got.header.vers, got.header.proc) == (2, header.NOMSG), 'it is no RDMA_NOMSG')
    t.hold(hand.message_of(got) == asked.call, 'the chunk carries something else')
    t.hold(got.header.reply, 'no reply chunk is offered')
    reply = t.server.answer(asked.call)
    landing = got.reply_chunk()[0]
    hand.conn.write(landing.handle, landing.offset, reply)
    landing.length = len(reply)
    hand.send(header.Header(got.header.xid, vers=2, proc=header.NOMSG, reply=[landing]))
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@a_requester_uses_chunks_as_in_version_one.wrong
def _(end):
    end.is_long_call = lambda message: True


@a_requester_uses_chunks_as_in_version_one.wrong
def _(end):
    right = end.planned

    def in_one(pending):
        message = right(pending)
        message.vers = 1
        return message
    end.planned = in_one


def words(*numbers):
    """Returns the encoded numbers of a header."""
    return b''.join(map(xdr.u32, numbers))


@responder('E4.2-2')
def the_three_errors_have_their_codes(t):
    """ERR_VERS 1 has the range in 28 bytes; BAD_HEADER 2 and INVAL_OPTION 3 have 20."""
    hand = t.connect()
    hand.send(words(7, 3, 1, 0) + bytes(12) + t.null())
    got = hand.reply(7, 'ERR_VERS')
    t.hold((got.header.proc, got.header.err) == (header.ERROR, 1), 'it is no ERR_VERS')
    t.hold(len(got.data) == 28, f'ERR_VERS has {len(got.data)} bytes')
    t.hold((got.header.low, got.header.high) == (1, 2),
           f'the range is {got.header.low}..{got.header.high}')
    two.refused(t, hand, two.operation(99, b''), 3)
    xid = new_xid()
    two.refused(t, hand, words(xid, 2, 1, header.MSG, 2) + bytes(60), 2)
    two.barrier(t, hand)


@the_three_errors_have_their_codes.wrong
def _(end):
    right = end.put

    def longer(message, invalidate=None):
        if message.err in (2, 3):
            message.body = bytes(32)
        right(message, invalidate)
    end.put = longer


@the_three_errors_have_their_codes.wrong
def _(end):
    end.version_range = lambda: (2, 2)


@the_three_errors_have_their_codes.wrong
def _(end):
    right = end.refuse_header
    end.refuse_header = lambda xid, version, why: right(xid, 1, why)


@responder('E4.2-3')
def no_rpc_message_follows_anything_but_a_msg(t):
    """RDMA_NOMSG, RDMA_ERROR and RDMA_OPTIONAL end with their header."""
    hand = t.connect()
    sent = hand.send(two.init())
    messages = [hand.reply(sent.xid)]
    messages.append(hand.reply(hand.send(two.operation(99, b'')).xid))
    xid = new_xid()
    hand.send(words(xid, 2, 1, header.MSGP))
    messages.append(hand.reply(xid))
    for got in messages:
        t.hold(not got.body, f'{len(got.body)} bytes follow proc {got.header.proc}')
    t.hold(two.ask(hand, t.null()).body, 'nothing follows an RDMA_MSG')


@no_rpc_message_follows_anything_but_a_msg.wrong
def _(end):
    right = end.refuse_option
    end.put = lambda message, invalidate=None: end.conn.send(
        header.encode(message) + (b'' if message.proc == header.MSG else bytes(4)))
    end.refuse_option = right


@responder('E4.2-3')
def a_msg_without_an_rpc_message_is_not_served(t):
    """Such a message is dropped or refused."""
    hand = t.connect()
    two.barrier(t, hand)
    xid = new_xid()
    hand.send(words(xid, 2, 16, header.MSG, 0, 0, 0))
    after = hand.call(t.null(), vers=2)
    got = hand.next('an answer')
    if got.header.xid == xid:
        two.is_refusal(t, got, header.BAD_HEADER)
        got = hand.next('the Reply')
    t.hold(got.header.xid == after.xid, 'it is answered, but not by an error')


@a_msg_without_an_rpc_message_is_not_served.wrong
def _(end):
    end.body_too_short = lambda body: False
    end.take_reply = lambda message, invalidated: end.put(
        header.Header(message.xid, vers=2, body=bytes(24)))


@responder('E4.2-3', needs={'files'})
def nothing_follows_a_reply_in_its_chunk(t):
    """The RDMA_NOMSG of a Reply in the Reply chunk ends with its header."""
    got = two.chunk_reply(t.connect(), t.readdir(6000))
    t.hold(got.header.proc == header.NOMSG, 'the Reply is not in its chunk')
    t.hold(not got.body, f'{len(got.body)} bytes follow RDMA_NOMSG')


@nothing_follows_a_reply_in_its_chunk.wrong
def _(end):
    end.put = lambda message, invalidate=None: end.conn.send(
        header.encode(message) + (b'' if message.proc == header.MSG else bytes(4)))


@requester('E4.2-3', keys=two.KEYS)
def a_requester_puts_nothing_behind_other_messages(t):
    """Its INIT_XCHAR, RDMA_NOMSG and errors end with their header."""
    asked, hand, first = two.probed(t, t.echo(bytes(9000)))
    t.hold(not first.body, f'{len(first.body)} bytes follow INIT_XCHAR')
    hand.send(two.init(xid=first.header.xid))
    got = hand.next('the Call')
    t.hold(got.header.proc == header.NOMSG, 'a long Call goes inline')
    t.hold(not got.body, f'{len(got.body)} bytes follow RDMA_NOMSG')
    hand.send(two.operation(99, b''))
    error = hand.next('INVAL_OPTION')
    t.hold(error.header.proc == header.ERROR and not error.body, 'something follows RDMA_ERROR')
    hand.answer_null(got)
    t.answered(asked)


@a_requester_puts_nothing_behind_other_messages.wrong
def _(end):
    right = end.move

    def both(pending, message):
        right(pending, message)
        message.body = bytes(8)
    end.move = both


@responder('E4.2-4', needs={'reverse', 'behind'})
def reverse_calls_go_in_version_two(t):
    """On a connection of version two, the acceptor's Calls also have version two."""
    hand = t.connect()
    two.barrier(t, hand)
    asked = t.have_called_back(t.echo(b'back', 40))
    got = hand.next('the reverse Call')
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG), 'it is none of version two')
    t.hold(not (got.header.reads or got.header.writes or got.header.reply), 'it has chunks')
    t.hold(got.body == asked.call, 'it is another Call')
    hand.answer_null(got)
    t.settle(lambda: asked.over, 'the Reply at the other side')


@reverse_calls_go_in_version_two.wrong
def _(end):
    end.call_version = lambda: 1


@reverse_calls_go_in_version_two.wrong
def _(end):
    end.take_reply = lambda message, invalidated: None


@requester('E4.2-4', keys=two.KEYS, needs={'reverse'})
def a_requester_answers_reverse_calls_of_version_two(t):
    """The answer has version two, the XID, and is inline."""
    hand = two.ready(t)
    got = two.ask(hand, t.null())
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG), 'it is not served')
    two.in_order(t, hand)


@a_requester_answers_reverse_calls_of_version_two.wrong
def _(end):
    end.take_call = lambda message: None


@responder('E4.2-5')
def reserved_and_unknown_procs_get_bad_header(t):
    """RDMA_MSGP, RDMA_DONE and a proc of 6, with and without further bytes."""
    hand = t.connect()
    two.barrier(t, hand)
    for proc in (header.MSGP, header.DONE, 6, 2**32 - 1):
        for behind in (b'', bytes(20) + t.null()):
            two.refused(t, hand, words(new_xid(), 2, 16, proc) + behind, header.BAD_HEADER)
    two.barrier(t, hand)


@reserved_and_unknown_procs_get_bad_header.wrong
def _(end):
    end.reserved = lambda message: False


@reserved_and_unknown_procs_get_bad_header.wrong
def _(end):
    right = end.reserved
    end.reserved = lambda message: right(message) and message.proc != header.DONE


@reserved_and_unknown_procs_get_bad_header.wrong
def _(end):
    end.may_be_call = lambda data: False


@responder('E4.2-5')
def chunk_lists_that_do_not_decode_get_bad_header(t):
    """A discriminator of 2, more segments than bytes, and a list that exceeds the Send."""
    hand = t.connect()
    two.barrier(t, hand)
    for lists in ((2, 0, 0), (0, 2, 0), (0, 0, 2), (0, 1, 2**28 + 1), (0, 0, 1, 2**32 - 1),
                  (1, 0, 7, 16, 0)):
        data = words(new_xid(), 2, 16, header.MSG, *lists)
        two.refused(t, hand, data.ljust(28, b'\0'), header.BAD_HEADER)
    two.barrier(t, hand)


@chunk_lists_that_do_not_decode_get_bad_header.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: None


@chunk_lists_that_do_not_decode_get_bad_header.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: end.refuse_option(xid)


@requester('E4.2-5', keys=two.KEYS)
def a_requester_says_bad_header_of_reserved_procs_too(t):
    """RDMA_MSGP and RDMA_DONE of the acceptor are refused, and Calls continue."""
    hand = two.ready(t)
    for proc in (header.MSGP, header.DONE, 6):
        two.refused(t, hand, words(new_xid(), 2, 16, proc), header.BAD_HEADER)
        two.in_order(t, hand)


@a_requester_says_bad_header_of_reserved_procs_too.wrong
def _(end):
    end.reserved = lambda message: False


@responder('E4.2-6', needs={'files'})
def bytes_behind_nomsg_error_and_optional_are_ignored(t):
    """A Call, an error and two operations are handled as without these bytes."""
    hand = t.connect()
    call = t.read(100)
    sent = hand.call(b'junk junk junk junk', xid=int.from_bytes(call[:4], 'big'), vers=2,
                     proc=header.NOMSG, reads=hand.read_chunk(0, call))
    got = hand.reply(sent.xid)
    t.hold(got.header.proc == header.MSG and got.body.endswith(t.pattern(100)), 'it is not served')
    hand.send(header.encode(two.error(new_xid(), header.BAD_HEADER)) + bytes(32))
    sent = hand.send(two.init(body=t.null()))
    got = hand.reply(sent.xid, 'the answer to INIT_XCHAR')
    if got.header.proc == header.OPTIONAL:
        hand.send(two.upd(two.size(4096), body=t.null()))
    two.barrier(t, hand)


@bytes_behind_nomsg_error_and_optional_are_ignored.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: ('junk' if message.proc == header.NOMSG and message.body
                                     else right(message))


@bytes_behind_nomsg_error_and_optional_are_ignored.wrong
def _(end):
    right = end.take_optional

    def with_call(message):
        right(message)
        if message.body:
            end.take_call(header.Header(int.from_bytes(message.body[:4], 'big'), vers=2,
                                        body=message.body))
    end.take_optional = with_call


@requester('E4.2-6', keys=two.KEYS)
def an_unknown_error_ends_its_call_and_no_other(t):
    """An unknown code, in 20 bytes or with further bytes."""
    hand = two.ready(t)
    for behind in (b'', bytes(32)):
        asked, got = two.again(t, hand, t.null())
        hand.send(words(got.header.xid, 2, 16, header.ERROR, 77) + behind)
        t.settle(lambda call=asked: call.over, 'an end of the Call')
        two.in_order(t, hand)


@an_unknown_error_ends_its_call_and_no_other.wrong
def _(end):
    right = end.take_error
    end.take_error = lambda data: right(data) if data[19] != 77 else None


@requester('E4.2-6', keys=two.KEYS)
def a_requester_ignores_bytes_behind_operations(t):
    """An UPD_XCHAR with a reverse Call after it is only an UPD_XCHAR."""
    hand = two.ready(t)
    hand.send(two.upd(two.size(4096), body=t.null()))
    two.in_order(t, hand)


@a_requester_ignores_bytes_behind_operations.wrong
def _(end):
    right = end.take_optional

    def with_call(message):
        right(message)
        if message.body:
            end.take_call(header.Header(int.from_bytes(message.body[:4], 'big'), vers=2,
                                        body=message.body))
    end.take_optional = with_call

# SPDX-License-Identifier: BSD-3-Clause
"""The transport header: draft-ietf-nfsv4-rpcrdma-03 section 4.1, RFC 8166 sections 4.2 and 4.3."""
import struct

from scene.scenario import requester, responder
from wire import header, rpc


def _fixed(got):
    """Returns the four words that begin every version."""
    return struct.unpack('>4I', got.data[:16])


def _words_swapped(first, second):
    def bend(end):
        def put(message, invalidate=None):
            data = bytearray(header.encode(message))
            data[first:first + 4], data[second:second + 4] = (
                data[second:second + 4], data[first:first + 4])
            end.conn.send(bytes(data), invalidate)
        end.put = put
    return bend


@responder('A4.1-1')
def the_first_four_words_of_answers_have_their_places(t):
    """XID, version, credits and type are correct in Replies and in the refusal of an unknown version."""
    hand = t.connect()
    sent = hand.call(t.null(), credit=5)
    xid, vers, credit, proc = _fixed(hand.next_bytes())
    t.hold((xid, proc) == (sent.xid, header.MSG), 'XID and type of a Reply are elsewhere')
    t.hold(0 < vers < 3 and credit, f'version {vers} and {credit} credits')
    sent = hand.call(t.null(), credit=5, vers=99)
    got = hand.next_bytes()
    xid, vers, credit, proc = _fixed(got)
    t.hold((xid, proc) == (sent.xid, header.ERROR), 'XID and type of an RDMA_ERROR are elsewhere')
    t.hold(got.data[16:20] == b'\0\0\0\1', 'the error does not begin at byte 16')


for _words in ((0, 4), (4, 8), (8, 12)):
    the_first_four_words_of_answers_have_their_places.wrong(_words_swapped(*_words))


@the_first_four_words_of_answers_have_their_places.wrong
def _(end):
    end.refuse_version = lambda xid: end.conn.send(
        struct.pack('>10I', xid, 1, 1, header.ERROR, 0, 0, 0, header.ERR_VERS, 1, 1))


@requester('A4.1-1')
def the_first_four_words_of_calls_have_their_places(t):
    """XID, version, credits and type are correct."""
    for call, proc in ((t.null(), header.MSG), (t.echo(bytes(6000)), header.NOMSG)):
        asked = t.have_called(call)
        hand = t.accept()
        xid, vers, credit, kind = _fixed(hand.next_bytes('the Call'))
        t.hold(xid.to_bytes(4, 'big') == asked.call[:4] and kind == proc,
               'XID and type of a Call are elsewhere')
        t.hold(0 < vers < 3 and credit, f'version {vers} and {credit} credits')
        t.hang_up(hand)


for _words in ((0, 4), (4, 8), (8, 12)):
    the_first_four_words_of_calls_have_their_places.wrong(_words_swapped(*_words))


def _other_xid(end):
    put = end.put

    def other(message, invalidate=None):
        message.xid ^= 1
        put(message, invalidate)
    end.put = other


@responder('A4.1-2', needs={'files'})
def the_xid_of_a_reply_is_that_of_its_call(t):
    """The XIDs of the header and the RPC message agree, inline and in the Reply chunk."""
    hand = t.connect()
    key, segment = hand.lend(8192, writable=True)
    for call, fields in ((t.null(), {}), (t.read(6000), {'reply': [segment]})):
        got = hand.ask(call, **fields)
        t.hold((got.body or key.memory)[:4] == call[:4], 'the RPC message has another XID')


the_xid_of_a_reply_is_that_of_its_call.wrong(_other_xid)


@the_xid_of_a_reply_is_that_of_its_call.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: right(segments, b'\0\0\0\7' + data[4:])


@requester('A4.1-2')
def the_xid_of_a_call_is_that_of_its_message(t):
    """The XIDs of the header and the RPC message agree, inline and in the Read chunk."""
    hand = t.working()
    for call in (t.null(), t.echo(bytes(6000))):
        asked, got = t.next_called(hand, call)
        t.hold(got.header.xid.to_bytes(4, 'big') == asked.call[:4], 'the header has another XID')
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        hand.answer_null(got)


@the_xid_of_a_call_is_that_of_its_message.wrong
def _(end):
    put = end.put

    def other(message, invalidate=None):
        message.xid ^= message.proc
        put(message, invalidate)
    end.put = other


def _version_two(end):
    put = end.put

    def two(message, invalidate=None):
        message.vers = 2
        put(message, invalidate)
    end.put = two


@responder('A4.1-3')
def a_reply_has_version_one(t):
    """A Call in version one gets its answer in version one."""
    hand = t.connect()
    got = hand.ask(t.null())
    t.hold(got.header.vers == 1, f'a Reply in version {got.header.vers}')
    sent = hand.send(header.Header(0x51, proc=77, body=bytes(64)))
    t.hold(hand.reply(sent.xid).header.vers == 1, 'an error in another version')


a_reply_has_version_one.wrong(_version_two)


@requester('A4.1-3')
def a_call_has_version_one(t):
    """Every Call to a peer of version one has version one."""
    hand = t.working()
    for call in (t.null(), t.echo(bytes(6000))):
        _asked, got = t.next_called(hand, call)
        t.hold(got.header.vers == 1, f'a Call in version {got.header.vers}')
        hand.answer_null(got)


@a_call_has_version_one.wrong
def _(end):
    put = end.put

    def later_two(message, invalidate=None):
        message.vers = 1 + message.proc
        put(message, invalidate)
    end.put = later_two


def _of_type(proc, message):
    """Returns an RPC message after three empty lists, in a message of any type."""
    return message[:4] + struct.pack('>6I', 1, 16, proc, 0, 0, 0) + message


@responder('A4.1-4')
def an_unknown_type_is_err_chunk(t):
    """Types without a meaning in the documents, with a complete Call after the header."""
    hand = t.connect()
    for proc in (5, 6, 255, 0x80000000, 0xffffffff):
        call = t.null()
        hand.send(_of_type(proc, call))
        hand.refused(int.from_bytes(call[:4], 'big'), f'type {proc}')
    hand.barrier(t.null())


@an_unknown_type_is_err_chunk.wrong
def _(end):
    end.refuse_header = lambda *args: None


@an_unknown_type_is_err_chunk.wrong
def _(end):
    right = end.on_send

    def modulo(sent):
        sent.data = sent.data[:12] + bytes(3) + bytes([sent.data[15] % 5]) + sent.data[16:]
        right(sent)
    end.on_send = modulo


@requester('A4.1-4')
def a_reply_of_an_unknown_type_is_none(t):
    """The contents of a message of unknown type do not reach the caller."""
    hand = t.working()
    for proc in (5, 77):
        asked, got = t.next_called(hand, t.null())
        hand.send(_of_type(proc, rpc.accepted(got.header.xid)))
        t.not_delivered(hand, asked, f'a Reply of type {proc}')


@a_reply_of_an_unknown_type_is_none.wrong
def _(end):
    right = end.on_send

    def as_message(sent):
        sent.data = sent.data[:12] + bytes(4) + sent.data[16:]
        right(sent)
    end.on_send = as_message


def _faultless(t, got):
    faults = header.faults(got.header)
    t.hold(not faults, f'{header.PROC_NAMES[got.header.proc]} with {faults}')


@responder('A4.1-5', needs={'files'})
def each_type_of_answer_has_its_layout(t):
    """The RPC message follows the lists; nothing follows the lists of an RDMA_NOMSG or an error."""
    hand = t.connect()
    _key, segment = hand.lend(8192, writable=True)
    for call, fields, proc in ((t.null(), {}, header.MSG),
                               (t.read(6000), {'reply': [segment]}, header.NOMSG),
                               (t.null(), {'vers': 99}, header.ERROR)):
        got = hand.ask(call, **fields)
        t.hold(got.header.proc == proc, f'type {got.header.proc} instead of {proc}')
        _faultless(t, got)
    sent = hand.send(header.Header(0x700, proc=99, body=bytes(64)))
    _faultless(t, hand.refused(sent.xid, 'an unknown type'))


def _more_behind(proc):
    def bend(end):
        put = end.put

        def more(message, invalidate=None):
            if message.proc == proc:
                message.body += bytes(8)
            put(message, invalidate)
        end.put = more
    return bend


each_type_of_answer_has_its_layout.wrong(_more_behind(header.NOMSG))
each_type_of_answer_has_its_layout.wrong(_more_behind(header.ERROR))


@requester('A4.1-5')
def each_type_of_call_has_its_layout(t):
    """The RPC message follows the lists; nothing follows the lists of an RDMA_NOMSG."""
    hand = t.working()
    for call, proc in ((t.null(), header.MSG), (t.echo(bytes(6000)), header.NOMSG)):
        _asked, got = t.next_called(hand, call)
        t.hold(got.header.proc == proc, f'type {got.header.proc} instead of {proc}')
        _faultless(t, got)
        hand.answer_null(got)


each_type_of_call_has_its_layout.wrong(_more_behind(header.NOMSG))


@responder('A4.1-6')
def a_call_without_a_message_is_none(t):
    """An RDMA_MSG without an RPC message is dropped or refused."""
    hand = t.connect()
    sent = hand.send(header.Header(0x800))
    null = hand.call(t.null())
    got = hand.next()
    if got.header.xid == sent.xid:
        t.hold(got.header.proc == header.ERROR, 'an empty RDMA_MSG has a Reply')
        got = hand.next()
    t.hold(got.header.xid == null.xid, 'the next Call is not answered')


@a_call_without_a_message_is_none.wrong
def _(end):
    end.body_too_short = lambda body: not body and end.put(
        header.Header(0x800, body=rpc.accepted(0x800)))


@a_call_without_a_message_is_none.wrong
def _(end):
    right = end.body_too_short
    end.body_too_short = lambda body: right(body) and not end.conn.close()


@requester('A4.1-6')
def a_reply_without_a_message_is_none(t):
    """An RDMA_MSG without an RPC message is no Reply."""
    hand = t.working()
    asked, got = t.next_called(hand, t.null())
    hand.answer(got, b'')
    t.not_delivered(hand, asked, 'an empty Reply')


@a_reply_without_a_message_is_none.wrong
def _(end):
    def taken(body):
        if not body:
            pending = next(iter(end.pending.values()))
            end.over(pending, reply=rpc.accepted(pending.xid))
        return not body
    end.body_too_short = taken

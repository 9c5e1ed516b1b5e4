# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the transport: draft-ietf-nfsv4-rpcrdma-03 section 4.2, RFC 8166 section 4.5,
and the bounds of its XDR: sections 4.3 and 4.1.2. ERR_VERS is beside this."""
import dataclasses
import struct

from scene.client_session import new_xid
from scene.scenario import requester, responder
from wire import header, rpc


@responder('A4.2-2')
def a_header_that_does_not_decode_is_an_error(t):
    """Lists before a Call that are too short or begin at a wrong word: ERR_CHUNK, or an RPC error."""
    hand = t.connect()
    for lists in ([1, 0, 9, 9, 9, 9], [0, 1, 1, 9], [0, 0, 1, 200, 9, 9, 0, 9], [7, 0, 0], [0, 7, 0],
                  [0, 0, 7]):
        call = t.null()
        hand.send(call[:4] + struct.pack(f'>{3 + len(lists)}I', 1, 16, 0, *lists) + call)
        hand.not_executed(int.from_bytes(call[:4], 'big'), f'lists of the words {lists}')
    hand.barrier(t.null())


@a_header_that_does_not_decode_is_an_error.wrong
def _(end):
    end.may_be_call = lambda data: False


@a_header_that_does_not_decode_is_an_error.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: end.put(
        header.Header(xid, vers=version, body=rpc.accepted(xid)))


@responder('A4.2-3')
def only_calls_are_answered_with_errors(t):
    """Errors, an RDMA_DONE, and unusable Replies are not answered."""
    hand = t.connect()
    xid = new_xid()
    reply = rpc.accepted(xid)
    for data in (header.Header(xid, proc=header.ERROR, err=header.ERR_CHUNK),
                 header.Header(xid, proc=header.ERROR, err=header.ERR_VERS, low=1, high=1),
                 header.Header(xid, proc=header.ERROR, err=77),
                 header.Header(xid, proc=header.ERROR, vers=99, err=header.ERR_CHUNK),
                 header.Header(xid, proc=header.DONE),
                 header.Header(xid, body=reply)):
        hand.send(data)
        hand.barrier(t.null())
    hand.quiet()


@only_calls_are_answered_with_errors.wrong
def _(end):
    end.take_error = lambda data: end.refuse_header(int.from_bytes(data[:4], 'big'), 1, '')


@only_calls_are_answered_with_errors.wrong
def _(end):
    end.take_done = lambda message: end.refuse_header(message.xid, 1, '')


@only_calls_are_answered_with_errors.wrong
def _(end):
    end.take_reply = lambda message, _inv: end.refuse_header(message.xid, 1, '')


@responder('A4.2-3', needs={'ours'})
def a_reply_in_an_unknown_version_is_not_answered(t):
    """The place of the message in such a version is unknown; it is assumed to be as in version one."""
    hand = t.connect()
    xid = new_xid()
    hand.send(header.Header(xid, vers=99, body=rpc.accepted(xid)))
    hand.barrier(t.null())
    hand.quiet()


@a_reply_in_an_unknown_version_is_not_answered.wrong
def _(end):
    end.may_be_call = lambda data: True


@requester('A4.2-3')
def nothing_is_said_of_a_bad_reply(t):
    """Replies with undecodable lists or of unknown versions, and errors are not answered."""
    hand = t.working()
    for word, value in ((4, 7), (5, 3), (6, 9), (1, 99), (3, 66)):
        asked, got = t.next_called(hand, t.null())
        reply = header.encode(header.Header(got.header.xid, body=rpc.accepted(got.header.xid)))
        hand.send(reply[:4 * word] + value.to_bytes(4, 'big') + reply[4 * word + 4:])
        t.not_delivered(hand, asked, f'a Reply whose word {word} is {value}')
    hand.send(header.Header(new_xid(), proc=header.ERROR, err=header.ERR_CHUNK))
    t.hold(t.goes_on(hand, 'an RDMA_ERROR'), 'an RDMA_ERROR for nothing ends the connection')


@nothing_is_said_of_a_bad_reply.wrong
def _(end):
    end.may_be_call = lambda data: True


@nothing_is_said_of_a_bad_reply.wrong
def _(end):
    right = end.take_error

    def answer(data):
        right(data)
        end.refuse_header(int.from_bytes(data[:4], 'big'), 1, '')
    end.take_error = answer


@requester('A4.2-4')
def an_rdma_error_ends_the_rpc_of_its_xid(t):
    """ERR_CHUNK ends its Call, and others continue."""
    _ends_its_rpc(t, header.ERR_CHUNK)


def _ends_its_rpc(t, *codes):
    hand = t.working()
    for err in codes:
        other, late = t.next_called(hand, t.null())
        asked, got = t.next_called(hand, t.null())
        hand.send(header.Header(got.header.xid, proc=header.ERROR, err=err))
        t.refused_by_caller(hand, asked, f'error code {err}')
        t.hold(not other.over and not hand.conn.ended, f'error code {err} ends another Call')
        hand.answer_null(late)
        t.answered(other)


@an_rdma_error_ends_the_rpc_of_its_xid.wrong
def _(end):
    end.take_error = lambda data: None


@an_rdma_error_ends_the_rpc_of_its_xid.wrong
def _(end):
    end.take_error = lambda data: [end.over(p, error=header.Header(p.xid))
                                   for p in list(end.pending.values())]


@an_rdma_error_ends_the_rpc_of_its_xid.wrong
def _(end):
    end.take_error = lambda data: end.conn.close()


@requester('A4.2-4', needs={'draft'})
def an_error_of_an_unknown_code_ends_the_rpc_of_its_xid(t):
    """It has eight words in the draft. RFC 8166 has no such code, and undecodable messages are dropped."""
    _ends_its_rpc(t, 3, 77, 0)


@an_error_of_an_unknown_code_ends_the_rpc_of_its_xid.wrong
def _(end):
    right = end.take_error
    end.take_error = lambda data: len(data) < 50 and right(data)


def _lists(reads=(), writes=(), reply=None):
    return header.encode_lists(reads, writes, reply)


def _words(data, word, value):
    return data[:4 * word] + struct.pack('>I', value) + data[4 * word + 4:]


@responder('A4.3-1')
def what_announces_an_entry_is_zero_or_one(t):
    """Two, and all bits, instead of each list's discriminator and of the one after an entry."""
    hand = t.connect()
    _key, segment = hand.lend(64, writable=True)
    full = _lists(hand.read_chunk(4, bytes(8)), [[segment]], [segment])
    for lists, words in ((_lists(), (0, 1, 2)), (full, (0, 6, 7, 13, 14))):
        for word in words:
            for value in (2, 0xffffffff):
                call = t.null()
                fixed = call[:4] + struct.pack('>3I', 1, 16, 0)
                hand.send(fixed + _words(lists, word, value) + call)
                hand.refused(int.from_bytes(call[:4], 'big'), f'{value} in word {word} of lists')
    hand.barrier(t.null())


def _bools_masked(mask):
    def bend(end):
        right = end.on_send

        def on_send(sent):
            data = sent.data
            for word in (4, 5, 6):
                if int.from_bytes(data[4 * word:4 * word + 4], 'big') in mask:
                    data = _words(data, word, 0)
            sent.data = data
            right(sent)
        end.on_send = on_send
    return bend


what_announces_an_entry_is_zero_or_one.wrong(_bools_masked({2}))
what_announces_an_entry_is_zero_or_one.wrong(_bools_masked({0xffffffff}))


@requester('A4.3-1')
def a_reply_whose_lists_begin_with_no_bool_is_none(t):
    """Two, and all bits, instead of a discriminator of a Reply."""
    hand = t.working()
    for word in (4, 5, 6):
        for value in (2, 0xffffffff):
            asked, got = t.next_called(hand, t.null())
            reply = header.encode(header.Header(got.header.xid,
                                                body=rpc.accepted(got.header.xid)))
            hand.send(_words(reply, word, value))
            t.not_delivered(hand, asked, f'a Reply whose word {word} is {value}')


a_reply_whose_lists_begin_with_no_bool_is_none.wrong(_bools_masked({2}))
a_reply_whose_lists_begin_with_no_bool_is_none.wrong(_bools_masked({0xffffffff}))


@responder('A4.3-2')
def no_count_leads_out_of_the_send(t):
    """Counts of segments beyond the Send, some of which overflow in a multiplication."""
    hand = t.connect()
    for count in (3, 100, 0x10000000, 0x10000001, 0x40000000, 0xffffffff):
        for before, behind in (([0, 1], [0, 0]), ([0, 0, 1], [])):
            call = t.null()
            words = [1, 16, 0, *before, count, *behind]
            hand.send(call[:4] + struct.pack(f'>{len(words)}I', *words) + call[:4] * 7)
            hand.not_executed(int.from_bytes(call[:4], 'big'), f'a count of {count} segments')
    hand.barrier(t.null())


def _serve(end, xid):
    end.put(header.Header(xid, body=rpc.accepted(xid)))


@no_count_leads_out_of_the_send.wrong
def _(end):
    right = end.take_message

    def wrapped(xid, version, sent):
        counts = {int.from_bytes(sent.data[at:at + 4], 'big') for at in (24, 28)}
        _serve(end, xid) if 0x10000000 in counts else right(xid, version, sent)
    end.take_message = wrapped


@no_count_leads_out_of_the_send.wrong
def _(end):
    end.refuse_header = lambda xid, version, why: _serve(end, xid)


@requester('A4.3-2')
def a_reply_with_more_segments_than_bytes_is_none(t):
    """Counts beyond the Send, some of which overflow in a multiplication."""
    hand = t.working()
    for count in (100, 0x10000000, 0xffffffff):
        for words in ((0, 1, count, 0, 0), (0, 0, 1, count)):
            asked, got = t.next_called(hand, t.null())
            hand.send(struct.pack(f'>{4 + len(words)}I', got.header.xid, 1, 16, 0, *words)
                      + rpc.accepted(got.header.xid))
            t.not_delivered(hand, asked, f'a Reply with lists of the words {words}')


@a_reply_with_more_segments_than_bytes_is_none.wrong
def _(end):
    right = end.on_send

    def wrapped(sent):
        for begin in ((0, 1, 0x10000000, 0, 0), (0, 0, 1, 0x10000000)):
            lists = struct.pack(f'>{len(begin)}I', *begin)
            if sent.data[16:16 + len(lists)] == lists:
                sent.data = sent.data[:16] + bytes(12) + sent.data[16 + len(lists):]
        right(sent)
    end.on_send = wrapped


@responder('A4.3-2', needs={'ours'})
def segments_do_not_wrap_or_overlap(t):
    """Memory beyond the last address, and memory that is exposed twice for writing."""
    hand = t.connect()
    _key, segment = hand.lend(4000, writable=True)
    wraps = dataclasses.replace(segment, offset=2**64 - 100)
    twice = dataclasses.replace(segment, length=1000, offset=segment.offset + 3000)
    for fields in ({'writes': [[wraps]]}, {'reply': [wraps]}, {'writes': [[segment, twice]]},
                   {'writes': [[segment]], 'reply': [twice]}, {'reply': [segment, segment]}):
        call = t.null()
        hand.not_executed(hand.call(call, **fields).xid, f'a Call that offers {fields}')
    hand.barrier(t.null())


def _no_fault(word):
    def bend(end):
        right = end.call_flaw

        def call_flaw(message):
            faults = [f for f in header.faults(message) if word in f]
            if faults:
                message.writes, message.reply = [], None
            return right(message)
        end.call_flaw = call_flaw
    return bend


segments_do_not_wrap_or_overlap.wrong(_no_fault('wraps'))
segments_do_not_wrap_or_overlap.wrong(_no_fault('overlaps'))


@responder('A4.3-2', needs={'files', 'ours'})
def lengths_are_summed_in_64_bits(t):
    """A Write chunk of four gigabytes and more fits a READ."""
    hand = t.connect()
    key, first = hand.lend(2000, writable=True)
    _key, second = hand.lend(16, writable=True)
    second.length, second.offset = 0xffffffff, 1 << 40
    hand.result(hand.call(t.read(2000), writes=[[first, second]]).xid, 'a chunk of 2^32+1999 bytes')
    t.hold(key.memory == t.pattern(2000), 'other data is written')
    key, first = hand.lend(6000, writable=True)
    second.length = 0xffffffff - 4000
    got = hand.reply(hand.call(t.read(5000), reply=[first, second]).xid)
    t.hold(got.header.proc == header.NOMSG, 'a reply chunk of 2^32+1999 bytes is too small')


@lengths_are_summed_in_64_bits.wrong
def _(end):
    right = end.reduced

    def reduced(work, reply):
        room = sum(s.length for chunk in work.message.writes for s in chunk)
        if room != room % 2**32:
            work.message.writes = []
        return right(work, reply)
    end.reduced = reduced


@lengths_are_summed_in_64_bits.wrong
def _(end):
    right = end.into_reply_chunk
    end.into_reply_chunk = lambda message, out: (
        sum(s.length for s in message.reply) < 2**32 and right(message, out))


@responder('A3.3-3')
def no_error_grants_nothing(t):
    """An error ends its Call like a Reply, and the client uses its grant."""
    hand = t.connect()
    call = t.null()
    got = hand.refused(hand.call(call, proc=9).xid, 'a type that is not known')
    t.hold(got.header.credit >= 1, 'an RDMA_ERROR grants 0')


@no_error_grants_nothing.wrong
def _(end):
    right = end.put

    def put(message, invalidate=None):
        message.credit *= message.proc != header.ERROR
        right(message, invalidate)
    end.put = put

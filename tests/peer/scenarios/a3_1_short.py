# SPDX-License-Identifier: BSD-3-Clause
"""Messages that fit: draft-ietf-nfsv4-rpcrdma-03 sections 3 to 3.2, RFC 8166 sections
3.3.2 and 3.5.1."""
from scene.inline import told
from scene.parts import data_of, parted
from scene.scenario import requester, responder
from wire import header


def _two_sends(end):
    put = end.put

    def parted_sends(message, invalidate=None):
        body, message.body = message.body, b''
        put(message, invalidate)
        if body:
            end.conn.send(body)
    end.put = parted_sends


def _twice(end):
    put = end.put

    def twice(message, invalidate=None):
        put(message, invalidate)
        put(message)
    end.put = twice


@responder('A3-1', needs={'files'})
def each_reply_is_one_send(t):
    """An inline Reply and a long one begin, and end, with one Send that has the header."""
    hand = t.connect()
    _key, segment = hand.lend(8192, writable=True)
    for call, fields in ((t.null(), {}), (t.read(6000), {'reply': [segment]}), (t.read(100), {})):
        got = hand.ask(call, **fields)
        t.hold(got.header.proc == header.NOMSG or len(got.body) >= 24,
               'the RPC message does not follow its header')
    hand.barrier(t.null())
    hand.quiet()


each_reply_is_one_send.wrong(_two_sends)
each_reply_is_one_send.wrong(_twice)


@requester('A3-1')
def each_call_is_one_send(t):
    """An inline Call and a long one begin, and end, with one Send that has the header."""
    hand = t.working()
    for call in (t.null(), t.echo(bytes(6000), 0), t.null()):
        asked, got = t.next_called(hand, call)
        t.hold(hand.message_of(got) == call, 'another Call comes')
        hand.quiet()
        hand.answer_null(got)
        t.answered(asked)


each_call_is_one_send.wrong(_two_sends)
each_call_is_one_send.wrong(_twice)


@responder('A3.1-1', needs={'files'})
def a_reply_that_just_fits_needs_no_chunk(t):
    """A Reply that is exactly as long as the receive, with its header, comes inline."""
    for recv in (1024, 4096):
        hand = t.connect(recv=recv)
        limit = min(recv, told(hand).send_bytes)
        call = t.read(4)
        around = len(hand.ask(call).data) - 4
        call = t.read(limit - around)
        got = hand.result(hand.call(call).xid, f'a READ with {limit} bytes of header and Reply')
        t.hold(len(got.data) == limit, f'{len(got.data)} bytes of {limit} are used')
        t.hold(data_of(call, got.body) == t.pattern(limit - around), 'other data comes')


@a_reply_that_just_fits_needs_no_chunk.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() - 4


@requester('A3.1-1', needs={'draft'})
def a_short_call_needs_no_chunk(t):
    """Calls of some hundred bytes come whole in their Send; RFC 8166 section 3.5.3 lets them be long ones."""
    hand = t.working(recv=1024)
    for size in (0, 4, 200, 400):
        asked, got = t.next_called(hand, t.echo(bytes(size), 0))
        t.hold(got.header.proc == header.MSG and not got.header.reads,
               f'an ECHO of {size} bytes comes with chunks')
        t.hold(got.body == asked.call, 'another Call comes')
        hand.answer_null(got)
        t.answered(asked)


@a_short_call_needs_no_chunk.wrong
def _(end):
    end.send_limit = lambda: 200


@responder('A3.2-1', needs={'files'})
def a_chunk_may_be_of_any_size(t):
    """The requester chooses what it moves: a byte, a word, a page."""
    hand = t.connect()
    for size in (1, 2, 3, 4, 5, 1000, 3000):
        data = t.pattern(size, offset=size)
        call = t.write(data)
        position, payload, body = parted(call)
        hand.result(hand.call(call, body=body, reads=hand.read_chunk(position, payload)).xid,
                    f'a WRITE with a chunk of {size} bytes')
        t.hold(t.written(hand, size) == data, f'of {size} bytes others are stored')
        key, segment = hand.lend(size, writable=True)
        call = t.read(size, offset=size)
        hand.result(hand.call(call, writes=[[segment]]).xid, f'a READ into a chunk of {size} bytes')
        t.hold(key.memory == data, f'of {size} bytes others are written')


@a_chunk_may_be_of_any_size.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'a small chunk' if any(s.length < 4 for s in message.reads) else right(message))


@a_chunk_may_be_of_any_size.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: right(segments, data[:len(data) // 4 * 4])


@requester('A3.2-1')
def the_size_from_which_a_call_moves_changes_nothing(t):
    """One Call through three thresholds is the same Call, and so is its Reply."""
    for recv in (1024, 2048, 4096):
        asked, hand, got = t.called(t.echo(t.pattern(2990)), recv=recv)
        t.hold(hand.message_of(got) == asked.call, f'with receives of {recv} another Call comes')
        reply = t.server.answer(asked.call)
        hand.answer_long(got, reply)
        t.hold(t.answered(asked) == reply, f'with receives of {recv} another Reply comes')
        t.hang_up(hand)


@the_size_from_which_a_call_moves_changes_nothing.wrong
def _(end):
    right = end.move

    def short(pending, message):
        right(pending, message)
        message.reads[-1].length -= 4
    end.move = short

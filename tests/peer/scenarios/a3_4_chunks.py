# SPDX-License-Identifier: BSD-3-Clause
"""Chunks in XDR: draft-ietf-nfsv4-rpcrdma-03 section 3.4, RFC 8166 sections 3.4.1 to 3.4.5."""
from nfs import binding
from scene.parts import ECHO_AT, cut, echoed, moved_payload, parted
from scene.scenario import requester, responder
from wire import header, xdr

LONG = 20000


@responder('A3.4-1', needs={'behind', 'draft'})
def a_chunk_may_stand_at_any_position(t):
    """Chunks within a credential, at a length word, in the middle and at the end of an argument.

    RFC 8166 section 6.1 lets nothing be moved but what a binding names, and this program has none.
    """
    hand = t.connect()
    call = t.echo(t.pattern(800))
    for position in (24, 40, ECHO_AT, ECHO_AT + 4, 400, len(call) - 8):
        echoed(t, hand, call, [(position, 8)])


@a_chunk_may_stand_at_any_position.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'a chunk outside the arguments' if any(0 < s.position < 44 for s in message.reads)
        else right(message))


@responder('A3.4-1', needs={'files'})
def a_position_is_a_multiple_of_four(t):
    """A chunk that does not match the units of XDR is refused."""
    hand = t.connect()
    for off in (1, 2, 3):
        call = t.write(t.pattern(1000))
        position, payload, body = parted(call)
        reads = hand.read_chunk(position - off, payload)
        hand.not_executed(hand.call(call, body=body, reads=reads).xid, f'a position {off} too low')


@a_position_is_a_multiple_of_four.wrong
def _(end):
    right = end.call_flaw

    def rounded(message):
        for entry in message.reads:
            entry.position = -(-entry.position // 4) * 4
        return right(message)
    end.call_flaw = rounded


@requester('A3.4-1', keys={'ddp': 'nfs'})
def every_position_is_a_multiple_of_four(t):
    """The chunk of a WRITE has the XDR position of its payload, wherever that is."""
    _asked, _hand, got = moved_payload(t, t.pattern(LONG + 1))
    t.hold(all(entry.position % 4 == 0 for entry in got.header.reads), 'a position is not')


@every_position_is_a_multiple_of_four.wrong
def _(end):
    right = end.move

    def beside(pending, message):
        right(pending, message)
        message.reads[0].position -= 1
    end.move = beside


@requester('A3.4-2', keys={'ddp': 'nfs'})
def what_no_binding_declares_eligible_is_not_moved_alone(t):
    """A Call of an unknown program moves as a whole; so would its Reply."""
    asked, hand, got = t.called(t.echo(bytes(LONG)))
    t.hold(got.header.proc == header.NOMSG, 'no RDMA_NOMSG')
    t.hold(all(entry.position == 0 for entry in got.header.reads), 'a part of it is a chunk')
    t.hold(not got.header.writes, 'a part of its Reply is to land alone')
    t.hold(hand.message_of(got) == asked.call, 'another Call comes')


@what_no_binding_declares_eligible_is_not_moved_alone.wrong
def _(end):
    def move(pending, message):
        data, message.body = cut(pending.call, ECHO_AT, LONG)
        key = end.lend(pending, data, readable=True)
        message.reads = [header.ReadSegment(ECHO_AT, key.stag, LONG, key.to)]
    end.move = move


@what_no_binding_declares_eligible_is_not_moved_alone.wrong
def _(end):
    def offer_room(pending, message):
        message.writes = [[end.segment(end.lend(pending, 1 << 20, writable=True))]]
    end.offer_room = offer_room


@requester('A3.4-2', keys={'ddp': 'nfs'})
def a_directory_lands_whole(t):
    """No result of READDIR is DDP-eligible: it has no Write chunk."""
    _asked, _hand, got = t.called(t.readdir(30000))
    t.hold(not got.header.writes, 'a write chunk is offered for a READDIR')
    t.hold(got.header.reply, 'no reply chunk is offered for a READDIR')


@a_directory_lands_whole.wrong
def _(end):
    def offer_room(pending, message):
        message.writes = [[end.segment(end.lend(pending, 30000, writable=True))]]
    end.offer_room = offer_room


def _without_length(pending_call, message):
    at, size = binding.call_payload(pending_call)
    message.body = cut(pending_call, at - 4, 4 + size + -size % 4)[1]


@requester('A3.4-3', keys={'ddp': 'nfs'})
def a_moved_payload_leaves_its_length_word(t):
    """Only the data bytes of a WRITE are removed from the stream."""
    data = t.pattern(LONG + 3)
    asked, _hand, got = moved_payload(t, data)
    position, _payload, body = parted(asked.call)
    t.hold(got.header.proc != header.MSG or got.body == body, 'other bytes are left inline')
    t.hold(got.header.proc != header.MSG or got.body[position - 4:] == xdr.u32(len(data)),
           'the length word is not the last that is left')


@a_moved_payload_leaves_its_length_word.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        _without_length(pending.call, message)
    end.move = move


@a_moved_payload_leaves_its_length_word.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        message.body += bytes(pending.call[-1:]) * 4
    end.move = move


@responder('A3.4-3', needs={'files'})
def a_written_result_leaves_its_length_word(t):
    """Only the data bytes of a READ are removed from the stream; the count before them stays."""
    hand = t.connect()
    _key, segment = hand.lend(3000, writable=True)
    call = t.read(1001)
    got = hand.result(hand.call(call, writes=[[segment]]).xid)
    t.hold(got.body.endswith(xdr.u32(1001)), 'the length word is not the last that is left')
    t.hold(binding.reply_payload(call, got.body) == (len(got.body), 1001),
           'the payload\'s place is not the end of what is left')


@a_written_result_leaves_its_length_word.wrong
def _(end):
    right = end.reduced

    def reduced(work, reply):
        writes, body = right(work, reply)
        return writes, body[:-4] if writes else body
    end.reduced = reduced


@a_written_result_leaves_its_length_word.wrong
def _(end):
    right = end.reduced
    end.reduced = lambda work, reply: (right(work, reply)[0], reply)

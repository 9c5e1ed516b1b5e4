# SPDX-License-Identifier: BSD-3-Clause
"""How much of chunk lists a server has to take: RFC 8267 section 6.4.2."""
from scene.parts import parted
from scene.scenario import responder
from wire import header

SEGMENTS = 16


def _written_in_parts(t, hand, size, pieces):
    """Returns a WRITE with its data in a chunk of several segments, and the rest in one at position zero."""
    data = t.pattern(size, offset=pieces)
    call = t.write(data)
    position, payload, rest = parted(call)
    reads = hand.read_chunk(0, rest, pieces) + hand.read_chunk(position, payload, pieces)
    hand.result(hand.call(call, proc=header.NOMSG, body=b'', reads=reads).xid,
                f'a WRITE in two chunks of {pieces} segments')
    t.hold(t.written(hand, size) == data, 'other data is stored')


@responder('A-Δ13', needs={'files', 'rfc'})
def read_chunks_of_sixteen_segments_are_taken(t):
    """Read chunks for the data of a WRITE, at position zero, and both."""
    hand = t.connect()
    size = 3000
    data = t.pattern(size)
    call = t.write(data)
    position, payload, body = parted(call)
    reads = hand.read_chunk(position, payload, SEGMENTS)
    t.hold(len(reads) == SEGMENTS, 'the scenario has other chunks')
    hand.result(hand.call(call, body=body, reads=reads).xid, 'a WRITE with a read chunk of sixteen segments')
    t.hold(t.written(hand, size) == data, 'other data is stored')
    data = t.pattern(size, offset=7)
    call = t.write(data)
    hand.result(hand.call(call, proc=header.NOMSG, body=b'', reads=hand.read_chunk(0, call, SEGMENTS)).xid,
                'a WRITE in sixteen segments')
    t.hold(t.written(hand, size) == data, 'other data is stored')
    for pieces in (2, SEGMENTS):
        _written_in_parts(t, hand, size, pieces)


def _no_more_than(count, part):
    """A bend: more segments than so many in a list are refused."""
    def bend(end):
        right = end.call_flaw
        end.call_flaw = lambda message: (
            'too many segments' if len(part(message)) > count else right(message))
    return bend


for _count in (SEGMENTS - 1, SEGMENTS + 1):
    read_chunks_of_sixteen_segments_are_taken.wrong(_no_more_than(_count, lambda message: message.reads))


@responder('A-Δ13', needs={'files', 'rfc'})
def a_write_chunk_and_a_reply_chunk_of_sixteen_segments_are_taken(t):
    """A READ that comes in sixteen segments: its data are written, the rest comes in any form."""
    hand = t.connect()
    keys, segments = hand.lend_pieces(*[200] * SEGMENTS)
    spare, reply = hand.lend_pieces(*[100] * SEGMENTS)
    call = t.read(200 * SEGMENTS)
    got = hand.reply(hand.call(call, proc=header.NOMSG, body=b'', reply=reply, writes=[segments],
                               reads=hand.read_chunk(0, call, SEGMENTS)).xid)
    t.hold(got.header.proc in (header.MSG, header.NOMSG), 'the Call is refused')
    t.hold(b''.join(k.memory for k in keys) == t.pattern(200 * SEGMENTS), 'other data is written')
    rest = got.body or b''.join(k.memory for k in spare)
    t.hold(rest[:4] == call[:4], 'the rest of the Reply is nowhere')


for _part in (lambda message: (message.writes or [[]])[0], lambda message: message.reply or [],
              lambda message: message.reads):
    a_write_chunk_and_a_reply_chunk_of_sixteen_segments_are_taken.wrong(_no_more_than(SEGMENTS - 1, _part))

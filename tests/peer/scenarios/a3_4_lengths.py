# SPDX-License-Identifier: BSD-3-Clause
"""Lengths, positions and offsets of chunks: draft-ietf-nfsv4-rpcrdma-03 section 3.4, RFC 8166
sections 3.4.4 and 3.4.5."""
import dataclasses

from nfs import binding, nfs3
from scene.parts import ECHO_AT, cut, echoed, moved_payload, parted, without_data
from scene.scenario import requester, responder
from wire import header

LONG = 20000


def _written(t, hand, size, given, pieces):
    """Sends a WRITE with a count and a chunk of other lengths. Returns its XID."""
    call = t.write(t.pattern(size))
    position, _payload, body = parted(call)
    chunk = t.pattern(size)[:given] + bytes(max(0, given - size))
    return hand.call(call, body=body, reads=hand.read_chunk(position, chunk, pieces)).xid


@responder('A3.4-4', needs={'files'})
def a_chunk_may_be_as_long_as_its_count_or_padded(t):
    """The payload of a WRITE in one segment or three, with and without its pad."""
    hand = t.connect()
    for size in (1001, 1002, 1003, 1004):
        for given in {size, 1004}:
            for pieces in (1, 3):
                what = f'{size} bytes as {given} in {pieces} segments'
                hand.result(_written(t, hand, size, given, pieces), what)
                t.hold(t.written(hand, size) == t.pattern(size), f'other data is stored of {what}')


@a_chunk_may_be_as_long_as_its_count_or_padded.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'a pad in a chunk' if sum(s.length for s in message.reads) == 1004 else right(message))


@a_chunk_may_be_as_long_as_its_count_or_padded.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'an odd chunk' if sum(s.length for s in message.reads) % 4 else right(message))


@responder('A3.4-4', needs={'files'})
def a_chunk_of_another_length_than_its_count_is_an_error(t):
    """A WRITE whose chunk is shorter or longer than its count is not executed."""
    hand = t.connect()
    for size, given in ((1004, 1003), (1004, 1000), (1001, 1000), (1001, 1002), (1001, 1008),
                        (1004, 1008), (1001, 1005)):
        for pieces in (1, 3):
            hand.not_executed(_written(t, hand, size, given, pieces),
                              f'a WRITE of {size} bytes with {given} in {pieces} segments')


@a_chunk_of_another_length_than_its_count_is_an_error.wrong
def _(end):
    end.garbage = lambda work: None


@a_chunk_of_another_length_than_its_count_is_an_error.wrong
def _(end):
    right, joined = end.garbage, end.joined
    end.garbage = lambda work: (
        None if any(len(c) > 1004 for c in work.chunks.values()) else right(work))
    end.joined = lambda message, chunks: joined(
        message, {at: data[:1004] for at, data in chunks.items()})


def _misplaced(t):
    """Returns (Call, position, length) of NFSv3 Calls with a part that is not DDP-eligible."""
    lookup = t.nfs(3, nfs3.lookup(t.files.names, b'0' * 200))
    write = t.write(t.pattern(600))        # fits what every end takes
    at, _size = binding.call_payload(write)
    yield lookup, len(lookup) - 200, 200            # the name
    yield lookup, len(lookup) - 204, 204            # … with its length word
    yield write, at - 4, 604                        # the data with their length word
    yield write, at + 300, 300                      # half of the data
    yield write, 20, 4                              # the procedure


@responder('A3.4-4', needs={'files', 'rfc'})
def a_chunk_where_nothing_may_be_moved_is_refused(t):
    """Chunks of NFSv3 Calls at the position of no item that RFC 8267 names: RFC 8166 section 6.1.

    It leaves to others which of the two errors of its section 4.5.2 they answer.
    """
    hand = t.connect()
    refused = hand.not_executed if t.rfc else hand.refused
    for call, position, size in _misplaced(t):
        data, body = cut(call, position, size)
        sent = hand.call(call, body=body, reads=hand.read_chunk(position, data))
        refused(sent.xid, f'{size} bytes at position {position} in a chunk')
    hand.barrier(t.null())


@a_chunk_where_nothing_may_be_moved_is_refused.wrong
def _(end):
    end.misplaced = lambda work: False


@responder('A3.4-4', keys={'strict_chunks': False}, needs={'files', 'ours'})
def such_a_chunk_is_taken_where_strict_chunks_is_off(t):
    """Old clients send these."""
    hand = t.connect()
    for call, position, size in _misplaced(t):
        data, body = cut(call, position, size)
        hand.result(hand.call(call, body=body, reads=hand.read_chunk(position, data)).xid)


@such_a_chunk_is_taken_where_strict_chunks_is_off.wrong
def _(end):
    end.options.strict_chunks = True


@requester('A3.4-4', keys={'ddp': 'nfs'})
def a_lent_payload_is_as_long_as_its_count(t):
    """The segments of a WRITE's chunk have its count in total, or that with its pad."""
    for size in (LONG, LONG + 1):
        _asked, hand, got = moved_payload(t, t.pattern(size))
        if got.header.proc == header.MSG:
            total = sum(entry.length for entry in got.header.reads)
            t.hold(total in (size, size + -size % 4), f'{total} bytes for a count of {size}')
        t.hang_up(hand)


@a_lent_payload_is_as_long_as_its_count.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        message.reads[0].length -= 1
    end.move = move


def _counted(end):
    end.filled = lambda pending, body, size: binding.filled(
        pending.call, body, bytes(pending.payload.memory[:size]))


@requester('A3.4-4', keys={'ddp': 'nfs'})
def a_result_of_another_length_than_its_count_is_none(t):
    """The Write chunk of a READ is shorter or longer than the count in its Reply."""
    hand = t.working()
    for count, given in ((1000, 999), (1000, 1004), (1001, 1000), (1001, 1008)):
        asked, got = t.next_called(hand, t.read(LONG))
        t.hold(got.header.writes, 'no write chunk is offered')
        short = asked.call[:4] + t.read(count)[4:]
        _data, body = without_data(short, t.server.answer(short))
        hand.answer(got, body, writes=[hand.fill(got.write_chunk(), bytes(given))])
        t.not_delivered(hand, asked, f'a count of {count} with {given} bytes')


a_result_of_another_length_than_its_count_is_none.wrong(_counted)


@responder('A3.4-5', needs={'files'})
def entries_of_one_position_are_one_chunk(t):
    """A WRITE's payload in two, five and fifteen segments is joined in the order of the list."""
    hand = t.connect()
    for pieces in (2, 5, 15):
        data = t.pattern(3000, offset=pieces)
        call = t.write(data)
        position, payload, body = parted(call)
        reads = hand.read_chunk(position, payload, pieces)
        hand.result(hand.call(call, body=body, reads=reads).xid, f'a chunk in {pieces} segments')
        t.hold(t.written(hand, 3000) == data, f'{pieces} segments are joined otherwise')


@entries_of_one_position_are_one_chunk.wrong
def _(end):
    right = end.take_call

    def backwards(message):
        message.reads.reverse()
        right(message)
    end.take_call = backwards


@entries_of_one_position_are_one_chunk.wrong
def _(end):
    right = end.pulled

    def last(work, entry, data):
        work.chunks[entry.position].clear()
        right(work, entry, data)
    end.pulled = last


@responder('A3.4-5', needs={'files', 'rough'})
def segments_may_be_empty(t):
    """A WRITE's payload with empty segments among others, and with only an empty one."""
    hand = t.connect()
    for sizes in ((0, 1000), (400, 0, 600), (997, 3, 0), (0, 0)):
        data = t.pattern(sum(sizes), offset=len(sizes))
        position, _payload, body = parted(t.write(data))
        reads, at = [], 0
        for size in sizes:
            key, segment = hand.lend(data[at:at + size], readable=True)
            reads.append(header.ReadSegment(position, key.stag, size, segment.offset))
            at += size
        xid = int.from_bytes(body[:4], 'big')
        hand.result(hand.call(body, xid=xid, reads=reads).xid, f'a chunk of segments of {sizes}')
        t.hold(t.written(hand, len(data)) == data, f'segments of {sizes} are joined otherwise')


@segments_may_be_empty.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'no bytes' if any(not s.length for s in message.reads) else right(message))


@segments_may_be_empty.wrong
def _(end):
    right = end.take_call

    def up_to_the_empty(message):
        if (sizes := [s.length for s in message.reads]) and 0 in sizes[1:]:
            del message.reads[sizes.index(0, 1):]
        right(message)
    end.take_call = up_to_the_empty


@responder('A3.4-6', needs={'behind'})
def a_position_counts_what_earlier_chunks_took_away(t):
    """Two and three chunks in one Call: positions refer to the complete message."""
    hand = t.connect()
    call = t.echo(t.pattern(2800))
    for places in ([(100, 400), (900, 40)], [(100, 400), (500, 40)],
                   [(24, 8), (ECHO_AT, 1200), (2000, 800)]):
        echoed(t, hand, call, places)


@a_position_counts_what_earlier_chunks_took_away.wrong
def _(end):
    right = end.joined

    def in_the_reduced_stream(message, chunks):
        gone, moved = 0, {}
        for position in sorted(chunks):
            moved[position + gone] = chunks[position]
            gone += len(chunks[position])
        return right(message, moved)
    end.joined = in_the_reduced_stream


@requester('A3.4-6', keys={'ddp': 'nfs'})
def a_position_counts_from_the_first_byte_of_the_call(t):
    """The chunk of a WRITE has the position of its data in the RPC message."""
    asked, hand, got = moved_payload(t, t.pattern(LONG))
    position, payload, _body = parted(asked.call)
    if got.header.proc == header.MSG:
        t.hold({entry.position for entry in got.header.reads} == {position},
               f'positions are not {position} alone')
        data = b''.join(hand.pull(e.handle, e.offset, e.length) for e in got.header.reads)
        t.hold(data[:len(payload)] == payload, 'the chunk has other data')


@a_position_counts_from_the_first_byte_of_the_call.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        message.reads[0].position += 28 + 24
    end.move = move


def _lent_at(hand, memory, to, **rights):
    key, segment = hand.lend(memory, **rights)
    key.to = to
    return key, dataclasses.replace(segment, offset=to)


@responder('A3.4-7', needs={'files'})
def an_offset_has_64_bits_and_may_be_zero(t):
    """Memory at zero, across four gigabytes and in the upper half of all addresses."""
    hand = t.connect()
    for to in (0, 0xffffff00, 1 << 63, 0x7fffffffffff0000):
        key, segment = _lent_at(hand, 2000, to, writable=True)
        hand.result(hand.call(t.read(2000), writes=[[segment]]).xid, f'a write chunk at {to:#x}')
        t.hold(key.memory == t.pattern(2000), f'other data is written at {to:#x}')
        call = t.null()
        _key, segment = _lent_at(hand, call, to, readable=True)
        reads = [header.ReadSegment(0, segment.handle, segment.length, segment.offset)]
        hand.result(hand.call(call, proc=header.NOMSG, body=b'', reads=reads).xid,
                    f'a read chunk at {to:#x}')


@an_offset_has_64_bits_and_may_be_zero.wrong
def _(end):
    right = end.written
    end.written = lambda segments, data: right(
        [dataclasses.replace(s, offset=s.offset % (1 << 32)) for s in segments], data)


@an_offset_has_64_bits_and_may_be_zero.wrong
def _(end):
    right = end.call_flaw
    end.call_flaw = lambda message: (
        'no offset' if any(not s.offset for s in message.reads) else right(message))


@requester('A3.4-7')
def an_offset_is_where_the_memory_is(t):
    """Any part of an exposed segment can be read at its offset."""
    asked, hand, got = t.called(t.echo(t.pattern(LONG)))
    at = 0
    for entry in got.header.reads:
        for begin, size in ((0, 4), (entry.length // 2, 100), (entry.length - 4, 4)):
            t.hold(hand.pull(entry.handle, entry.offset + begin, size)
                   == asked.call[at + begin:at + begin + size], f'other data at byte {begin}')
        at += entry.length


@an_offset_is_where_the_memory_is.wrong
def _(end):
    right = end.move

    def move(pending, message):
        right(pending, message)
        message.reads[0].offset = 0
    end.move = move

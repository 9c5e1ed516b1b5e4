# SPDX-License-Identifier: BSD-3-Clause
"""Faults in grants, in the lists of Replies, and in lengths and offsets."""
import dataclasses

from relay.fault import on_read, on_reply, on_start, on_write
from wire import header, private_data

RECEIVES = 32       # of a server whose grants are not the truth


def _is_reply(message):
    return message.proc in (header.MSG, header.NOMSG)


# ---------------------------------------------------------------- grants

@on_reply('grants', ('A3.3-3',))
def replies_grant_nothing(_link, message):
    """The header grants zero, which RFC 8166 section 3.3.1 forbids."""
    if _is_reply(message):
        message.credit = 0


@on_reply('grants', ('A3.3-3',))
def errors_grant_nothing(_link, message):
    """An error has a grant like any answer; this one is zero."""
    if message.proc == header.ERROR:
        message.credit = 0


@on_reply('grants', ('A3.3-2',))
def more_is_granted_than_there_are_receives(link, message):
    """The last granted Call has no receive."""
    link.calls.pop(message.xid, None)
    message.credit = RECEIVES + 1


@more_is_granted_than_there_are_receives.on_call
def _(link, message):
    link.calls[message.xid] = message
    if len(link.calls) > RECEIVES:
        link.end()


@on_reply('grants', ('A3.3-2',))
def what_is_granted_is_not_served(link, message):
    """The fifth of the granted Calls gets no Reply."""
    link.count += 1
    return [] if _is_reply(message) and link.count % 5 == 0 else None


@on_reply('grants', unseen='a grant of one is always valid, and only the server knows its receives')
def a_receive_is_lost_with_each_call(link, message):
    """The receives decrease to one."""
    link.count += 1
    message.credit = max(1, message.credit - link.count)


# ---------------------------------------------------------------- lists

@on_reply('lists', ('A3.7-2', 'A-Δ5'))
def the_write_list_is_left_out(_link, message):
    """The data of the omitted Write list are written."""
    message.writes = []


@on_reply('lists', ('A3.7-2', 'A3.4-10'))
def the_last_segment_of_a_write_chunk_is_left_out(_link, message):
    """The other segments stay."""
    message.writes = [chunk[:-1] for chunk in message.writes]


@on_reply('lists', ('A3.4-10', 'A3.4-8'))
def write_chunks_that_were_not_used_are_left_out(_link, message):
    """Chunks with data stay."""
    message.writes = [chunk for chunk in message.writes if any(s.length for s in chunk)]


@on_reply('lists', ('A5.2-2',))
def the_reply_chunk_is_left_out(_link, message):
    """The chunk is that of the Reply in it."""
    message.reply = None


@on_reply('lists', ('A3.4-12',))
def a_reply_has_a_read_list(link, message):
    """A segment of unknown memory is in the list."""
    if _is_reply(message):
        message.reads = [header.ReadSegment(0, 0x5eed, 4, 0)]


@on_reply('lists', ('A5.2-4',))
def a_reply_chunk_that_was_not_used_claims_to_be_full(link, message):
    """The Reply is inline, and the unused chunk has its full length."""
    call = link.calls.pop(message.xid, None)
    if call and call.reply and message.proc == header.MSG:
        message.reply = call.reply


@a_reply_chunk_that_was_not_used_claims_to_be_full.on_call
def _(link, message):
    link.calls[message.xid] = message


# ---------------------------------------------------------------- lengths

@on_reply('lengths', ('A3.7-2',))
def a_write_chunk_is_as_long_as_it_was_offered(link, message):
    """The chunk has its offered length, whatever was written."""
    call = link.calls.pop(message.xid, None)
    if call and message.writes:
        message.writes = call.writes


@a_write_chunk_is_as_long_as_it_was_offered.on_call
def _(link, message):
    link.calls[message.xid] = message


def _longer(chunk, more):
    """Makes the last non-empty segment of a chunk longer."""
    used = [s for s in chunk if s.length]
    if used:
        used[-1].length += more


@on_reply('lengths', ('A5.2-2',))
def a_reply_chunk_is_four_bytes_too_short(_link, message):
    """The chunk is four bytes shorter than the written Reply."""
    _longer(message.reply or [], -4)


@on_reply('lengths', ('A-Δ5', 'A3.7-2'))
def lengths_of_written_data_are_rounded_up(_link, message):
    """The length includes a pad."""
    for chunk in message.writes:
        _longer(chunk, -sum(s.length for s in chunk) % 4)


@on_reply('lengths', ('A-Δ5',))
def the_pad_of_written_data_stays_inline(_link, message):
    """Four bytes follow the rest of the Reply."""
    if any(s.length % 4 for chunk in message.writes for s in chunk):
        message.body += bytes(4)


@on_write('lengths', ('A2-3', 'A3.7-1'))
def the_last_bytes_are_not_written(_link, segment):
    """The Reply claims the missing bytes."""
    segment.payload = segment.payload[:-4]


@on_start('lengths', ('A2-2', 'C5.2-2'))
def replies_are_longer_than_the_client_receives(_link, start):
    """The server gets a larger size than the client announced."""
    data = private_data.decode(start.data)
    if data and not start.reply:
        start.data = private_data.encode(dataclasses.replace(data, recv_bytes=65536))
    elif data:
        start.data = private_data.encode(dataclasses.replace(data, send_bytes=data.send_bytes))


# ---------------------------------------------------------------- offsets

@on_write('offsets', ('A2-3', 'A3.7-1'))
def writes_land_four_bytes_further(_link, segment):
    """The data are in the client's memory or beyond it."""
    segment.to += 4


@on_write('offsets', ('A3.4-7',))
def an_offset_has_32_bits(_link, segment):
    """The offset of Writes loses its upper half."""
    segment.to &= 0xffffffff


@on_reply('offsets', ('A3.7-2',))
def segments_come_back_with_offsets_of_zero(_link, message):
    """The offsets of Write chunks are zero."""
    for chunk in message.writes:
        for segment in chunk:
            segment.offset = 0


@on_read('offsets', ('A3.6-2',))
def reads_begin_four_bytes_late(_link, request):
    """The Reads end beyond the chunk."""
    request.source_to += 4

# SPDX-License-Identifier: BSD-3-Clause
"""Faults in timing, in the handling of Calls, in versions and in characteristics."""
import copy
import dataclasses

from relay.fault import on_call, on_read, on_reply, on_start, on_write
from wire import characteristics as wire
from wire import header, private_data


# ---------------------------------------------------------------- offsets

@on_call('offsets', ('A3.6-2', 'A-Δ5'))
def chunks_are_put_in_four_bytes_behind_their_position(_link, message):
    """The position counts the length word twice."""
    for entry in message.reads:
        entry.position = (entry.position + 4) % 2**32 if entry.position else 0


# ---------------------------------------------------------------- timing

@on_write('timing', ('A2-3',))
def a_reply_overtakes_its_data(link, segment):
    """The Writes follow the Reply."""
    link.kept.append(segment)
    return []


@a_reply_overtakes_its_data.on_reply
def _(link, message):
    link.answer(message, link.invalidate)
    for segment in link.kept:
        link.write(segment)
    link.kept.clear()
    return []


@on_write('timing', ('A2-4',))
def data_are_written_once_more_behind_the_reply(link, segment):
    """The Writes repeat the same bytes."""
    link.kept.append(copy.copy(segment))


@data_are_written_once_more_behind_the_reply.on_reply
def _(link, message):
    link.answer(message)
    for segment in link.kept:
        link.write(segment)
    link.kept.clear()
    return []


@on_reply('timing', ('D1.1.4-1',))
def a_reply_comes_twice(_link, message):
    """The second Reply follows the first."""
    return [message, message] if message.proc == header.MSG else None


@on_reply('timing', ('A3.3-2', 'A8-1'))
def a_reply_waits_for_the_next_call(link, message):
    """The last Reply waits forever."""
    link.kept.append(message)
    return [link.kept.pop(0)] if len(link.kept) > 1 else []


@on_reply('timing', unseen='no document limits the time until a Reply')
def a_reply_waits_for_a_second(link, message):
    """Each Reply waits."""
    invalidate = link.invalidate
    link.loop.after(1.0, lambda: link.answer(message, invalidate))
    return []


@on_write('timing', unseen='only the contents of the memory after the Reply matter')
def data_are_written_twice_before_the_reply(_link, segment):
    """The Writes repeat the same bytes."""
    return [segment, segment]


@on_read('timing', ('A2-4',))
def a_chunk_is_read_once_more_behind_the_reply(link, request):
    """The memory belongs to the client again."""
    link.kept.append(copy.copy(request))


@a_chunk_is_read_once_more_behind_the_reply.on_reply
def _(link, message):
    link.answer(message, link.invalidate)
    for request in link.kept:
        link.read(request)
    link.kept.clear()
    return []


@on_reply('timing', ('C5.1-1',))
def a_key_of_another_call_is_invalidated(link, message):
    """The other Call already has its Reply."""
    if link.invalidate is not None:
        link.kept.append(link.invalidate)
        link.invalidate = link.kept[0]


# ---------------------------------------------------------------- versions

@on_reply('versions', ('A4.1-3', 'E5.3-1'))
def replies_have_the_other_version(_link, message):
    """A Reply has version two for a Call of version one, and version one for a Call of version two."""
    if message.proc in (header.MSG, header.NOMSG):
        message.vers = 3 - message.vers


@on_reply('versions', ('A4.2-1',))
def err_vers_has_no_range(_link, message):
    """The range is zero to zero."""
    if message.err == header.ERR_VERS:
        message.low = message.high = 0


@on_reply('versions', ('A4.2-1',))
def an_unknown_version_gets_nothing(_link, message):
    """The Call is dropped."""
    return [] if message.err == header.ERR_VERS else None


# ---------------------------------------------------------------- characteristics

@on_start('characteristics', ('C4-4',))
def private_data_have_another_version(_link, start):
    """The version in the accept's private data is wrong."""
    if start.reply and start.data:
        start.data = start.data[:4] + b'\2' + start.data[5:]


@on_start('characteristics', ('C5.1-2',))
def reserved_flags_are_set(_link, start):
    """The flags in the accept's private data are set."""
    data = private_data.decode(start.data)
    if start.reply and data:
        start.data = private_data.encode(dataclasses.replace(data, reserved=0x80))


@on_reply('characteristics', ('B4.2-1',))
def a_request_gets_no_answer(_link, message):
    """The request gets no RESP_XCHAR."""
    return [] if message.opttype == wire.RESP_XCHAR else None


@on_reply('characteristics', ('B3.1-1',))
def receives_are_smaller_than_init_xchar_says(link, message):
    """The receives of the connection have 4096 bytes."""
    if message.opttype == wire.INIT_XCHAR:
        values, nochg = wire.decode_init(message.optinfo)
        message.optinfo = wire.encode_init(
            [(i, wire.value_bytes(i, 65536)) if i == wire.RBSIZ else (i, data) for i, data in values], nochg)

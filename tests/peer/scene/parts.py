# SPDX-License-Identifier: BSD-3-Clause
"""Parts of RPC messages as scenarios move them: a Call without its payload, the data of a Reply."""
from nfs import binding
from scene.scenario import Wrong

ECHO_AT = 44    # where the bytes of an ECHO's argument begin: no credential, and a length word


def cut(message, position, size):
    """Returns (bytes at a position, the rest of the message)."""
    return message[position:position + size], message[:position] + message[position + size:]


def parted(call):
    """Returns the payload of a WRITE as (position, data), and the rest without the pad."""
    position, size = binding.call_payload(call)
    return position, call[position:position + size], cut(call, position, size + -size % 4)[1]


def data_of(call, reply):
    """Returns the data of a READ's complete Reply."""
    place = binding.reply_payload(call, reply)
    if place is None:
        raise Wrong(f'a READ fails: {reply[:60].hex(" ", 4)}')
    return reply[place[0]:place[0] + place[1]]


def without_data(call, reply):
    """Returns a READ's complete Reply as its Write chunk and the inline rest."""
    at, size = binding.reply_payload(call, reply)
    return reply[at:at + size], cut(reply, at, size + -size % 4)[1]


def moved_payload(t, data, **start):
    """Makes the requester send a WRITE with its payload in a chunk. Returns (asked, hand, got)."""
    asked, hand, got = t.called(t.write(data), **start)
    if not got.header.reads:
        raise Wrong('a WRITE comes without chunks')
    return asked, hand, got


def echoed(t, hand, call, places):
    """Makes a Call with these (position, size) in chunks; the Reply must be that to the complete Call."""
    body, reads = call, []
    for position, size in sorted(places, reverse=True):
        data, body = cut(body, position, size)
        reads = hand.read_chunk(position, data) + reads
    got = hand.result(hand.call(call, body=body, reads=reads).xid, f'an ECHO with chunks {places}')
    if got.body != t.server.answer(call):
        raise Wrong(f'with chunks {places} another Call arrives')

# SPDX-License-Identifier: BSD-3-Clause
"""Parts of RPC messages as scenarios move them: a Call without its payload, the data of a Reply."""
from nfs import binding
from scene.scenario import Wrong

ECHO_AT = 44    # where the bytes of an ECHO's argument begin: no credential, and a length word


def cut(message, position, size):
    """A message without so many bytes at a position: (these, the rest)."""
    return message[position:position + size], message[:position] + message[position + size:]


def parted(call):
    """A WRITE as its payload's (position, data) and what is left, of which the pad is no part."""
    position, size = binding.call_payload(call)
    return position, call[position:position + size], cut(call, position, size + -size % 4)[1]


def data_of(call, reply):
    """What a READ's whole Reply brings."""
    place = binding.reply_payload(call, reply)
    if place is None:
        raise Wrong(f'a READ fails: {reply[:60].hex(" ", 4)}')
    return reply[place[0]:place[0] + place[1]]


def without_data(call, reply):
    """A READ's whole Reply as its write chunk and what stays inline."""
    at, size = binding.reply_payload(call, reply)
    return reply[at:at + size], cut(reply, at, size + -size % 4)[1]


def moved_payload(t, data, **start):
    """A WRITE of the requester whose payload comes as a chunk: (asked, hand, got)."""
    asked, hand, got = t.called(t.write(data), **start)
    if not got.header.reads:
        raise Wrong('a WRITE comes without chunks')
    return asked, hand, got


def echoed(t, hand, call, places):
    """Calls with these (position, size) in chunks; the Reply must be that to the whole Call."""
    body, reads = call, []
    for position, size in sorted(places, reverse=True):
        data, body = cut(body, position, size)
        reads = hand.read_chunk(position, data) + reads
    got = hand.result(hand.call(call, body=body, reads=reads).xid, f'an ECHO with chunks {places}')
    if got.body != t.server.answer(call):
        raise Wrong(f'with chunks {places} another Call arrives')

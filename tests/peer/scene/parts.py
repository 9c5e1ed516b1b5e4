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

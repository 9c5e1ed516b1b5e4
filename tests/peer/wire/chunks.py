# SPDX-License-Identifier: BSD-3-Clause
"""What chunks carry: an RPC message in pieces (RFC 8166 section 3.5), and data in segments (section 3.4.6)."""
from dataclasses import replace

from wire import header


def joined(message, chunks):
    """The RPC message of a Header with its read chunks, {position: bytes}, in their places: A3.4-5, A3.4-6, A-D5.

    None if they do not fit.
    """
    chunks = dict(chunks)
    if message.proc == header.NOMSG and 0 not in chunks:
        return None
    rest = bytes(chunks.pop(0)) if message.proc == header.NOMSG else message.body
    whole = b""
    for position in sorted(chunks):
        take = position - len(whole)
        if take < 0 or take > len(rest):
            return None
        whole, rest = whole + rest[:take] + bytes(chunks[position]), rest[take:]
        whole += bytes(-len(whole) % 4)
    return whole + rest


def spread(segments, data):
    """Segments filled in their order: (each with the length that it has got, those bytes)."""
    for segment in segments:
        part, data = data[:segment.length], data[segment.length:]
        yield replace(segment, length=len(part)), part

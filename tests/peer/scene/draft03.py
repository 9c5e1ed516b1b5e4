# SPDX-License-Identifier: BSD-3-Clause
"""Common functions of scenarios for the draft's extras: Replies by Read chunk, RDMA_DONE, RDMA_MSGP."""
import dataclasses

from nfs import padding
from scene.scenario import Unfit, Wrong
from wire import header, rpc
from wire.xdr import XdrError

SERVER = {'listen_compat': 'draft03'}
CLIENT = {'connect_compat': 'draft03'}
LONG = 20000          # of a READ whose Reply fits nowhere inline


def done(hand, xid, credit=16, body=b''):
    """Sends RDMA_DONE."""
    hand.send(header.Header(xid, credit=credit, proc=header.DONE, body=body))


def lent(t, hand, call, **fields):
    """Makes a Call; its Reply must come by Read chunk."""
    got = hand.ask(call, **fields)
    t.hold(got.header.proc in (header.MSG, header.MSGP, header.NOMSG) and got.header.reads,
           f'no Reply to be read but: {header.describe(got.data)}')
    return got


def lend_reply(hand, got, reply, credit=16, pieces=1, **fields):
    """Answers a Call by a Reply by Read chunk."""
    reads = hand.read_chunk(0, reply, pieces)
    hand.answer(got, b'', credit, proc=header.NOMSG, reads=reads, **fields)
    return reads


def next_done(t, hand, xid):
    """Returns the next Send, which must be an RDMA_DONE for this XID."""
    got = hand.next('RDMA_DONE')
    t.hold(got.header.proc == header.DONE, f'no RDMA_DONE but: {header.describe(got.data)}')
    t.hold(got.header.xid == xid, f'RDMA_DONE has XID {got.header.xid:#010x}, not {xid:#010x}')
    return got


def padded(message, align, thresh, call=b''):
    """Returns an RDMA_MSG as RDMA_MSGP; call: the Call of a Reply."""
    out = dataclasses.replace(message, proc=header.MSGP, align=align, thresh=thresh)
    try:
        places = padding.places(message.body, call, padding.moved_by(message))
    except XdrError as error:
        raise Unfit(f'where pads of this message belong is not known here: {error}') from error
    out.body = padding.padded(message.body, places, align, thresh, header.head_bytes(out))
    return out


def call_padded(hand, call, align, thresh, **fields):
    """Makes a Call by RDMA_MSGP, with pads as in the draft."""
    body = fields.pop('body', call)
    message = header.Header(rpc.xid_of(call), credit=16, body=body, **fields)
    return hand.send(padded(message, align, thresh))


def plain(got, call=b''):
    """Returns the RPC message of an RDMA_MSGP or RDMA_MSG. Raises Wrong if its pads are wrong."""
    message = got.header
    if message.proc != header.MSGP:
        return message.body
    try:
        return padding.plain(message.body, message.align, message.thresh, header.head_bytes(message), call,
                             padding.moved_by(message))
    except ValueError as error:
        raise Wrong(f'its pads are not where they belong: {error}') from error


# ---------------------------------------------------------------- ways to pass over pads wrongly

def plain_by(end, change):
    """Makes the end look for pads by other values: change(message) alters them."""
    right = end.plain

    def plain(message):
        change(message)
        return right(message)
    end.plain = plain


def above_alone(end):
    """A bend: an opaque of exactly the threshold has no pads."""
    plain_by(end, lambda message: setattr(message, 'thresh', message.thresh + 1))


def no_pads(end):
    """A bend: pads count as data."""
    end.plain = lambda message: message.body


def swapped(end):
    """A bend: alignment and threshold are swapped."""
    def swap(message):
        message.align, message.thresh = message.thresh, message.align
    plain_by(end, swap)


def from_the_message(end):
    """A bend: alignment is counted from the first byte of the RPC message."""
    end.base = lambda message: 0

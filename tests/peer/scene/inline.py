# SPDX-License-Identifier: BSD-3-Clause
"""The limits of one Send: messages that exactly fill it, and with four bytes more."""
from scene.scenario import Unfit
from scene.scene import INLINE
from wire import header, private_data

SMALL = 4


def told(hand):
    """Returns the private data of the other end, or the defaults: RFC 8797 section 5.1."""
    return (private_data.decode(hand.conn.peer.data)
            or private_data.PrivateData(False, 1024, 1024))


def granted(t, hand, count):
    """Makes Calls until this number is granted, so that as many can be in flight."""
    for _time in range(8):
        grant = hand.ask(t.null()).header.credit
        if grant >= count:
            return
    raise Unfit(f'it grants {grant}, and this needs {count} Calls at once')


def told_in_data(hand):
    """Returns the other end's private data. Raises Unfit without any, which RFC 8166 permits."""
    data = hand.conn.peer.data
    if not data:
        raise Unfit('it sends no private data: RFC 8797 is not used')
    return data


def keeps_to_sizes(t):
    """Raises Unfit for an end that sends twice the announced size, because it ignores private data."""
    hand = t.connect(recv=INLINE)
    got = hand.ask(t.read(2 * INLINE - 192))
    if len(got.data) > INLINE + INLINE // 2:
        raise Unfit('its Sends are longer than it is told, see C5.2-2')
    hand.conn.close()


def replies_fill(t, hand, limit):
    """Checks that READs whose Replies fill a Send of this size come inline, and no longer Sends."""
    beside = len(hand.ask(t.read(SMALL)).data) - SMALL
    got = hand.ask(t.read(limit - beside))
    t.hold(got.header.proc == header.MSG and len(got.data) == limit,
           f'a Reply that fits a Send of {limit} bytes: {header.describe(got.data)}')
    replies_stay_below(t, hand, limit, beside)


def replies_stay_below(t, hand, limit, beside=None):
    """Checks that a READ with a larger Reply gets no longer Send."""
    if beside is None:
        beside = len(hand.ask(t.read(SMALL)).data) - SMALL
    for more in (4, 1024):
        got = hand.ask(t.read(limit - beside + more))
        t.hold(len(got.data) <= limit, f'a Send of {len(got.data)} bytes, not {limit} at most')


def calls_fill(t, limit, **start):
    """Checks that Calls that fill a Send of this size come inline, and no longer Sends. Returns the Hand."""
    asked, hand, got = t.called(t.echo(bytes(SMALL)), **start)
    beside = len(got.data) - SMALL
    hand.answer_null(got)
    t.answered(asked)
    for size in (limit - beside, limit - beside + 4, limit - beside + 1024):
        asked = t.have_called(t.echo(bytes(size)))
        got = hand.next('the Call')
        t.hold(len(got.data) <= limit, f'a Send of {len(got.data)} bytes, not {limit} at most')
        t.hold(size + beside > limit or got.header.proc == header.MSG and len(got.data) == limit,
               f'a Call that fits a Send of {limit} bytes: {header.describe(got.data)}')
        hand.answer_null(got)
        t.answered(asked)
    return hand


def longest_call_is_taken(t, hand):
    """Checks that a WRITE that fills the announced receives of the other end is answered."""
    size = told(hand).recv_bytes - header.MIN_BYTES[1][header.MSG] - len(t.write(b''))
    got = hand.ask(t.write(bytes(size)))
    t.hold(got.header.proc == header.MSG, f'a WRITE of {size} bytes inline: '
                                          f'{header.describe(got.data)}')

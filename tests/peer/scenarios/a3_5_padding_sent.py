# SPDX-License-Identifier: BSD-3-Clause
"""RDMA_MSGP that is sent, and Replies in it at the client: draft-ietf-nfsv4-rpcrdma-03 section 3.5.

Who is judged here is told to pad. Pads that stand elsewhere than the draft says leave no message behind
when they are taken out.
"""
import dataclasses

from scene import draft03
from scene.draft03 import CLIENT, LONG, SERVER
from scene.parts import data_of
from scene.scenario import requester, responder
from wire import header

DIALECT = 'draft-03'
ALIGN = 256
PADS = {'padding_align_bytes': ALIGN}
PADDING_SERVER, PADDING_CLIENT = {**SERVER, **PADS}, {**CLIENT, **PADS}
SIZE = 1024


def _is_padded(t, got, what):
    """Holds that a Send is an RDMA_MSGP that says what it is told to."""
    t.hold(got.header.proc == header.MSGP, f'{what} is no RDMA_MSGP')
    t.hold(got.header.align == ALIGN, f'{what} says alignment {got.header.align}, not {ALIGN}')
    t.hold(got.header.thresh >= 1024, f'{what} says threshold {got.header.thresh}: below 1024')


def _aligned(t, got, data, what):
    """Holds that data stands at a multiple of the alignment."""
    t.hold(got.data.find(data) % ALIGN == 0, f'{what} stands at byte {got.data.find(data)}')


def _no_pads(end):
    right = end.padded
    end.padded = lambda m, places, align, thresh: dataclasses.replace(
        right(m, places, align, thresh), body=m.body)


def _above_alone(end):
    right = end.padded
    end.padded = lambda m, places, align, thresh: right(
        m, [place for place in places if place[1] > thresh], align, thresh)


def _always(end):
    right = end.padded

    def each(message, places, align, thresh):
        return dataclasses.replace(right(message, places, align, 0), thresh=thresh)
    end.padded = each


def _before_the_length(end):
    right = end.padded
    end.padded = lambda m, places, align, thresh: right(
        m, [(at - 4, size) for at, size in places], align, thresh)


def _swapped(end):
    right = end.padded

    def swap(*arguments):
        out = right(*arguments)
        out.align, out.thresh = out.thresh, out.align
        return out
    end.padded = swap


def _never(end):
    end.dressed = lambda message, call: message


def _everywhere(end):
    end.send_limit = lambda: 1 << 20


def _low_threshold(end):
    end.threshold = lambda: 512


# ---------------------------------------------------------------- what a client sends


@requester('A3.5-1', keys=PADDING_CLIENT)
def a_long_item_makes_the_call_an_rdma_msgp(t):
    """A WRITE above the threshold says alignment and threshold before its lists."""
    hand = t.working()
    asked, got = t.next_called(hand, t.write(t.pattern(2000)))
    _is_padded(t, got, 'a WRITE of 2000 bytes')
    t.hold(draft03.plain(got) == asked.call, 'another Call comes')


a_long_item_makes_the_call_an_rdma_msgp.wrong(_never)
a_long_item_makes_the_call_an_rdma_msgp.wrong(_swapped)


@requester('A3.5-2', keys=PADDING_CLIENT)
def long_items_of_a_call_are_aligned(t):
    """Fewer pads than the alignment stand behind the length word; short items have none."""
    hand = t.working()
    for size in (SIZE - 1, SIZE, SIZE + 1, 2001):
        asked, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(draft03.plain(got) == asked.call, f'another WRITE of {size} bytes comes')
        if size >= SIZE:
            _aligned(t, got, t.pattern(size), f'the data of a WRITE of {size} bytes')
        hand.answer_null(got)


for _bend in (_no_pads, _above_alone, _always, _before_the_length):
    long_items_of_a_call_are_aligned.wrong(_bend)


@requester('A3.5-2', keys={**PADDING_CLIENT, 'padding_threshold_bytes': 2000})
def the_threshold_that_is_told_is_the_one_that_holds(t):
    """An item of 2000 bytes is aligned, and the header says 2000; one of 1996 is not padded."""
    hand = t.working()
    for size in (1996, 2000):
        asked, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(draft03.plain(got) == asked.call, f'another WRITE of {size} bytes comes')
        t.hold(size == 2000 or len(got.body) == len(asked.call), 'a short item has pads')
        hand.answer_null(got)
    _is_padded(t, got, 'a WRITE of 2000 bytes')
    t.hold(got.header.thresh == 2000, f'a threshold of {got.header.thresh} is told, not 2000')


the_threshold_that_is_told_is_the_one_that_holds.wrong(_never)


@the_threshold_that_is_told_is_the_one_that_holds.wrong
def _(end):
    end.options.padding_threshold_bytes = 1024


@requester('A3.5-2', keys={**CLIENT, 'padding_align_bytes': 1024})
def pads_make_no_call_too_long(t):
    """A WRITE that fits without pads and not with them comes without, or in a chunk."""
    hand = t.working(recv=2048)
    for size in (1024, 1100, 1500, 1800):
        asked, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(size > 1024 or got.header.proc == header.MSGP, 'what just fits is not padded')
        t.hold(len(got.data) <= 2048, f'a Send of {len(got.data)} bytes for a receive of 2048')
        whole = hand.message_of(got) if got.header.reads else draft03.plain(got)
        t.hold(whole == asked.call, 'another Call comes')
        hand.answer_null(got)


pads_make_no_call_too_long.wrong(_everywhere)


@requester('A3.5-4', keys=PADDING_CLIENT)
def the_begin_of_the_send_is_aligned_to(t):
    """Where the data of a WRITE stands counts the header."""
    hand = t.working()
    data = t.pattern(2000)
    asked, got = t.next_called(hand, t.write(data))
    _aligned(t, got, data, 'the data of a WRITE')
    t.hold(draft03.plain(got) == asked.call, 'another Call comes')


the_begin_of_the_send_is_aligned_to.wrong(draft03.from_the_message)


@requester('A3.5-7', keys=PADDING_CLIENT)
def a_clients_threshold_is_1024_or_more(t):
    """Whoever sends less would have to say which items he means."""
    hand = t.working()
    for size in (700, 2000):
        asked, got = t.next_called(hand, t.write(t.pattern(size)))
        t.hold(got.header.proc != header.MSGP or got.header.thresh >= 1024,
               f'a threshold of {got.header.thresh}')
        t.hold(draft03.plain(got) == asked.call, 'another Call comes')
        hand.answer_null(got)
    _is_padded(t, got, 'a WRITE of 2000 bytes')


a_clients_threshold_is_1024_or_more.wrong(_low_threshold)


@requester('A3.5-8', keys={**PADDING_CLIENT, 'ddp': 'nfs'})
def nothing_in_a_clients_chunks_has_pads(t):
    """Data, and whole Calls, in read chunks are as without padding."""
    hand = t.working()
    _asked, got = t.next_called(hand, t.write(t.pattern(2000)))
    _is_padded(t, got, 'a WRITE of 2000 bytes')
    hand.answer_null(got)
    for call in (t.write(t.pattern(LONG)), t.echo(t.pattern(LONG), 0)):
        asked, got = t.next_called(hand, call)
        t.hold(got.header.reads, 'no read chunk')
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        hand.answer_null(got)


@nothing_in_a_clients_chunks_has_pads.wrong
def _(end):
    lend = end.lend

    def pads(pending, memory, readable=False, writable=False):
        if readable:
            memory = bytes(20) + memory
        return lend(pending, memory, readable, writable)
    end.lend = pads


# ---------------------------------------------------------------- what a server sends


@responder('A3.5-1', keys=PADDING_SERVER, needs={'behind', 'files'})
def a_long_item_makes_the_reply_an_rdma_msgp(t):
    """A READ's Reply above the threshold says alignment and threshold before its lists."""
    hand = t.connect()
    call = t.read(2000)
    got = hand.ask(call)
    _is_padded(t, got, 'the Reply to a READ of 2000 bytes')
    t.hold(data_of(call, draft03.plain(got, call)) == t.pattern(2000), 'other data comes')


a_long_item_makes_the_reply_an_rdma_msgp.wrong(_never)
a_long_item_makes_the_reply_an_rdma_msgp.wrong(_swapped)


@responder('A3.5-2', keys=PADDING_SERVER, needs={'behind', 'files'})
def long_items_of_a_reply_are_aligned(t):
    """Fewer pads than the alignment stand behind the length word; short items have none."""
    hand = t.connect()
    for size in (SIZE - 1, SIZE, SIZE + 1, 2001):
        call = t.read(size)
        got = hand.ask(call)
        t.hold(draft03.plain(got, call) == t.server.answer(call),
               f'another Reply to a READ of {size} bytes')
        if size >= SIZE:
            _aligned(t, got, t.pattern(size), f'the data of a READ of {size} bytes')


for _bend in (_no_pads, _above_alone, _always, _before_the_length):
    long_items_of_a_reply_are_aligned.wrong(_bend)


@responder('A3.5-2', keys={**SERVER, 'padding_align_bytes': 1024}, needs={'behind', 'files'})
def pads_make_no_reply_too_long(t):
    """A READ's Reply that fits without pads and not with them comes without, or by other ways."""
    hand = t.connect(recv=2048)
    for size in (1024, 1100, 1500, 1800):
        call = t.read(size)
        _key, segment = hand.lend(4096, writable=True)
        got = hand.ask(call, reply=[segment])
        t.hold(size > 1024 or got.header.proc == header.MSGP, 'what just fits is not padded')
        t.hold(len(got.data) <= 2048, f'a Send of {len(got.data)} bytes for a receive of 2048')


pads_make_no_reply_too_long.wrong(_everywhere)


@responder('A3.5-4', keys=PADDING_SERVER, needs={'behind', 'files'})
def a_reply_is_aligned_to_the_begin_of_its_send(t):
    """With a write list in the header or without; an empty chunk keeps the data inline."""
    hand = t.connect()
    for writes in ([], [[]], [[], [hand.lend(64, writable=True)[1]]]):
        call = t.read(2000)
        got = hand.ask(call, writes=writes)
        _aligned(t, got, t.pattern(2000), 'the data of a READ')


a_reply_is_aligned_to_the_begin_of_its_send.wrong(draft03.from_the_message)


@responder('A3.5-7', keys=PADDING_SERVER, needs={'behind', 'files'})
def a_servers_threshold_is_1024_or_more(t):
    """Whoever sends less would have to say which items he means."""
    hand = t.connect()
    for size in (700, 2000):
        got = hand.ask(t.read(size))
        t.hold(got.header.proc != header.MSGP or got.header.thresh >= 1024,
               f'a threshold of {got.header.thresh}')
    _is_padded(t, got, 'the Reply to a READ of 2000 bytes')


a_servers_threshold_is_1024_or_more.wrong(_low_threshold)


@responder('A3.5-8', keys=PADDING_SERVER, needs={'behind', 'files'})
def nothing_in_a_servers_chunks_has_pads(t):
    """Data in a write chunk, Replies in a reply chunk and Replies that are lent are as ever."""
    hand = t.connect()
    whole = t.server.answer(t.read(LONG))
    key, segment = hand.lend(LONG, writable=True)
    hand.ask(t.read(LONG), writes=[[segment]])
    t.hold(key.memory == t.pattern(LONG), 'other data is in the write chunk')
    key, segment = hand.lend(LONG + 1000, writable=True)
    got = hand.ask(t.read(LONG), reply=[segment])
    t.hold(key.memory[4:len(whole)] == whole[4:] and got.reply_chunk()[0].length == len(whole),
           'another Reply is in the reply chunk')
    got = draft03.lent(t, hand, t.read(LONG))
    t.hold(hand.message_of(got)[4:] == whole[4:], 'another Reply is lent')


@nothing_in_a_servers_chunks_has_pads.wrong
def _(end):
    written = end.written
    end.written = lambda segments, data: written(segments, data[:44] + bytes(20) + data[44:])


@nothing_in_a_servers_chunks_has_pads.wrong
def _(end):
    expose = end.expose

    def pads(work, out):
        out.body = out.body[:44] + bytes(20) + out.body[44:]
        expose(work, out)
    end.expose = pads

# SPDX-License-Identifier: BSD-3-Clause
"""Replies that claim chunk bytes that were not written, as tests/REQUIREMENTS.md decides."""
from scene.parts import without_data
from scene.scenario import requester
from wire import header


def _left_out(hand, segment, data):
    """Ways to write less of a chunk than a Reply claims."""
    def write(begin, end):
        hand.conn.write(segment.handle, segment.offset + begin, data[begin:end])

    def again():
        for _ in range(len(data) // 1000):
            write(0, 1000)

    def gap():
        write(0, 2000)
        write(2001, len(data))

    return {'nothing but the beginning': lambda: write(0, 100), 'one part again and again': again,
            'all but a byte in the middle': gap, 'all but the last byte': lambda: write(0, len(data) - 1)}


@requester('X-18')
def a_reply_chunk_that_was_not_written_is_no_reply(t):
    """Each claimed byte must have been written, in any order."""
    hand = t.working()
    for number in range(4):
        asked, got = t.next_called(hand, t.echo(t.pattern(5000)))
        place, whole = got.reply_chunk()[0], t.server.answer(asked.call)
        name, write = list(_left_out(hand, place, whole).items())[number]
        write()
        hand.answer(got, b'', proc=header.NOMSG,
                    reply=[header.Segment(place.handle, len(whole), place.offset)])
        t.not_delivered(hand, asked, f'a reply chunk of which was written {name}')
    asked, got = t.next_called(hand, t.echo(t.pattern(5000)))
    place, whole = got.reply_chunk()[0], t.server.answer(asked.call)
    for begin in (4000, 2000, 3000, 0, 1000, 5000):
        hand.conn.write(place.handle, place.offset + begin, whole[begin:begin + 1000])
    hand.answer(got, b'', proc=header.NOMSG,
                reply=[header.Segment(place.handle, len(whole), place.offset)])
    t.hold(t.answered(asked) == whole, 'what was written in another order does not arrive')


def _trusting(end):
    end.was_written = lambda returned: True


a_reply_chunk_that_was_not_written_is_no_reply.wrong(_trusting)


@requester('X-18', keys={'ddp': 'nfs'})
def a_write_chunk_that_was_not_written_is_no_reply(t):
    """The same for the data of a READ."""
    hand = t.working()
    for number in range(4):
        asked, got = t.next_called(hand, t.read(20000))
        t.hold(got.header.writes, 'no write chunk is offered')
        place = got.write_chunk()[0]
        data, body = without_data(asked.call, t.server.answer(asked.call))
        name, write = list(_left_out(hand, place, data).items())[number]
        write()
        hand.answer(got, body, writes=[[header.Segment(place.handle, len(data), place.offset)]])
        t.not_delivered(hand, asked, f'a write chunk of which was written {name}')


a_write_chunk_that_was_not_written_is_no_reply.wrong(_trusting)

# SPDX-License-Identifier: BSD-3-Clause
"""What chunks carry: messages in pieces, and data in segments."""
import unittest

from wire import chunks
from wire.header import MSG, NOMSG, Header, Segment


class Joined(unittest.TestCase):
    """An RPC message from its Send and its read chunks."""

    def test_chunks_stand_at_their_positions(self):
        """One, two, one at the end; each gets its pad unless it has it."""
        message = Header(1, proc=MSG, body=b'aaaabbbb')
        for pulled, whole in (({}, b'aaaabbbb'), ({4: b'1234'}, b'aaaa1234bbbb'),
                              ({4: b'12'}, b'aaaa12\0\0bbbb'), ({4: b'12\0\0'}, b'aaaa12\0\0bbbb'),
                              ({8: b'3', 4: b'1234'}, b'aaaa1234' b'3\0\0\0bbbb'),
                              ({12: b'3', 4: b'1234'}, b'aaaa1234bbbb3\0\0\0'),
                              ({8: b'123'}, b'aaaabbbb123\0')):
            with self.subTest(pulled=pulled):
                self.assertEqual(chunks.joined(message, pulled), whole)

    def test_a_long_message_begins_in_a_chunk(self):
        """And can have others in it."""
        message = Header(1, proc=NOMSG)
        self.assertEqual(chunks.joined(message, {0: b'aaaabbbb', 4: b'1'}), b'aaaa1\0\0\0bbbb')
        self.assertIsNone(chunks.joined(message, {4: b'1'}))

    def test_chunks_that_do_not_fit_make_no_message(self):
        """Behind the end, and within another one."""
        message = Header(1, proc=MSG, body=b'aaaabbbb')
        for pulled in ({12: b'1'}, {4: b'12345678', 8: b'1'}):
            with self.subTest(pulled=pulled):
                self.assertIsNone(chunks.joined(message, pulled))


class Spread(unittest.TestCase):
    """Data in segments."""

    def test_segments_are_filled_in_order(self):
        """What is left of them has a length of zero, what is left of the data is nowhere."""
        segments = [Segment(1, 4, 100), Segment(2, 4, 200), Segment(3, 4, 300)]
        for data, parts in ((b'', [b'', b'', b'']), (b'abc', [b'abc', b'', b'']),
                            (b'abcdef', [b'abcd', b'ef', b'']),
                            (b'abcdefghijklmn', [b'abcd', b'efgh', b'ijkl'])):
            with self.subTest(data=data):
                found = list(chunks.spread(segments, data))
                self.assertEqual([part for _segment, part in found], parts)
                self.assertEqual([segment for segment, _part in found],
                                 [Segment(s.handle, len(part), s.offset)
                                  for s, part in zip(segments, parts)])

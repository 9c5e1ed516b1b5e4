# SPDX-License-Identifier: BSD-3-Clause
"""CRC32C: the examples of RFC 3720, and the quick way held against a plain one."""

import random
import unittest

from wire import crc


def plain(data, value=0):
    """Bit by bit."""
    state = value ^ 0xffffffff
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82f63b78 if state & 1 else 0)
    return state ^ 0xffffffff


class Crc(unittest.TestCase):
    """crc32c()."""

    def test_the_examples_of_the_rfc(self):
        """Appendix B.4 of RFC 3720, as numbers; and the usual check value."""
        self.assertEqual(crc.crc32c(b""), 0)
        self.assertEqual(crc.crc32c(b"123456789"), 0xe3069283)
        self.assertEqual(crc.crc32c(bytes(32)), 0x8a9136aa)
        self.assertEqual(crc.crc32c(b"\xff" * 32), 0x62a8ab43)
        self.assertEqual(crc.crc32c(bytes(range(32))), 0x46dd794e)
        self.assertEqual(crc.crc32c(bytes(range(31, -1, -1))), 0x113fdb5c)

    def test_the_short_polynomial_is_a_multiple_of_the_generator(self):
        """Or nothing could be taken away by it."""
        rest = sum(1 << term for term in crc.TERMS)
        while rest.bit_length() > 32:
            rest ^= 0x11edc6f41 << rest.bit_length() - 33
        self.assertEqual(rest, 0)

    def test_every_length_around_the_change_of_ways(self):
        """And some beyond, all with a value before them."""
        chance = random.Random(1)
        for size in [*range(2 * crc.LEAST_BYTES), 145, 146, 290, 291, 580, 1451, 4096, 9001]:
            data, value = chance.randbytes(size), chance.getrandbits(32)
            with self.subTest(size=size):
                self.assertEqual(crc.crc32c(data, value), plain(data, value))

    def test_parts_make_the_whole(self):
        """Whichever way each of them takes."""
        data = random.Random(2).randbytes(70001)
        for cut in (1, 63, 64, 1000, 65536, 70000):
            self.assertEqual(crc.crc32c(data[cut:], crc.crc32c(data[:cut])), crc.crc32c(data))

    def test_a_bit_anywhere_changes_it(self):
        """In a long message too."""
        data = bytearray(random.Random(3).randbytes(3000))
        good = crc.crc32c(data)
        for at in range(0, len(data), 97):
            data[at] ^= 0x10
            self.assertNotEqual(crc.crc32c(data), good)
            data[at] ^= 0x10

# SPDX-License-Identifier: BSD-3-Clause
"""Characteristics: values, subsets, the four operations."""

import random
import unittest

import samples
from wire import characteristics as ch
from wire import header
from wire.xdr import XdrError

ALL = [(ch.RBSIZ, ch.value_bytes(ch.RBSIZ, 8192)),
       (ch.RQREMINV, ch.value_bytes(ch.RQREMINV, True)),
       (ch.BRS, ch.value_bytes(ch.BRS, ch.BRS_SZLIM))]


def well_formed(chance):
    """Random values of which none is malformed."""
    found = samples.values(chance)
    for ident, data in list(found):
        try:
            ch.value_of(ident, data)
        except XdrError:
            found.remove((ident, data))
    return found


class Values(unittest.TestCase):
    """What a characteristic's data says."""

    def test_known_ones_go_there_and_back(self):
        """Each is one word."""
        for ident, value, data in (
                (ch.RBSIZ, 4096, "00001000"), (ch.RBSIZ, 0xffffffff, "ffffffff"),
                (ch.RQREMINV, False, "00000000"), (ch.RQREMINV, True, "00000001"),
                (ch.BRS, ch.BRS_UNKNOWN, "00000000"), (ch.BRS, ch.BRS_GENL, "00000003")):
            self.assertEqual(ch.value_bytes(ident, value).hex(), data)
            self.assertEqual(ch.value_of(ident, bytes.fromhex(data)), value)

    def test_malformed_ones_are_refused(self):
        """Not of the type, too short, too long (B2.1-3)."""
        for ident, data in ((ch.RQREMINV, "00000002"), (ch.BRS, "00000004"),
                            (ch.BRS, "ffffffff")):
            with self.assertRaises(XdrError):
                ch.value_of(ident, bytes.fromhex(data))
        for ident in ch.DEFAULTS:
            for size in (0, 1, 3, 5, 8):
                with self.assertRaises(XdrError):
                    ch.value_of(ident, bytes(size))

    def test_unknown_ones_are_what_they_are(self):
        """Also the experimental ones (B2.1-4, B6.3-1)."""
        for ident in (0, 4, ch.EXPERIMENTAL[0], ch.EXPERIMENTAL[-1]):
            for data in (b"", b"\xff", b"12345"):
                self.assertEqual(ch.value_of(ident, data), data)
                self.assertEqual(ch.decode_req(ch.encode_req([(ident, data)])), [(ident, data)])

    def test_the_last_of_an_id_wins(self):
        """And unknown ids are passed over (B2.1-4, B2.1-5)."""
        values = [(ch.RBSIZ, ch.value_bytes(ch.RBSIZ, 1)), (77, b"x"),
                  (ch.RBSIZ, ch.value_bytes(ch.RBSIZ, 2))]
        self.assertEqual(ch.values_known(values), {ch.RBSIZ: 2})

    def test_malformed_ones_are_refused_within_an_operation(self):
        """Though they can be sent."""
        for bad in ((ch.RQREMINV, b"\0\0\0\2"), (ch.RBSIZ, b"123"), (ch.BRS, b"\0\0\0\4")):
            for data, decode in ((ch.encode_init([ALL[0], bad]), ch.decode_init),
                                 (ch.encode_req([bad]), ch.decode_req),
                                 (ch.encode_upd(bad), ch.decode_upd)):
                with self.subTest(bad=bad, decode=decode), self.assertRaises(XdrError):
                    decode(data)


class Subsets(unittest.TestCase):
    """Bits that stand for elements (B2.1-6)."""

    def test_where_an_elements_bit_is(self):
        """N mod 32 of word N div 32."""
        for members, words in (((), ""), ((0,), "00000001"), ((1, 31), "80000002"),
                               ((32,), "00000000 00000001"),
                               ((5, 69), "00000020 00000000 00000020")):
            data = bytes.fromhex(words)
            self.assertEqual(ch.subset_bytes(members),
                             (len(data) // 4).to_bytes(4, "big") + data)

    def test_words_that_are_missing_are_zero(self):
        """And those that are there for nothing."""
        spare = bytes.fromhex("00000003 00000002 00000000 00000000")
        self.assertEqual(ch.decode_resp(spare + bytes(8)), ({1}, set(), set()))

    def test_bits_beyond_the_values_are_left_out(self):
        """Of INIT_XCHAR, where they are known."""
        self.assertEqual(ch.decode_init(ch.encode_init(ALL, {0, 2, 3, 31, 32})), (ALL, {0, 2}))


class Operations(unittest.TestCase):
    """INIT, REQ, RESP, UPD."""

    def test_an_init_with_all_takes_72_bytes(self):
        """In its message, and so fits any receive (B4.1-1)."""
        init = ch.encode_init(ALL, {1})
        h = header.Header(1, 2, 1, header.OPTIONAL, opttype=ch.INIT_XCHAR, optinfo=init)
        self.assertEqual(len(header.encode(h)), 72)
        self.assertEqual(init.hex(" ", 4), "00000003 00000001 00000004 00002000"
                         " 00000002 00000004 00000001 00000003 00000004 00000002"
                         " 00000001 00000002")

    def test_the_words_of_the_others(self):
        """Values and subsets in their places."""
        self.assertEqual(ch.encode_req(ALL[:1]).hex(" ", 4),
                         "00000001 00000001 00000004 00002000")
        self.assertEqual(ch.encode_resp({0}, {1}, {2, 32}).hex(" ", 4),
                         "00000001 00000001 00000001 00000002 00000002 00000004 00000001")
        self.assertEqual(ch.encode_upd((9, b"abcde"), True).hex(" ", 4),
                         "00000009 00000005 61626364 65000000 00000001")

    def test_what_is_encoded_is_decoded(self):
        """Thousands of random ones."""
        chance = random.Random(5)
        for _ in range(2000):
            values = well_formed(chance)
            nochg = samples.subset(chance, len(values) + 1)
            self.assertEqual(ch.decode_init(ch.encode_init(values, nochg)), (values, nochg))
            self.assertEqual(ch.decode_req(ch.encode_req(values)), values)
            parts = tuple(samples.subset(chance) for _ in range(3))
            self.assertEqual(ch.decode_resp(ch.encode_resp(*parts)), parts)
            for value in values[:1]:
                self.assertEqual(ch.decode_upd(ch.encode_upd(value, True)), (value, True))

    def test_every_truncation_and_what_is_too_long(self):
        """Of each operation."""
        for data, decode in ((ch.encode_init(ALL, {0, 40}), ch.decode_init),
                             (ch.encode_req([*ALL, (7, b"abcde")]), ch.decode_req),
                             (ch.encode_resp({1}, {2}, {33}), ch.decode_resp),
                             (ch.encode_upd(ALL[0], True), ch.decode_upd)):
            for wrong in [data[:size] for size in range(len(data))] + [data + bytes(4)]:
                with self.subTest(wrong=wrong), self.assertRaises(XdrError):
                    decode(wrong)

    def test_counts_beyond_all_bounds(self):
        """Of values and of words."""
        for count in (2, 0x20000001, 0xffffffff):
            start = count.to_bytes(4, "big")
            with self.assertRaises(XdrError):
                ch.decode_req(start + bytes(8))
            with self.assertRaises(XdrError):
                ch.decode_resp(start + bytes(4))

    def test_a_pendclr_that_is_neither(self):
        """It is a bool."""
        with self.assertRaises(XdrError):
            ch.decode_upd(ch.encode_upd(ALL[0])[:-1] + b"\2")

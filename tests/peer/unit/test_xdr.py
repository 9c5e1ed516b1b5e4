# SPDX-License-Identifier: BSD-3-Clause
"""XDR: what is packed is read, and nothing else is."""

import struct
import unittest

from wire import xdr


class Pack(unittest.TestCase):
    """The bytes of RFC 4506."""

    def test_values_have_the_bytes_of_the_rfc(self):
        """Big-endian, multiples of four."""
        self.assertEqual(xdr.u32(0x01020304), b"\1\2\3\4")
        self.assertEqual(xdr.u64(0x0102030405060708), b"\1\2\3\4\5\6\7\x08")
        self.assertEqual(xdr.boolean(True), b"\0\0\0\1")
        self.assertEqual(xdr.opaque(b"abcde"), b"abcde\0\0\0")
        self.assertEqual(xdr.var(b"sillyprog"), b"\0\0\0\x09sillyprog\0\0\0")
        self.assertEqual(xdr.var(""), b"\0\0\0\0")

    def test_what_is_packed_is_read(self):
        """In order, to the end."""
        reader = xdr.Reader(xdr.u32(7) + xdr.u64(1 << 63) + xdr.boolean(True) + xdr.var(b"abc")
                            + xdr.opaque(b"defgh") + xdr.var("name") + b"rest")
        self.assertEqual((reader.u32(), reader.u64(), reader.boolean()), (7, 1 << 63, True))
        self.assertEqual((reader.var(), reader.opaque(5), reader.string()),
                         (b"abc", b"defgh", "name"))
        self.assertEqual((reader.at, reader.left), (40, 4))
        self.assertEqual((reader.rest(), reader.left), (b"rest", 0))
        reader.end()


class Refuse(unittest.TestCase):
    """What is no XDR."""

    def refuses(self, take, data, at):
        """Reading raises, and says where."""
        with self.assertRaises(xdr.XdrError) as caught:
            take(xdr.Reader(data))
        self.assertEqual(caught.exception.at, at)

    def test_every_truncation(self):
        """Of each kind of value."""
        for take, data in ((xdr.Reader.u32, xdr.u32(1)), (xdr.Reader.u64, xdr.u64(1)),
                           (xdr.Reader.boolean, xdr.u32(1)), (xdr.Reader.var, xdr.var(b"abcde")),
                           (lambda reader: reader.opaque(5), b"abcde\0\0\0"),
                           (lambda reader: reader.fixed(5), b"abcde")):
            for size in range(len(data)):
                with self.subTest(data=data, size=size), self.assertRaises(xdr.XdrError):
                    take(xdr.Reader(data[:size]))

    def test_a_bool_that_is_neither(self):
        """Two, and all bits."""
        self.refuses(xdr.Reader.boolean, xdr.u32(2), 0)
        self.refuses(xdr.Reader.boolean, xdr.u32(0xffffffff), 0)

    def test_padding_that_is_not_zero(self):
        """In each place."""
        for data in (b"abc\1", b"ab\1\0", b"ab\0\1"):
            size = 3 if data[2] == ord("c") else 2
            self.refuses(lambda reader, size=size: reader.opaque(size), data, size)

    def test_more_than_the_limit(self):
        """And not what is just as long."""
        self.assertEqual(xdr.Reader(xdr.var(b"abcd")).var(4), b"abcd")
        self.refuses(lambda reader: reader.var(4), xdr.var(b"abcde"), 0)

    def test_a_length_beyond_all_bounds(self):
        """Nothing is allocated for it."""
        self.refuses(xdr.Reader.var, b"\xff\xff\xff\xff" + b"abcd", 4)

    def test_bytes_behind_the_end(self):
        """Where nothing may be left."""
        self.refuses(xdr.Reader.end, b"a", 0)

    def test_numbers_that_do_not_fit(self):
        """Cannot be packed: nothing is cut off silently."""
        for pack, value in ((xdr.u32, 1 << 32), (xdr.u32, -1), (xdr.u64, 1 << 64)):
            with self.assertRaises(struct.error):
                pack(value)

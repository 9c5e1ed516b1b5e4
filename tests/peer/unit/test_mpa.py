# SPDX-License-Identifier: BSD-3-Clause
"""MPA: start-up frames as Linux sends them, FPDUs, and what is neither."""

import unittest

from wire import crc, mpa

# What the Linux NFS client and server send over siw.
LINUX_REQUEST = bytes.fromhex("4d504120494420526571204672616d65 10 02 000c"
                              "0080 0000 f6ab0e1801010303")
LINUX_REPLY = bytes.fromhex("4d504120494420526570204672616d65 10 02 000c"
                            "0000 0010 f6ab0e1801000303")
LINUX_REJECT = bytes.fromhex("4d504120494420526570204672616d65 20 01 0000")
PRIVATE = bytes.fromhex("f6ab0e18 01010303")


class StartUp(unittest.TestCase):
    """Requests and replies."""

    def test_what_linux_sends(self):
        """Both ways."""
        request = mpa.Start(False, mpa.ENHANCED, 2, 128, 0, data=PRIVATE)
        reply = mpa.Start(True, mpa.ENHANCED, 2, 0, 16, data=bytes.fromhex("f6ab0e1801000303"))
        reject = mpa.Start(True, mpa.REJECT, 1)
        for start, data in ((request, LINUX_REQUEST), (reply, LINUX_REPLY),
                            (reject, LINUX_REJECT)):
            self.assertEqual(mpa.encode_start(start), data)
            self.assertEqual(mpa.decode_start(data + b"more"), (start, len(data)))

    def test_the_bits_before_ird_and_ord(self):
        """A and C, then B and D."""
        frame = mpa.encode_start(mpa.Start(False, mpa.ENHANCED, 2, 1, 2, (2, 1)))
        self.assertEqual(frame[20:], bytes.fromhex("8001 4002"))
        self.assertEqual(mpa.decode_start(frame)[0].rtr, (2, 1))
        frame = mpa.encode_start(mpa.Start(False, mpa.ENHANCED, 2, 0x3fff, 0x3fff, (1, 2)))
        self.assertEqual(frame[20:], bytes.fromhex("7fff bfff"))

    def test_revision_one_has_no_ird(self):
        """Its bit is reserved there, and not checked."""
        frame = mpa.encode_start(mpa.Start(False, mpa.CRC | mpa.ENHANCED, 1, data=PRIVATE))
        self.assertEqual(mpa.decode_start(frame)[0],
                         mpa.Start(False, mpa.CRC | mpa.ENHANCED, 1, data=PRIVATE))

    def test_every_truncation_is_waited_out(self):
        """A stream brings the rest."""
        for size in range(len(LINUX_REQUEST)):
            self.assertIsNone(mpa.decode_start(LINUX_REQUEST[:size]))

    def test_another_key_is_refused_at_its_first_byte(self):
        """A peer that speaks something else sends no more."""
        for size in range(16):
            data = bytearray(LINUX_REQUEST[:size + 1])
            data[size] ^= 0x20
            with self.subTest(size=size), self.assertRaises(mpa.MpaError):
                mpa.decode_start(data)

    def test_private_data_of_a_wrong_length(self):
        """More than RFC 5044 allows, or too little for IRD and ORD."""
        self.assertIsNotNone(mpa.decode_start(mpa.encode_start(mpa.Start(False, data=bytes(512)))))
        for start in (mpa.Start(False, data=bytes(513)),
                      mpa.Start(False, mpa.ENHANCED, 2, data=bytes(3))):
            with self.assertRaises(mpa.MpaError):
                mpa.decode_start(mpa.encode_start(start))


class Fpdu(unittest.TestCase):
    """Frames on the stream."""

    def test_the_crc_stands_least_byte_first(self):
        """Over length, ULPDU and pad."""
        frame = mpa.encode_fpdu(b"abc")
        self.assertEqual(frame[:8], b"\0\3abc\0\0\0")
        self.assertEqual(frame[8:], crc.crc32c(frame[:8]).to_bytes(4, "little"))

    def test_every_length_goes_there_and_back(self):
        """With all sorts of pads, and the longest."""
        for size in [*range(9), 1450, 65535]:
            ulpdu = bytes(range(256)) * 256
            frame = mpa.encode_fpdu(ulpdu[:size])
            self.assertEqual(len(frame) % 4, 0)
            self.assertEqual(mpa.decode_fpdu(frame + b"next"), (ulpdu[:size], len(frame)))
        with self.assertRaises(mpa.MpaError):
            mpa.encode_fpdu(bytes(65536))

    def test_every_truncation_is_waited_out(self):
        """Also within the CRC."""
        frame = mpa.encode_fpdu(b"some bytes")
        for size in range(len(frame)):
            self.assertIsNone(mpa.decode_fpdu(frame[:size]))

    def test_any_bit_that_is_wrong_is_found(self):
        """But those of the length, which say where the CRC is."""
        frame = bytearray(mpa.encode_fpdu(b"some bytes"))
        for bit in range(16, 8 * len(frame)):
            frame[bit // 8] ^= 1 << bit % 8
            with self.assertRaises(mpa.CrcError):
                mpa.decode_fpdu(frame)
            frame[bit // 8] ^= 1 << bit % 8
        with self.assertRaises(mpa.CrcError):
            mpa.decode_fpdu(mpa.encode_fpdu(b"some bytes", spoil=True))

    def test_without_crc_its_place_is_zero_and_not_looked_at(self):
        """As siw does it."""
        frame = mpa.encode_fpdu(b"abc", crc=False)
        self.assertEqual(frame, b"\0\3abc" + bytes(7))
        self.assertEqual(mpa.decode_fpdu(frame[:8] + b"what", crc=False), (b"abc", 12))

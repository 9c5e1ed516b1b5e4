# SPDX-License-Identifier: BSD-3-Clause
"""What a connection is set up with: private data and the Configuration Protocol."""

import unittest

from wire import ccp, private_data
from wire.private_data import PrivateData
from wire.xdr import XdrError

LINUX = bytes.fromhex("f6ab0e18 01010303")


class Private(unittest.TestCase):
    """The eight octets of RFC 8797."""

    def test_what_linux_sends(self):
        """4096 both ways, and may be invalidated."""
        data = PrivateData(True, 4096, 4096)
        self.assertEqual(private_data.encode(data), LINUX)
        self.assertEqual(private_data.decode(LINUX), data)

    def test_sizes_to_the_bounds(self):
        """1 KiB to 256 KiB, rounded down (C5.2-1)."""
        for size, octet in ((1024, 0), (1025, 0), (2047, 0), (2048, 1), (4096, 3),
                            (262143, 254), (262144, 255)):
            octets = private_data.encode(PrivateData(False, size, 1024))
            self.assertEqual(octets[6], octet)
            octets = private_data.encode(PrivateData(False, 1024, size))
            self.assertEqual(octets[7], octet)
            self.assertEqual(private_data.decode(octets).recv_bytes, (octet + 1) * 1024)
        for size in (0, 1023, 263168):
            with self.assertRaises(ValueError):
                private_data.encode(PrivateData(False, size, 1024))

    def test_what_is_not_conforming_is_not_received(self):
        """Another identifier or version, seven octets (C4-6, C4.1.2-1)."""
        self.assertIsNone(private_data.decode(b""))
        for size in range(8):
            self.assertIsNone(private_data.decode(LINUX[:size]))
        for bit in range(40):
            wrong = bytearray(LINUX)
            wrong[bit // 8] ^= 1 << bit % 8
            self.assertIsNone(private_data.decode(wrong))
        self.assertIsNone(private_data.decode(b"lib" + LINUX[:7]))
        self.assertIsNone(private_data.decode(b"lib" + LINUX[:4] + b"\2" + LINUX[5:]))
        self.assertEqual(private_data.encode(PrivateData(False, 1024, 1024, version=2))[4], 2)

    def test_the_place(self):
        """Behind data of others, unless the identifier begins them (C4.1.2-1)."""
        small = private_data.encode(PrivateData(False, 1024, 1024))
        for at in range(1, 100):
            self.assertEqual(private_data.decode(bytes(at) + LINUX + small),
                             PrivateData(True, 4096, 4096))
        self.assertEqual(private_data.decode(LINUX[:3] + LINUX), PrivateData(True, 4096, 4096))
        self.assertEqual(private_data.decode(small + LINUX), PrivateData(False, 1024, 1024))
        other = LINUX[:4] + b"\2" + LINUX[5:]
        self.assertIsNone(private_data.decode(other + LINUX))
        self.assertEqual(private_data.decode(b"lib" + other + LINUX),
                         PrivateData(True, 4096, 4096))

    def test_octets_behind_and_reserved_bits(self):
        """Are passed over (C4-5, C5.1-2); the bits can be sent."""
        self.assertEqual(private_data.decode(LINUX + bytes(48)), PrivateData(True, 4096, 4096))
        for invalidate in (False, True):
            data = PrivateData(invalidate, 1024, 2048, reserved=0xfe)
            self.assertEqual(private_data.encode(data)[5], 0xfe | invalidate)
            self.assertEqual(private_data.decode(private_data.encode(data)), data)


class Configuration(unittest.TestCase):
    """CONF_RDMA."""

    def test_the_words(self):
        """Three each way, of which only the middle one differs in meaning (A6.2-2)."""
        self.assertEqual(ccp.encode_args(ccp.Args(1, 2, 3)).hex(), "000000010000000200000003")
        self.assertEqual(ccp.encode_results(ccp.Results(4, 5, 6)).hex(),
                         "000000040000000500000006")

    def test_what_is_encoded_is_decoded(self):
        """To the bounds."""
        top = 0xffffffff
        for words in ((0, 0, 0), (1024, 8, 16), (top, top, top)):
            args, results = ccp.Args(*words), ccp.Results(*words)
            self.assertEqual(ccp.decode_args(ccp.encode_args(args)), args)
            self.assertEqual(ccp.decode_results(ccp.encode_results(results)), results)

    def test_every_truncation_and_what_is_too_long(self):
        """Both ways."""
        for size in [*range(12), 13, 16]:
            for decode in (ccp.decode_args, ccp.decode_results):
                with self.subTest(size=size), self.assertRaises(XdrError):
                    decode(bytes(size))

# SPDX-License-Identifier: BSD-3-Clause
"""RDMA Reads that the peer is asked for."""
import socket
import unittest

from net import iwarp
from net.loop import Loop


class Reads(unittest.TestCase):
    """Of memory of ours, and of none."""

    def setUp(self):
        self.loop = Loop(patience=5)
        self.loop.alone = True
        self.addCleanup(self.loop.close)
        ours, theirs = socket.socketpair()
        self.source = iwarp.Conn(self.loop, theirs, False)
        self.source.on_request = self.source.accept
        self.sink = iwarp.Conn(self.loop, ours, True)
        self.loop.until(lambda: self.sink.open, 'the start-up')

    def _read(self, stag, to, size):
        """What a Read brings, or None where the connection ends."""
        read = self.sink.read(stag, to, size)
        self.loop.until(lambda: read.finished or self.sink.ended, 'the end of a Read')
        return bytes(read.data) if read.finished else None

    def test_a_read_of_no_bytes_needs_no_key(self):
        """A device on verbs asks so whether a silent peer is there."""
        self.assertEqual(self._read(0, 0, 0), b'')
        self.assertEqual(self._read(7, 2**64 - 1, 0), b'')
        self.assertEqual(self.source.flaws, [])

    def test_a_read_of_one_byte_needs_one(self):
        """That covers it."""
        key = self.source.expose(b'abc', readable=True)
        self.assertEqual(self._read(key.stag, key.to + 2, 1), b'c')
        self.assertIsNone(self._read(key.stag, key.to + 3, 1))
        self.assertEqual(len(self.source.flaws), 1)


if __name__ == '__main__':
    unittest.main()

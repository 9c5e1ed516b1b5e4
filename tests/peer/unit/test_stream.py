# SPDX-License-Identifier: BSD-3-Clause
"""A stream of bytes: what came is not lost when the other end takes no more."""
import socket
import unittest

from net.loop import Loop
from net.stream import Stream


class Owner:
    """Keeps what comes."""

    def __init__(self):
        self.came = b''
        self.ended = None

    def received(self, data):
        """Of the stream."""
        self.came += data

    def stream_ended(self, why):
        """Of the stream."""
        self.ended = why


class LastWords(unittest.TestCase):
    """A peer that says something and closes, with bytes of ours unread."""

    def _heard(self, ours, theirs):
        loop, owner = Loop(patience=5), Owner()
        self.addCleanup(loop.close)
        stream = Stream(loop, ours, owner)
        stream.send(b'x' * 100)
        theirs.send(b'last words')
        theirs.close()
        for _ in range(3):
            stream.send(b'more')
        loop.until(lambda: owner.ended, 'the end')
        return owner.came

    def test_on_a_pair_of_sockets(self):
        self.assertEqual(self._heard(*socket.socketpair()), b'last words')

    def test_on_tcp(self):
        with socket.create_server(('127.0.0.1', 0)) as listener:
            ours = socket.create_connection(listener.getsockname())
            theirs = listener.accept()[0]
            self.assertEqual(self._heard(ours, theirs), b'last words')


if __name__ == '__main__':
    unittest.main()

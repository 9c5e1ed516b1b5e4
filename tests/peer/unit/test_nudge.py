# SPDX-License-Identifier: BSD-3-Clause
"""An initiator whose first Send may lie unread at the other end writes nothing, a few times."""
import socket
import unittest

from net import iwarp
from net.events import Written
from net.loop import Loop


class Nudge(unittest.TestCase):
    """Until something has come behind the answer to the request."""

    def setUp(self):
        self.loop = Loop(patience=5)
        self.loop.alone = True
        self.addCleanup(self.loop.close)

    def _pair(self, nudge):
        ours, theirs = socket.socketpair()
        acceptor = iwarp.Conn(self.loop, theirs, False)
        acceptor.on_request = acceptor.accept
        initiator = iwarp.Conn(self.loop, ours, True, nudge=nudge)
        self.loop.until(lambda: initiator.open, 'the start-up')
        return initiator, acceptor

    @staticmethod
    def _writes(conn):
        return [event for event in conn.events if isinstance(event, Written)]

    def test_silence_is_nudged_three_times(self):
        initiator, acceptor = self._pair(nudge=True)
        initiator.send(b'call')
        self.loop.run(30)
        self.assertEqual([event.size for event in self._writes(acceptor)], [0, 0, 0])
        self.assertEqual(acceptor.flaws, [])

    def test_who_has_answered_is_not_nudged(self):
        initiator, acceptor = self._pair(nudge=True)
        acceptor.on_send = lambda sent: acceptor.send(b'reply')
        initiator.send(b'call')
        self.loop.run(30)
        self.assertEqual(self._writes(acceptor), [])

    def test_nobody_is_nudged_unless_told(self):
        initiator, acceptor = self._pair(nudge=False)
        initiator.send(b'call')
        self.loop.run(30)
        self.assertEqual(self._writes(acceptor), [])


if __name__ == '__main__':
    unittest.main()

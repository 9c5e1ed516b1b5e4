# SPDX-License-Identifier: BSD-3-Clause
"""The loop where both ends are here: silence costs no time."""
import socket
import unittest

from net.limit import Limit
from net.loop import Late, Loop


class Alone(unittest.TestCase):
    """Time is passed over when nothing can come in it."""

    def setUp(self):
        self.loop = Loop(patience=50)
        self.loop.alone = True
        self.addCleanup(self.loop.close)
        self.limit = Limit(10)

    def tearDown(self):
        self.assertFalse(self.limit.passed())

    def test_timers_fire_in_their_order_without_a_wait(self):
        fired = []
        for seconds in (30, 10, 20):
            self.loop.after(seconds, lambda s=seconds: fired.append((s, self.loop.now())))
        begin = self.loop.now()
        self.loop.until(lambda: len(fired) == 3, 'three timers')
        self.assertEqual([s for s, _at in fired], [10, 20, 30])
        for seconds, at in fired:
            self.assertGreaterEqual(at - begin, seconds - 0.001)

    def test_a_timer_behind_the_limit_does_not_fire(self):
        fired = []
        self.loop.after(60, lambda: fired.append(True))
        with self.assertRaises(Late):
            self.loop.until(lambda: fired, 'a timer')
        self.loop.run(61)
        self.assertTrue(fired)

    def test_without_timers_nothing_can_come(self):
        with self.assertRaises(Late):
            self.loop.until(lambda: False, 'nothing')
        begin = self.loop.now()
        self.loop.run(40)
        self.assertGreaterEqual(self.loop.now() - begin, 40)

    def test_what_is_there_comes_before_a_timer(self):
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        order = []

        def readable():
            order.append(ours.recv(10))
        self.loop.watch(ours, readable)
        self.loop.after(5, lambda: order.append('timer'))
        theirs.send(b'data')
        self.loop.until(lambda: len(order) == 2, 'both')
        self.assertEqual(order, [b'data', 'timer'])


if __name__ == '__main__':
    unittest.main()

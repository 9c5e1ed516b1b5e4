# SPDX-License-Identifier: BSD-3-Clause
"""Limits of time grow with the slowness of the machine, and with nothing else."""
import unittest
from unittest import mock

from net import limit
from net.limit import FACTOR_MOST, Limit, WORK_S, factor, factor_of
from net.loop import Late, Loop


class Factors(unittest.TestCase):
    """By work and by load."""

    def test_an_idle_machine_has_bare_limits(self):
        """A fast one too."""
        self.assertEqual(factor_of(WORK_S, 0.0, 2), 1)
        self.assertEqual(factor_of(WORK_S / 5, 2.0, 2), 1)

    def test_slow_work_and_load_raise_it(self):
        """The larger of both counts."""
        self.assertAlmostEqual(factor_of(4 * WORK_S, 0.0, 2), 4)
        self.assertAlmostEqual(factor_of(WORK_S, 6.0, 2), 3)
        self.assertAlmostEqual(factor_of(4 * WORK_S, 6.0, 2), 4)

    def test_it_is_bounded(self):
        """A wait in vain ends."""
        self.assertEqual(factor_of(1e6, 0.0, 2), FACTOR_MOST)
        self.assertEqual(factor_of(WORK_S, 1e6, 1), FACTOR_MOST)

    def test_this_machine_has_one(self):
        """Also where nobody knows its load."""
        self.assertGreaterEqual(factor(), 1)
        with mock.patch('os.getloadavg', side_effect=OSError):
            self.assertGreaterEqual(factor(), 1)


class Limits(unittest.TestCase):
    """Of which a machine that is slow has more."""

    def test_it_passes(self):
        """Not before its time."""
        self.assertFalse(Limit(1000).passed())
        self.assertGreater(Limit(1000).left(), 900)
        with mock.patch.object(limit, 'factor', return_value=1.0):
            self.assertTrue(Limit(0).passed())
        self.assertEqual(Limit(0).left(), 0)

    def test_it_grows_on_a_slow_machine(self):
        """It would have passed on an idle one."""
        slow = Limit(1000)
        slow.begin -= 2000
        with mock.patch.object(limit, 'factor', return_value=20.0):
            self.assertFalse(slow.passed())
        self.assertGreater(slow.left(), 17000)

    def test_the_machine_is_not_measured_in_time(self):
        """Nobody pays for it."""
        with mock.patch.object(limit, 'factor') as measured:
            Limit(1000).passed()
            measured.assert_not_called()


class Waits(unittest.TestCase):
    """Of the loop."""

    def setUp(self):
        self.loop = Loop(patience=0.001)
        self.addCleanup(self.loop.close)

    def test_what_comes_while_the_machine_is_measured_is_in_time(self):
        """However long that takes."""
        came = []

        def measured():
            self.loop.after(0, lambda: came.append(True))
            return 1.0
        with mock.patch.object(limit, 'factor', measured):
            self.loop.until(lambda: came, 'a timer')

    def test_a_slow_machine_has_more_patience(self):
        """As many times more as it is slower."""
        with mock.patch.object(limit, 'factor', return_value=1e6):
            came = []
            self.loop.after(0.05, lambda: came.append(True))
            self.loop.until(lambda: came, 'a timer')

    def test_a_wait_in_vain_ends(self):
        """With what did not come."""
        with mock.patch.object(limit, 'factor', return_value=2.0), self.assertRaisesRegex(Late, 'nothing'):
            self.loop.until(lambda: False, 'nothing')


if __name__ == '__main__':
    unittest.main()

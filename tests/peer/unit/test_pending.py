# SPDX-License-Identifier: BSD-3-Clause
"""Receives that keep the size they were posted with, as on verbs: who waits for larger ones uses them up."""
import unittest

import run
from scenarios import load
from subject import self_test
from wire import characteristics as wire

RISE = ('a_raised_size_is_told_when_all_receives_have_it', 'receives_rise_and_fall_under_calls',
        'the_newest_of_several_requests_wins', 'what_is_done_is_in_effect')


class Posted:
    """Bends an end: its receives are this many, and larger ones come behind those that are posted.

    It tells of them when no more than @old smaller ones are left.
    """

    def __init__(self, end, count, old):
        self.end, self.count, self.old = end, count, old
        self.sizes = []
        self.wanted = None
        end.fits_receive = self.fits_receive
        end.raised = self.raised
        end.give_lower = self.give_lower

    def fits_receive(self, size):
        """A Send takes the oldest."""
        posted = self.sizes.pop(0) if self.sizes else self.end.receive_size
        self.tell()
        return size <= posted

    def raised(self, size):
        """Behind all that are posted."""
        if size <= self.end.told_size and self.wanted is None:
            return 'done'
        self.wanted = size
        self.sizes += [self.end.receive_size] * (self.count - len(self.sizes))
        return 'pend'

    def tell(self):
        """What pends has ended as soon as it may."""
        if self.wanted is not None and len(self.sizes) <= self.old:
            self.end.receive_size, self.wanted = self.wanted, None
            self.end.update(wire.RBSIZ, self.end.receive_size, pendclr=True)

    def give_lower(self):
        """Larger ones do no harm."""
        self.wanted = None
        self.end.receive_size = self.end.told_size = self.end.lower_pending
        self.end.lower_pending = None


def outcome(name, count, old):
    """(verdict, why) of a scenario whose other end has such receives."""
    scenario = next(s for s in load() if s.name == name)
    got = run.attempt(scenario, lambda loop: self_test.Play(
        loop, scenario, lambda end: Posted(end, count, old)), 5)
    return got.verdict, got.why


class Pending(unittest.TestCase):
    """Scenarios in which a receive size rises."""

    def test_what_is_posted_is_used_up(self):
        """And the larger size holds in the end."""
        for name in RISE:
            for count in (1, 24, 150):
                with self.subTest(name=name, count=count):
                    self.assertEqual(outcome(name, count, 0), (run.PASS, ''))

    def test_a_size_that_is_told_too_soon_is_found(self):
        """While one smaller receive is posted still."""
        for name in RISE[:2]:
            with self.subTest(name=name):
                self.assertEqual(outcome(name, 24, 1)[0], run.FAIL)

    def test_a_size_that_never_comes_is_waited_for_no_longer(self):
        """However many receives are used up."""
        for name in RISE:
            with self.subTest(name=name):
                verdict, why = outcome(name, 100000, 0)
                self.assertEqual(verdict, run.FAIL)
                self.assertIn('waited in vain', why)


if __name__ == '__main__':
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""The report of the tests themselves: what fails must show."""

import io
import unittest

import tap


class Sample(unittest.TestCase):
    """Cases that are run by the tests below."""

    def passes(self):
        """Nothing."""

    def fails(self):
        """An assertion."""
        self.assertEqual(1, 2)

    def raises(self):
        """An error."""
        raise OSError("no such thing")

    def fails_in_a_part(self):
        """The second of two parts."""
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertEqual(number, 1)


class BadFixture(unittest.TestCase):
    """Cases that are never reached."""

    @classmethod
    def setUpClass(cls):
        """Fails."""
        raise OSError("no fixture")

    def is_not_reached(self):
        """Nothing."""


def report(*cases):
    """(whether all went well, the lines but those of comment)."""
    stream = io.StringIO()
    good = tap.run(unittest.TestSuite(cases), stream)
    return good, [line for line in stream.getvalue().splitlines() if line[0] != "#"]


class Tap(unittest.TestCase):
    """What tap.py prints."""

    def test_a_case_that_passes_is_ok(self):
        """And the plan counts it."""
        good, lines = report(Sample("passes"))
        self.assertTrue(good)
        self.assertEqual(lines, ["ok 1 - test_tap.Sample.passes", "1..1"])

    def test_a_case_that_fails_is_not(self):
        """Also one that raises, and one of which a part fails; each is one line."""
        for name in ("fails", "raises", "fails_in_a_part"):
            good, lines = report(Sample("passes"), Sample(name))
            self.assertFalse(good)
            self.assertEqual(lines[1:], [f"not ok 2 - test_tap.Sample.{name}", "1..2"])

    def test_a_fixture_that_fails_shows(self):
        """Or its cases would just be missing."""
        good, lines = report(BadFixture("is_not_reached"), Sample("passes"))
        self.assertFalse(good)
        self.assertTrue(lines[0].startswith("not ok 1 - setUpClass"))
        self.assertEqual(lines[1:], ["ok 2 - test_tap.Sample.passes", "1..2"])

    def test_no_cases_are_a_failure(self):
        """Nobody looked."""
        self.assertFalse(report()[0])

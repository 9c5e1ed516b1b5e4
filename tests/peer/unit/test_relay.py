# SPDX-License-Identifier: BSD-3-Clause
"""Each fault of the relay, between the peer and a right server, is found by the statements that it breaks."""
import collections
import unittest

import causes
import run
from relay import fault as of
from relay.faults import FAULTS
from scenarios import load
from scene import scenario
from subject import external, relayed

KINDS = {'grants', 'lists', 'lengths', 'offsets', 'timing', 'versions', 'characteristics'}
# What all servers are asked, by statement.
ASKED = collections.defaultdict(list)
for _one in load():
    if _one.role == scenario.RESPONDER and not _one.needs & external.NEEDS.keys():
        ASKED[_one.tag].append(_one)
# Of a fault that nobody can see: where it would be seen first.
LOOKED_AT = ('A2-3', 'A2-4', 'A3.3-2', 'A3.3-3', 'A3.6-2', 'A3.7-1', 'A3.7-2', 'A5.2-2')


def outcomes(fault, tags):
    """What comes of all scenarios of these statements."""
    return [run.attempt(one, lambda loop, s=one: relayed.Play(loop, s, fault), 5)
            for tag in tags for one in ASKED[tag]]


class Faults(unittest.TestCase):
    """One case for each, made below."""

    def test_there_are_as_many_as_there_should_be(self):
        """Of all kinds."""
        self.assertGreaterEqual(len(FAULTS), 31)
        kinds = collections.Counter(fault.kind for fault in FAULTS.values())
        self.assertEqual(set(kinds), KINDS)
        self.assertGreaterEqual(min(kinds.values()), 3)

    def test_each_is_found_or_says_why_not(self):
        """And names statements that are asked of every server."""
        for fault in FAULTS.values():
            self.assertNotEqual(bool(fault.found_by), bool(fault.unseen), fault.name)
            self.assertEqual([tag for tag in fault.found_by if not ASKED[tag]], [], fault.name)

    def test_one_fault_has_one_first_cause(self):
        """Whichever statements it fails."""
        for name, tags, found in (
                ('the write list is left out', ('A3.4-10', 'A3.7-1', 'A3.7-2', 'A3.8-1', 'A-Δ5'),
                 {'A3.7-1', 'A3.7-2'}),
                ('the reply chunk is left out', ('A3.8-1', 'A5.2-1', 'A5.2-2', 'A5.2-3', 'A-Δ3'), {'A5.2-2'}),
                ('a reply comes twice', ('A2-3', 'A3-1', 'A3.3-2', 'A4.1-2', 'A5.1-2'), {'A3-1', 'A4.1-2'})):
            told = causes.of(outcomes(FAULTS[name], tags))
            self.assertEqual(len(told), 1, name)
            self.assertIn(told[0][0].scenario.tag, found, name)

    def test_a_relay_without_a_fault_changes_nothing(self):
        """What passes is taken apart and put together again."""
        fault = of.Fault('none', (), '', 'none', {what: lambda link, passing: None for what in (
            of.CALL, of.REPLY, of.WRITE, of.READ, of.START)})
        for outcome in outcomes(fault, LOOKED_AT):
            self.assertEqual((outcome.verdict, outcome.why), (run.PASS, ''), outcome.scenario.name)


def _test_of(fault):
    def test(self):
        found = collections.defaultdict(set)
        for outcome in outcomes(fault, fault.found_by or LOOKED_AT):
            self.assertNotEqual(outcome.verdict, run.BROKEN, f'{outcome.scenario.name}: {outcome.why}')
            found[outcome.scenario.tag].add(outcome.verdict)
        for tag, verdicts in found.items():
            self.assertEqual(run.FAIL in verdicts, bool(fault.found_by), f'{fault.name}: {tag} {verdicts}')
    test.__doc__ = fault.unseen or f'Found by {", ".join(fault.found_by)}.'
    return test


for _fault in FAULTS.values():
    setattr(Faults, f'test_{_fault.name.replace(" ", "_")}', _test_of(_fault))


if __name__ == '__main__':
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""No scenario that judges other servers fails one for what the documents leave to it."""
import unittest

import kinds
import run
import statements
from scenarios import load
from scene import scenario
from subject import external, self_test

ASKED_OF_OTHERS = [s for s in load()
                   if s.role == scenario.RESPONDER and s.dialect == scenario.VERSION_ONE
                   and s.tag[0] != 'I'        # iWARP's own, on which no kind touches
                   and not s.needs & external.NEEDS.keys()]
TABLE = statements.read()


def asked(rfc):
    """What others are asked by the drafts and the RFCs, or beside that by the RFCs alone."""
    if not rfc:
        return [s for s in ASKED_OF_OTHERS if 'rfc' not in s.needs]
    return [s for s in ASKED_OF_OTHERS if statements.of_an_rfc(s, TABLE)
            and ('rfc' in s.needs or 'rfc' in s.function.__code__.co_names)]


class Kinds(unittest.TestCase):
    """Each kind of server, asked all that is asked of a server that is not ours."""

    def test_the_rfcs_ask_for_more(self):
        """Of what each kind of the draft does otherwise something is found."""
        self.assertGreater(len(asked(rfc=True)), 5)
        for kind in kinds.OF_THE_DRAFT:
            verdicts = {run.attempt(one, lambda loop, s=one, k=kind: self_test.Play(loop, s, k), 2, True).verdict
                        for one in asked(rfc=True)}
            self.assertIn(run.FAIL, verdicts, kind.__name__)


def _test_of(kind):
    fine = {run.PASS, run.NOT_SEEN} if kind in kinds.NOT_ALL_CAN_BE_ASKED else {run.PASS}

    def test(self):
        for rfc in (False,) if kind in kinds.OF_THE_DRAFT else (False, True):
            for one in asked(rfc):
                with self.subTest(tag=one.tag, scenario=one.name, rfc=rfc):
                    outcome = run.attempt(one, lambda loop, s=one: self_test.Play(loop, s, kind), 2, rfc)
                    self.assertIn(outcome.verdict, fine, outcome.why)
    test.__doc__ = kind.__doc__
    return test


for _kind in kinds.KINDS:
    setattr(Kinds, f'test_{_kind.__name__}', _test_of(_kind))


if __name__ == '__main__':
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""No scenario that judges other servers fails one for what the documents leave to it."""
import unittest

import kinds
import run
from scenarios import load
from scene import scenario
from subject import external, itself

ASKED_OF_OTHERS = [s for s in load()
                   if s.role == scenario.RESPONDER and s.dialect == scenario.VERSION_ONE
                   and s.tag[0] != 'I'        # iWARP's own, on which no kind touches
                   and not s.needs & external.NEEDS.keys()]


class Kinds(unittest.TestCase):
    """Each kind of server, asked all that is asked of a server that is not ours."""


def _test_of(kind):
    fine = {run.PASS, run.NOT_SEEN} if kind in kinds.NOT_ALL_CAN_BE_ASKED else {run.PASS}

    def test(self):
        for one in ASKED_OF_OTHERS:
            with self.subTest(tag=one.tag, scenario=one.name):
                outcome = run.attempt(one, lambda loop, s=one: itself.Play(loop, s, kind), 2)
                self.assertIn(outcome.verdict, fine, outcome.why)
    test.__doc__ = kind.__doc__
    return test


for _kind in kinds.KINDS:
    setattr(Kinds, f'test_{_kind.__name__}', _test_of(_kind))


if __name__ == '__main__':
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""What may come of a scenario."""
import dataclasses

PASS, FAIL, NOT_BUILT, NOT_SEEN, BROKEN = 'pass', 'fail', 'not built', 'not seen', 'broken'
KNOWN = 'known'      # fails as a list of known deviations says
BAD = (BROKEN, FAIL)
WORST_FIRST = (*BAD, KNOWN, NOT_BUILT, NOT_SEEN, PASS)


@dataclasses.dataclass
class Outcome:
    """What came of one scenario."""
    scenario: object
    verdict: str
    why: str = ''
    trace: list = dataclasses.field(default_factory=list)
    how: str = ''        # of --self: played right, or wrong by which bend
    used: frozenset = frozenset()    # of a failure: which parts of the protocol its last messages used

    @property
    def name(self):
        """The scenario's, in words."""
        return self.scenario.name.replace('_', ' ')

    @property
    def bad(self):
        """Whether it makes the run fail."""
        return self.verdict in BAD

# SPDX-License-Identifier: BSD-3-Clause
"""The possible outcomes of a scenario."""
import dataclasses

PASS, FAIL, NOT_BUILT, NOT_SEEN, BROKEN = 'pass', 'fail', 'not built', 'not seen', 'broken'
KNOWN = 'known'      # fails as a list of known deviations says
BAD = (BROKEN, FAIL)
WORST_FIRST = (*BAD, KNOWN, NOT_BUILT, NOT_SEEN, PASS)


@dataclasses.dataclass
class Outcome:
    """The outcome of one scenario."""
    scenario: object
    verdict: str
    why: str = ''
    trace: list = dataclasses.field(default_factory=list)
    how: str = ''        # of --self: played right, or wrong by which bend
    used: frozenset = frozenset()    # of a failure: which parts of the protocol its last messages used

    @property
    def name(self):
        """Returns the name of the scenario in words."""
        return self.scenario.name.replace('_', ' ')

    @property
    def bad(self):
        """Returns whether it makes the run fail."""
        return self.verdict in BAD

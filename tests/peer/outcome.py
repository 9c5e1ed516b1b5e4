# SPDX-License-Identifier: BSD-3-Clause
"""What may come of a scenario."""
import dataclasses

PASS, FAIL, NOT_BUILT, NOT_SEEN, BROKEN = 'pass', 'fail', 'not built', 'not seen', 'broken'
BAD = (BROKEN, FAIL)
WORST_FIRST = (*BAD, NOT_BUILT, NOT_SEEN, PASS)


@dataclasses.dataclass
class Outcome:
    """What came of one scenario."""
    scenario: object
    verdict: str
    why: str = ''
    trace: list = dataclasses.field(default_factory=list)
    how: str = ''        # of --self: played right, or wrong by which bend

    @property
    def bad(self):
        """Whether it makes the run fail."""
        return self.verdict in BAD

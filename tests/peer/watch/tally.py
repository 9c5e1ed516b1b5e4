# SPDX-License-Identifier: BSD-3-Clause
"""Counts for each statement how often it held, and records how it was first broken."""
import dataclasses

from wire import header


@dataclasses.dataclass
class Count:
    """One statement."""
    held: int = 0
    broken: int = 0
    first: str = ''


class Tally:
    """Counts of all statements. Reports the first violation of each immediately."""

    def __init__(self, tell):
        self.counts = {}
        self._tell = tell

    def note(self, tag, verdict, data=b''):
        """verdict: True if it held, words if it was broken, None if it does not apply."""
        if verdict is None:
            return
        count = self.counts.setdefault(tag, Count())
        if verdict is True:
            count.held += 1
            return
        count.broken += 1
        if count.broken == 1:
            count.first = verdict
            self._tell(f'{tag}: {verdict}')
            if data:
                self._tell(f'    {header.describe(data)}')
                for line in header.dump(data, 160).splitlines():
                    self._tell(f'        {line}')

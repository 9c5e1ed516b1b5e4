# SPDX-License-Identifier: BSD-3-Clause
"""The last messages of a scenario, for whoever has to see why it failed."""
import collections

from wire import header

KEPT = 6


class Trace:
    """Keeps the last Sends both ways."""

    def __init__(self):
        self._kept = collections.deque(maxlen=KEPT)

    def sent(self, data):
        """A Send of ours."""
        self._kept.append(('sent', bytes(data)))

    def came(self, data):
        """A Send of the other end."""
        self._kept.append(('came', bytes(data)))

    def lines(self):
        """What was kept, described and as bytes."""
        for way, data in self._kept:
            yield f'{way}: {header.describe(data)}'
            for line in header.dump(data, 160).splitlines():
                yield f'      {line}'

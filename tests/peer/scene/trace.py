# SPDX-License-Identifier: BSD-3-Clause
"""The last messages of a scenario, for the report of a failure."""
import collections

from wire import header

KEPT = 6
CALL, READ_CHUNK, WRITE_CHUNK, REPLY_CHUNK, TWO = (
    'a Call', 'a read chunk', 'a write chunk', 'a reply chunk', 'version two')


def _parts(data):
    """Returns the parts of the protocol that a message uses."""
    try:
        message = header.decode(data)
    except header.HeaderError:
        return set()
    uses = {CALL: message.proc in (header.MSG, header.NOMSG), READ_CHUNK: message.reads,
            WRITE_CHUNK: message.writes, REPLY_CHUNK: message.reply, TWO: message.vers == 2}
    return {part for part, used in uses.items() if used}


class Trace:
    """Keeps the last Sends in both directions."""

    def __init__(self):
        self._kept = collections.deque(maxlen=KEPT)

    def sent(self, data):
        """Keeps a Send of ours."""
        self._kept.append(('sent', bytes(data)))

    def came(self, data):
        """Keeps a Send of the other end."""
        self._kept.append(('came', bytes(data)))

    def used(self):
        """Returns the parts of the protocol that the kept messages use."""
        return frozenset().union(*(_parts(data) for _way, data in self._kept))

    def lines(self):
        """Returns the kept messages, decoded and as bytes."""
        for way, data in self._kept:
            yield f'{way}: {header.describe(data)}'
            for line in header.dump(data, 160).splitlines():
                yield f'      {line}'

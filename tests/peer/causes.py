# SPDX-License-Identifier: BSD-3-Clause
"""Which failure is the first cause of others: that of the part of the protocol which they all use.

A server that leaves write lists out fails each scenario with a write chunk, of whatever statement. Such failures
stand behind the one that judges write lists themselves. Of failures that use nothing in common, but say the same,
the first in the table stands for all.
"""
import re

from outcome import FAIL
from scene import trace

MANY = 2        # at least so many failures follow from a cause that is told

# Parts of the protocol, each with the statements that judge it for itself; what stands first, those behind it use.
BASES = (
    (trace.CALL, ('A3-1', 'A4.1-1', 'A4.1-2', 'A4.1-3', 'D1.1.4-1')),
    (trace.TWO, ('E5.1-1', 'E5.3-1', 'B4.1-1')),
    (trace.READ_CHUNK, ('A2-1', 'A3.6-2', 'A3.4-3', 'A5.1-1', 'A2-4')),
    (trace.WRITE_CHUNK, ('A3.7-1', 'A3.7-2', 'A3.7-3', 'A2-3', 'A3.4-10')),
    (trace.REPLY_CHUNK, ('A5.2-2', 'A5.2-1', 'A5.2-4')),
)


def _kind(why):
    """Returns a reason without its numbers."""
    return re.sub(r'(0x)?[0-9a-f]*[0-9][0-9a-f]*', '#', why.split(':')[0])


def _by_parts(failed):
    """Yields (cause, part of the protocol, failures that use it)."""
    left = list(failed)
    for part, tags in BASES:
        users = [o for o in left if part in o.used]
        causes = sorted((o for o in users if o.scenario.tag in tags), key=lambda o: tags.index(o.scenario.tag))
        if causes and len(users) > MANY:
            yield causes[0], f'use {part}, too,', [o for o in users if o is not causes[0]]
            left = [o for o in left if o not in users]


def _by_reasons(failed):
    """Yields the same for failures with equal reasons."""
    alike = {}
    for outcome in failed:
        alike.setdefault(_kind(outcome.why), []).append(outcome)
    for same in alike.values():
        if len(same) > MANY:
            yield same[0], 'say the same', same[1:]


def of(outcomes):
    """Returns [(cause, common part or reason, failures that may follow from it)], the largest first."""
    found = []
    for role in sorted({o.scenario.role for o in outcomes}):
        failed = [o for o in outcomes if o.verdict == FAIL and o.scenario.role == role]
        parts = list(_by_parts(failed))
        told = [o for cause, _what, others in parts for o in (cause, *others)]
        found += parts + list(_by_reasons([o for o in failed if o not in told]))
    return sorted(found, key=lambda cause: -len(cause[2]))

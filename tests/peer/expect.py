# SPDX-License-Identifier: BSD-3-Clause
"""Known deviations of an implementation, one a line, in the form of the lists in tests/lab/conformance.*:

    TAG ROLE SCENARIO | what it does | the function of it | what the peer says then

with the scenario as the report names it, or "*" for all of that tag and role, or for a client. A "~" before it says
that it is so now and then: then the fourth field has to be in what is said. A "[6.1]" before all that says that it
is so of Linux 6.1 only. Which kernel answers is not known here: the lines of several kernels are one deviation, and
what passes is no failure. A line of "#" is for readers.
"""
import dataclasses
import re

from outcome import FAIL, KNOWN, PASS

FIELDS = ('key', 'does', 'where', 'says')


class BadList(Exception):
    """The file is not a valid list."""


@dataclasses.dataclass
class Deviation:
    """One line of a list."""
    key: str
    does: str
    where: str
    says: str
    seldom: bool
    of_kernels: bool = False  # not of all that the list is for

    @property
    def text(self):
        """Returns the deviation, and the function that causes it."""
        return f'{self.does} ({self.where})' if self.where else self.does


def _deviation(line):
    fields = [field.strip() for field in line.split('|')]
    kernel, fields[0] = re.match(r'(?:\[([0-9.]+)\] *)?(.*)', fields[0]).groups('')
    seldom = fields[0].startswith('~')
    key = fields[0].removeprefix('~')
    if not 2 <= len(fields) <= len(FIELDS) or not all(fields) or len(key.split()) < 3:
        raise BadList('not TAG ROLE SCENARIO | what it does | the function of it | what the peer says then')
    if key.split()[1] not in ('RQ', 'RS'):
        raise BadList(f'no role {key.split()[1]}')
    if seldom and len(fields) < len(FIELDS):
        raise BadList('what is so now and then needs what the peer says then')
    if kernel:
        fields[1] = f'Linux {kernel}: {fields[1]}'
    return Deviation(key, *(fields[1:] + ['', '', ''])[:3], seldom, kernel != '')


def _joined(one, other):
    """Returns the Deviation of two lines for two kernels."""
    if not (one.of_kernels and other.of_kernels):
        raise BadList(f'twice in the list: {other.key}')
    if one.seldom and other.seldom and one.says != other.says:
        raise BadList('a deviation that occurs sometimes on two kernels needs the same message of the peer')
    seldom = one.seldom and other.seldom
    return Deviation(one.key, f'{one.text}; {other.text}', '', one.says if seldom else '', seldom, True)


def read(paths, scenarios):
    """Returns {key: Deviation} of all files. BadList has the file and line of an error."""
    names = {f'{s.tag} {s.role} {s.name.replace("_", " ")}' for s in scenarios}
    tags = {s.tag for s in scenarios}
    found = {}
    for path in paths:
        with open(path, encoding='utf-8') as file:
            for number, line in enumerate(file, 1):
                if not line.strip() or line.startswith('#'):
                    continue
                try:
                    deviation = _deviation(line)
                    if deviation.key not in names and not (
                            deviation.key.endswith(' *') and deviation.key.split()[0] in tags):
                        raise BadList(f'no such scenario: {deviation.key}')
                    if deviation.key in found:
                        deviation = _joined(found[deviation.key], deviation)
                except BadList as error:
                    raise BadList(f'{path}:{number}: {error}') from None
                found[deviation.key] = deviation
    return found


def _of(known, tag, role, name):
    return known.get(f'{tag} {role} {name}') or known.get(f'{tag} {role} *')


def held_against(outcomes, known):
    """Yields outcomes; listed failures become known, and listed passes become failures."""
    for outcome in outcomes:
        deviation = _of(known, outcome.scenario.tag, outcome.scenario.role, outcome.name)
        if deviation and outcome.verdict == FAIL and (not deviation.seldom or deviation.says in outcome.why):
            outcome.verdict, outcome.why, outcome.trace = KNOWN, deviation.text, []
        elif (deviation and outcome.verdict == PASS and not deviation.seldom and not deviation.of_kernels
              and not deviation.key.endswith(' *')):
            outcome.verdict, outcome.why = FAIL, f'it passes, and is a known deviation: {deviation.text}'
        yield outcome


def known_counts(counts, known):
    """Returns {tag: Deviation} for the statements that a client broke as listed."""
    return {tag: _of(known, tag, 'RQ', '*') for tag, count in counts.items()
            if count.broken and _of(known, tag, 'RQ', '*')}

# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of a row of tests/REQUIREMENTS.md with one mutant."""
import dataclasses
import os
import re
import subprocess

OF_CASE = re.compile(r'(not ok|ok) [0-9]+ - .*:([a-z0-9_]+): ')
OF_SCENARIO = re.compile(r'(not ok|ok) [0-9]+ - (\S+ R[QS] [^#\n]*)')
NOT_SEEN = 'not seen: '
SILENT_S = '60'     # of an idle machine: a program that prints nothing for so long is ended


@dataclasses.dataclass
class Row:
    """A row of the table: its tests by program, and whether the peer has scenarios for it."""
    tag: str
    shown: str

    @property
    def is_seen(self):
        """Returns whether it has a test."""
        return not self.shown.startswith(NOT_SEEN)

    @property
    def programs(self):
        """Returns {program: [names of its cases]} of the tests in C."""
        found = {}
        for program, name in re.findall(r'(tests/\S+)\.c:([a-z0-9_]+)', self.shown):
            found.setdefault(program, []).append(name)
        return found

    @property
    def has_scenarios(self):
        """Returns whether the peer tests it."""
        return re.match(r'peer R|.*, peer R', self.shown) is not None


def rows(table):
    """Returns all rows, {tag: Row}, in their order."""
    found = {}
    for line in table.read_text(encoding='utf-8').splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if len(cells) == 5 and re.match(r'([A-EI][0-9][0-9.]*-[0-9]+|A-Δ[0-9]+|X-[0-9]+)$', cells[0]):
            found[cells[0]] = Row(cells[0], cells[4])
    return found


def _run(build, number, command, more=None):
    """Runs a command. Returns its standard output and its status."""
    environment = {**os.environ, **(more or {}), 'MUTANT': str(number), 'srcdir': str(build.tree), 'LC_ALL': 'C.UTF-8'}
    limit = [str(build.folder / 'tests/lib/time_limit'), '-o', SILENT_S]
    done = subprocess.run([*limit, *command], cwd=build.folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors='replace'), done.returncode


def cases(build, program, names, number):
    """Returns {test: passed} for cases of a program with a mutant; a case that did not finish has failed.

    A test is called as a row of the table calls it.
    """
    text, _status = _run(build, number, [str(build.folder / program)],
                         {'TEST_ONLY': ' '.join(names), 'CK_DEFAULT_TIMEOUT': '4'})
    passed = {}
    for verdict, name in OF_CASE.findall(text):
        passed[name] = passed.get(name, True) and verdict == 'ok'
    return {f'{program}.c:{name}': passed.get(name, False) for name in names}


def scenarios(build, tag, number):
    """Returns {scenario: passed} for the peer's scenarios of a statement, against a daemon with a mutant."""
    text, status = _run(build, number, [str(build.tree / 'tests/peer/conformance'), '--tap', '--daemon',
                                        str(build.folder / 'daemon/rpcrdma-proxy'), tag])
    passed = {f'peer: {name}': verdict == 'ok' for verdict, name in OF_SCENARIO.findall(text) if name.startswith(f'{tag} ')}
    return passed or {f'peer: {tag}': status == 0}

# SPDX-License-Identifier: BSD-3-Clause
"""The table of statements in tests/REQUIREMENTS.md: one source for documents, code and conformance.

Which of them are no MUST stands in `levels`, beside this.
"""
import dataclasses
import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parent.parent / 'REQUIREMENTS.md'
LEVELS = pathlib.Path(__file__).resolve().parent / 'levels'
MUST, SHOULD, MAY = 'MUST', 'SHOULD', 'MAY'
DRAFTS = {'A': 'draft-ietf-nfsv4-rpcrdma-03', 'B': 'draft-dnoveck-nfsv4-rpcrdma-xcharext-00',
          'C': 'draft-ietf-nfsv4-rpcrdma-cm-pvt-data', 'D': 'draft-ietf-nfsv4-rpcrdma-bidirection-02',
          'E': 'draft-cel-nfsv4-rpcrdma-version-two-00'}
OF_DRAFT = re.compile(r'([A-E])([0-9][0-9.]*)-')
TAG = re.compile(r'[A-EIX][0-9.]*-?[0-9Δ]*[0-9]*$|A-Δ[0-9]+$')
SECTION = re.compile(r'([0-9]{4}) §([0-9A.]+)')
ASKED_SECTION = re.compile(r'(?:RFC ?)?([0-9]{4})(?:[ /]*§?([0-9.]*))$', re.IGNORECASE)
NOT_BUILT = 'not built: '


@dataclasses.dataclass
class Statement:
    """One row."""
    tag: str
    text: str
    rfc: str
    where: str
    shown: str
    level: str = MUST
    levels_of: dict = dataclasses.field(default_factory=dict)    # {role: level}, where it is another one

    @property
    def sections(self):
        """Returns the sections of RFCs, such as `RFC 8166 §3.4.6, §4.3.2; RFC 8797 §4`, or an empty text."""
        of = {}
        for number, section in SECTION.findall(self.rfc):
            of.setdefault(number, []).append(f'§{section}')
        return '; '.join(f'RFC {number} {", ".join(all_)}' for number, all_ in of.items())

    @property
    def draft(self):
        """Returns the section of the tag's draft, or an empty text."""
        found = OF_DRAFT.match(self.tag)
        return f'{DRAFTS[found[1]]} §{found[2]}' if found else ''

    @property
    def reference(self):
        """Returns its level, the levels of roles that differ, and the sections of RFCs and of the draft."""
        levels_ = ', '.join([self.level, *(f'{role} {level}' for role, level in self.levels_of.items())])
        return '; '.join(filter(None, (levels_, self.sections, self.draft)))

    @property
    def not_built(self):
        """Returns the missing part of our implementation, or None."""
        found = [part for part in self.where.split(', ') if part.startswith(NOT_BUILT)]
        return found[0][len(NOT_BUILT):] if found else None

    @property
    def begun(self):
        """Returns whether a part of it is implemented."""
        return ':' in self.where.split(NOT_BUILT)[0]


def levels(path=LEVELS):
    """Returns {tag: {role: level}} of statements that are no MUST; the role '' stands for both."""
    found = {}
    for line in path.read_text(encoding='utf-8').splitlines():
        if line and not line.startswith('#'):
            tag, *role, level = line.split('|')[0].split()
            found.setdefault(tag, {})[''.join(role)] = level
    return found


def read(path=TABLE):
    """Returns all rows by tag, in the order of the table."""
    rows, lower = {}, levels()
    for line in path.read_text(encoding='utf-8').splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if line.startswith('|') and len(cells) == 5 and TAG.match(cells[0]):
            own = dict(lower.get(cells[0], {}))
            rows[cells[0]] = Statement(*cells, own.pop('', MUST), own)
    return rows


def of_an_rfc(scenario, table):
    """Returns whether an RFC covers a scenario: its statement, its dialect, and its requests."""
    row = table.get(scenario.tag)
    return bool(row and row.sections and scenario.dialect == 'version one'
                and not scenario.needs & {'ours', 'draft'})


def meant(word, table):
    """Returns the tags for a word: a tag, the beginning of tags, or a section of an RFC, such as 8166/3.4.5."""
    asked = ASKED_SECTION.match(word)
    if asked:
        number, section = asked[1], asked[2].strip('.')
        return [row.tag for row in table.values()
                if any(of == number and f'{at}.'.startswith(f'{section}.' if section else '')
                       for of, at in SECTION.findall(row.rfc))]
    begin = word.upper().replace('-D', '-Δ')
    return [begin] if begin in table else [tag for tag in table if tag.startswith(begin)] if begin else []

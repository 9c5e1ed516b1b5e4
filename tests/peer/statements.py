# SPDX-License-Identifier: BSD-3-Clause
"""The table of statements in tests/REQUIREMENTS.md: one source for documents, code and conformance."""
import dataclasses
import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parent.parent / 'REQUIREMENTS.md'
TAG = re.compile(r'[A-EIX][0-9.]*-?[0-9Δ]*[0-9]*$|A-Δ[0-9]+$')
NOT_BUILT = 'not built: '


@dataclasses.dataclass
class Statement:
    """One row."""
    tag: str
    text: str
    rfc: str
    where: str
    shown: str

    @property
    def not_built(self):
        """What of ours is missing for it, or None."""
        found = [part for part in self.where.split(', ') if part.startswith(NOT_BUILT)]
        return found[0][len(NOT_BUILT):] if found else None

    @property
    def begun(self):
        """Whether some of it is there."""
        return ':' in self.where.split(NOT_BUILT)[0]


def read(path=TABLE):
    """All rows by tag, in the order of the table."""
    rows = {}
    for line in path.read_text(encoding='utf-8').splitlines():
        cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
        if line.startswith('|') and len(cells) == 5 and TAG.match(cells[0]):
            rows[cells[0]] = Statement(*cells)
    return rows

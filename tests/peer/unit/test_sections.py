# SPDX-License-Identifier: BSD-3-Clause
"""Sections of RFCs: those that are named exist, and each of the RFCs that the drafts became is in the table."""
import os
import pathlib
import re
import unittest

import statements

ROOT = statements.TABLE.parent.parent
# Where sections are named, as far as a distribution has it.
FOLDERS = ('lib', 'daemon', 'tests', 'man', 'doc', 'conf', 'container',
           'README.md', 'CONTRIBUTING.md', 'SECURITY.md')
OURS = re.compile(r'\.(c|h|py|sh|md|mk|x|in|[1-9])$|/(levels|conformance)(\.[a-z]+)?$')
SECTION = r'(?:[0-9]+|[A-C])(?:\.[0-9]+)*(?![A-Za-z0-9])'
# "RFC 8166 sections 3.5.2, 4.5 and 8.2", also over the end of a line of a comment.
NAMED = re.compile(rf'RFC[ ~]?([0-9]{{4}}),?\s+(?:[*#/"]\s+)?(?:sections?|§)\s*(?:[*#/]\s+)?'
                   rf'({SECTION}(?:(?:,|,? and|,? to|,? or)\s+(?:[*#/]\s+)?{SECTION})*)')
# Of these each section is in the table, in a row or below those that have none.
IN_THE_TABLE = ('8166', '8167', '8797', '8267')


def there():
    """{number of the RFC: its sections}, as the list beside this has them."""
    path = pathlib.Path(__file__).resolve().parent.parent / 'sections'
    found = {}
    for line in path.read_text(encoding='utf-8').splitlines():
        number, *sections = line.split()
        if number != '#':
            found.setdefault(number, []).extend(sections)
    return {number: sections for number, sections in found.items() if number.isdecimal()}


def named(text):
    """(RFC, section) wherever a text names one."""
    for number, sections in NAMED.findall(text):
        for section in re.findall(SECTION, re.sub(r'\b(and|to|or)\b|[*#/]', ' ', sections)):
            yield number, section


def texts():
    """(path, text) of all that is ours and may name sections."""
    for folder in FOLDERS:
        top = ROOT / folder
        paths = [top] if top.is_file() else [pathlib.Path(at) / name for at, _folders, names in os.walk(top)
                                             for name in names]
        for path in paths:
            if OURS.search(str(path)):
                yield path.relative_to(ROOT), path.read_text(encoding='utf-8', errors='replace')


def leaves(sections):
    """Those without sections of their own: what others say is in these."""
    return [s for s in sections if not any(other.startswith(f'{s}.') for other in sections)]


class Sections(unittest.TestCase):
    """Held against the list."""

    maxDiff = None

    def test_the_list_has_no_holes(self):
        """Before 4.2 there is 4.1, and above it 4."""
        for number, sections in there().items():
            for section in sections:
                above, _dot, last = section.rpartition('.')
                before = f'{above}.{int(last) - 1}'.lstrip('.') if last.isdecimal() else ''
                self.assertTrue(not above or above in sections, f'{number} {section}')
                self.assertTrue(before in ('', '0', f'{above}.0') or before in sections, f'{number} {section}')

    def test_each_that_the_table_names_is_there(self):
        """In the column of RFCs, and below the rows."""
        list_ = there()
        text = statements.TABLE.read_text(encoding='utf-8')
        pairs = statements.SECTION.findall(text)
        self.assertGreater(len(pairs), 250)
        self.assertEqual([f'{n} §{s}' for n, s in pairs if s not in list_.get(n, ())], [])

    def test_each_that_a_source_names_is_there(self):
        """Of RFCs in the list."""
        list_ = there()
        wrong, count = [], 0
        for path, text in texts():
            for number, section in named(text):
                count += number in list_
                if number in list_ and section not in list_[number]:
                    wrong.append(f'{path}: RFC {number} section {section}')
        self.assertEqual(wrong, [])
        self.assertGreater(count, 100)

    def test_each_is_in_the_table(self):
        """What the RFCs say is looked at somewhere, or it is told why not."""
        pairs = statements.SECTION.findall(statements.TABLE.read_text(encoding='utf-8'))
        for number in IN_THE_TABLE:
            left = [s for s in leaves(there()[number]) if not any(
                n == number and f'{s}.'.startswith(f'{at}.') for n, at in pairs)]
            self.assertEqual(left, [], number)


class Words(unittest.TestCase):
    """How sections are named."""

    def test_sections_are_found(self):
        """One, several, and over the end of a line."""
        for text, found in (('RFC 8166 section 3.4.5: x', ['3.4.5']),
                            ('RFC 8166 sections 4.5 and 8.2.', ['4.5', '8.2']),
                            ('RFC 8166\n * section 4.5.', ['4.5']), ('RFC 8166, section 4.5, says', ['4.5']),
                            ('RFC 8166 sections 3.4.1 to 3.4.5."', ['3.4.1', '3.4.5']),
                            ('RFC 8166 section\n3.4.5."""', ['3.4.5']), ('RFC 8166 section 4 and others', ['4'])):
            self.assertEqual([section for _rfc, section in named(text)], found, text)


if __name__ == '__main__':
    unittest.main()

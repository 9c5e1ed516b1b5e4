# SPDX-License-Identifier: BSD-3-Clause
"""What all scenarios have to keep to; whether each can fail, ./dev conformance --self shows."""
import re
import unittest

from scenarios import load
from scene.scenario import VERSION_ONE
from subject import external
from test_style import sources


class Scenarios(unittest.TestCase):
    """All of them."""

    def test_a_server_can_be_asked_whether_it_speaks_each_dialect(self):
        """Else what it does not speak would count as broken."""
        known = {VERSION_ONE, *external.PROBES}
        self.assertEqual({s.dialect for s in load()} - known, set())

    def test_none_counts_on_a_list_that_may_be_left_out(self):
        """Got.write_chunk() and the like say that it is not there."""
        self.assertEqual([path for path, text in sources() if path.startswith(('scenarios/', 'scene/'))
                          and re.search(r'\.header\.(reads|writes|reply)\[', text)], [])

    def test_no_two_of_a_statement_and_role_have_one_name(self):
        """The report tells them apart by it."""
        names = [(s.tag, s.role, s.name) for s in load()]
        self.assertEqual(sorted({name for name in names if names.count(name) > 1}), [])

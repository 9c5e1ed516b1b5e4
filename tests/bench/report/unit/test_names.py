# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the scripts, as they write them for the report."""

import os
import subprocess
import tempfile
import unittest

from aims import CHAIN, TCP
from names import Contender, Names

BENCH = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLES = {"series.csv": "name_series", "rows.csv": "name_rows", "contenders.csv": "name_contenders"}


class TestTables(unittest.TestCase):
    """What bench.sh writes beside the samples."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            for name, function in TABLES.items():
                script = f'. "$0/contenders.sh" && . "$0/rows.sh" && {function}'
                with open(os.path.join(folder, name), "w", encoding="utf-8") as to:
                    subprocess.run(["bash", "-c", script, BENCH], stdout=to, check=True)
            cls.names = Names.load(folder)

    def test_a_contender(self):
        self.assertEqual(self.names.contender("chain-mss"), Contender("our two, FPDU of MSS", 2, "haproxy2", "ours pale"))
        self.assertEqual(self.names.contender("direct"), Contender("no proxy", 0, "", "none"))

    def test_references_are_contenders(self):
        known = self.names.contenders
        self.assertEqual({one.reference for one in known.values()} - {""} - set(known), set())

    def test_a_row(self):
        self.assertEqual(self.names.row("lo", "mixed").title, "GETATTR beside bulk READs")
        self.assertEqual(self.names.row("lo", "mixed-bulk").title, "bulk READs beside GETATTR")
        self.assertEqual(self.names.row("lo", "getattr-x16").title, "")
        self.assertEqual(self.names.row("mtu9000", "getattr-x1").pictures, ("rate",))

    def test_each_row_is_of_a_series(self):
        self.assertEqual({series for series, _ in self.names.rows}, set(self.names.all_series))

    def test_what_is_aimed_at_is_measured(self):
        for aim in CHAIN + TCP:
            with self.subTest(aim.text):
                self.assertIn((aim.series, aim.row), self.names.rows)
                self.assertLessEqual({aim.contender, aim.reference} - {""}, set(self.names.contenders))


if __name__ == "__main__":
    unittest.main()

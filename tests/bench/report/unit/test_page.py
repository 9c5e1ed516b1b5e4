# SPDX-License-Identifier: BSD-3-Clause
"""The page and the tables."""

import re
import unittest
from xml.etree import ElementTree

import table
from aims import Aim
from made import of_ops, sample
from page import goodness, page
from plot import LogScale
from names import title_of
from samples import Run, Spread
from words import figure

SVG = "{http://www.w3.org/2000/svg}"


def whole_run():
    """A Run with something for each section."""
    run = of_ops("getattr-x16", direct=[99, 98], haproxy2=[50, 60], chain=[40, 51], haproxy=[70, 70], tcp=[69, 70])
    for row in ("read-1m-x4", "getattr-x1", "mixed"):
        run.cells.update(of_ops(row, haproxy2=[50, 60], chain=[45, 66], copy2=[70, 80]).cells)
    more = [sample(name, 1, "read-1m-x4", series, "read:1048576", inflight=4.0, ops_per_s=value, all_ops=value, bytes_per_s=1e9)
            for series in ("mtu1500", "lo") for name, value in (("haproxy2", 10.0), ("chain", 9.0))]
    more += [sample("chain", 1, "idle-c1000", "idle", "idle", pss_first_bytes=9000.0, wakes_first_per_s=0.0)]
    run.cells.update(Run(more).cells)
    run.machine = {"kernel": "<6.1 & \"later\">", "load": "2.0 1.0 1.0", "quiet": "no"}
    return run


class TestPage(unittest.TestCase):
    """What a browser gets."""

    @classmethod
    def setUpClass(cls):
        cls.text = page(whole_run())
        cls.tree = ElementTree.fromstring(cls.text.partition("\n")[2])

    def test_well_formed_with_plots(self):
        self.assertGreater(len(self.tree.findall(f".//{SVG}svg")), 8)

    def test_needs_nothing_from_elsewhere(self):
        self.assertNotRegex(self.text, r"<script|<link|<img|@import|url\(|javascript:")
        found = set(re.findall(r"https?://[^\"'<> ]*", self.text))
        self.assertEqual(found, {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"})

    def test_text_is_escaped(self):
        self.assertIn("&lt;6.1 &amp;", self.text)

    def test_everything_lies_within_its_picture(self):
        for svg in self.tree.findall(f".//{SVG}svg"):
            width, height = (float(x) for x in svg.get("viewBox").split()[2:])
            for at in svg:
                for name, most in (("x", width), ("x1", width), ("x2", width), ("cx", width),
                                   ("y", height), ("y1", height), ("y2", height), ("cy", height)):
                    with self.subTest(svg[0].text, tag=at.tag, attribute=name):
                        self.assertTrue(0 <= float(at.get(name, 0)) <= most)

    def test_ratio_is_there(self):
        run = whole_run()
        spread = run.ratio("lo", "getattr-x16", "chain", "haproxy2", "ops")
        self.assertIn(f"{figure(spread.median)}  (0.80–0.85)", self.text)

    def test_doubts_are_told(self):
        self.assertIn("load of 2.0", self.text)

    def test_light_and_dark(self):
        self.assertIn("prefers-color-scheme: dark", self.text)

    def test_what_has_no_name_is_called_as_in_the_samples(self):
        run = of_ops("getattr-x16", chain=[40], haproxy2=[50], another=[30])
        run.cells.update(Run([sample("another", 1, "new-row", "new-series", ops_per_s=1.0)]).cells)
        self.assertIn("another", page(run))
        self.assertIn("new-series: GETATTR ×1", page(run))

    def test_settings_are_compared(self):
        self.assertIn("MTU 1500: READ 1 MiB ×4", self.text)

    def test_a_run_of_one_sample(self):
        ElementTree.fromstring(page(of_ops(chain=[3])).partition("\n")[2])


class TestTables(unittest.TestCase):
    """The same in text."""

    def test_aims(self):
        said = table.text(whole_run())
        self.assertRegex(said, r"GETATTR, 16 in flight +0\.8[23] +0\.80–0\.85 +0\.85 +0\.70 +at least")

    def test_columns_are_aligned(self):
        rows = table.columns([("a", "bb"), ("ccc", "d")])
        self.assertEqual(rows, ["a    bb", "ccc   d"])


class TestWords(unittest.TestCase):
    """How things are written."""

    def test_figures(self):
        self.assertEqual([figure(x) for x in (0.8749, 12.34, 123.4, 48211.0)], ["0.87", "12.3", "123", "48,211"])

    def test_rows(self):
        found = [title_of(*x) for x in (("read:65536", 8.0, 1.0), ("getattr", 1.0, 1000.0), ("write:1048576", 1.0, 1.0),
                                        ("read:65536", 8.0, 4.0))]
        self.assertEqual(found, ["READ 64 KiB ×8", "GETATTR, 1,000 connections", "WRITE 1 MiB ×1",
                                 "READ 64 KiB ×8, 4 connections"])

    def test_goodness_turns_the_range_round(self):
        aim = Aim("", "getattr-x16", "p99", 1.0, 1.5)
        self.assertEqual(goodness(aim, Spread(2.0, 1.0, 4.0, 3)), Spread(0.5, 0.25, 1.0, 3))

    def test_scale(self):
        scale = LogScale(0.5, 2, 100, 200)
        self.assertEqual([scale.at(x) for x in (0.1, 0.5, 1, 2, 9)], [100, 100, 200, 300, 300])


if __name__ == "__main__":
    unittest.main()

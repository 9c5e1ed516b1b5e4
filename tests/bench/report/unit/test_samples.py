# SPDX-License-Identifier: BSD-3-Clause
"""Medians, ranges and ratios."""

import os
import tempfile
import unittest

from made import COLUMNS, of_ops, sample
from samples import METRICS, Run, Spread, spread


class TestSpread(unittest.TestCase):
    """What is told of several values."""

    def test_median_least_most(self):
        self.assertEqual(spread([3.0, 1.0, 8.0]), Spread(3.0, 1.0, 8.0, 3))

    def test_even_number_is_the_mean_of_the_two_in_the_middle(self):
        self.assertEqual(spread([4.0, 1.0, 2.0, 100.0]).median, 3.0)

    def test_none_does_not_count(self):
        self.assertEqual(spread([None, 2.0, None]), Spread(2.0, 2.0, 2.0, 1))

    def test_nothing(self):
        self.assertIsNone(spread([None]))


class TestRatio(unittest.TestCase):
    """Ratios are of one round each."""

    def test_of_rounds_not_of_medians(self):
        run = of_ops(chain=[10, 200, 30], haproxy2=[20, 100, 300])
        self.assertEqual(run.ratio("lo", "getattr-x16", "chain", "haproxy2", "ops"), Spread(0.5, 0.1, 2.0, 3))

    def test_a_slow_round_of_both_changes_nothing(self):
        run = of_ops(chain=[90, 9, 90], haproxy2=[100, 10, 100])
        self.assertEqual(run.ratio("lo", "getattr-x16", "chain", "haproxy2", "ops"), Spread(0.9, 0.9, 0.9, 3))

    def test_a_round_that_one_has_not_is_left_out(self):
        run = of_ops(chain=[1, 1, 9], haproxy2=[2, 2])
        self.assertEqual(run.ratio("lo", "getattr-x16", "chain", "haproxy2", "ops").count, 2)

    def test_none_without_reference(self):
        self.assertIsNone(of_ops(chain=[1]).ratio("lo", "getattr-x16", "chain", "haproxy2", "ops"))

    def test_nothing_is_divided_by_zero(self):
        run = of_ops(chain=[1, 2], haproxy2=[0, 2])
        self.assertEqual(run.ratio("lo", "getattr-x16", "chain", "haproxy2", "ops"), Spread(1.0, 1.0, 1.0, 1))


class TestMetrics(unittest.TestCase):
    """What is made of the columns."""

    def test_cpu_is_of_both_hops_and_all_operations(self):
        one = sample("chain", 1, ops=5.0, all_ops=10.0, cpu_first_s=1e-4, cpu_second_s=3e-4)
        self.assertAlmostEqual(METRICS["cpu"](one), 40)
        self.assertAlmostEqual(METRICS["cpu_second"](one), 30)

    def test_cpu_of_one_hop(self):
        self.assertAlmostEqual(METRICS["cpu"](sample("tcp", 1, all_ops=10.0, cpu_first_s=1e-4)), 10)

    def test_no_proxy_has_no_cpu(self):
        self.assertIsNone(METRICS["cpu"](sample("direct", 1, all_ops=10.0)))

    def test_cpu_of_a_gb(self):
        one = sample("tcp", 1, work="read:1000000", all_ops=2000.0, cpu_first_s=1.0)
        self.assertAlmostEqual(METRICS["cpu_gb"](one), 0.5)
        self.assertIsNone(METRICS["cpu_gb"](sample("tcp", 1, all_ops=2000.0, cpu_first_s=1.0)))

    def test_fairness(self):
        self.assertAlmostEqual(METRICS["fair"](sample("chain", 1, least_ops=30.0, most_ops=40.0)), 0.75)

    def test_wakes_are_those_of_the_hop_that_has_more(self):
        self.assertEqual(METRICS["wakes"](sample("chain", 1, wakes_first_per_s=2.0, wakes_second_per_s=7.0)), 7)


class TestFile(unittest.TestCase):
    """Samples that the script has written."""

    def test_read(self):
        head = ["series", "row", "contender", "round", "work", *COLUMNS]
        line = ["lo", "getattr-x1", "chain", "1", "getattr", *("7" if c == "ops_per_s" else "" for c in COLUMNS)]
        names = {"series": "series,title\n", "rows": 'series,row,pictures,title\nlo,getattr-x1,"rate,cpu","one, alone"\n',
                 "contenders": "contender,hops,reference,class,title\n"}
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "samples.csv"), "w", encoding="utf-8") as to:
                to.write(",".join(head) + "\n" + ",".join(line) + "\n")
            with open(os.path.join(folder, "machine.csv"), "w", encoding="utf-8") as to:
                to.write('load,"0.10 0.2 0.3"\nprocessor,"a ""fast"" one, or two"\n')
            for name, said in names.items():
                with open(os.path.join(folder, f"{name}.csv"), "w", encoding="utf-8") as to:
                    to.write(said)
            run = Run.load(folder)
        self.assertEqual(run.machine["processor"], 'a "fast" one, or two')
        self.assertEqual(run.value("lo", "getattr-x1", "chain", "ops"), Spread(7.0, 7.0, 7.0, 1))
        self.assertIsNone(run.value("lo", "getattr-x1", "chain", "p50"))
        self.assertEqual(run.title("lo", "getattr-x1"), "one, alone")
        self.assertEqual(run.pictured("lo", "cpu"), ["getattr-x1"])


if __name__ == "__main__":
    unittest.main()

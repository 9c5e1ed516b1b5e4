# SPDX-License-Identifier: BSD-3-Clause
"""What counts as reached."""

import unittest

from aims import CHAIN, ENOUGH, REACHED, SHORT, TCP, UNSURE, Aim, doubts, judged
from made import of_ops, sample
from samples import Run, Spread


def exactly(value):
    """A Spread of one value."""
    return Spread(value, value, value, 1)


class TestVerdict(unittest.TestCase):
    """An aim, and what is the least."""

    def test_more_is_better(self):
        aim = Aim("", "getattr-x16", "ops", 0.85, 0.7)
        found = [aim.verdict(exactly(value)) for value in (0.9, 0.85, 0.84, 0.7, 0.69)]
        self.assertEqual(found, [REACHED, REACHED, ENOUGH, ENOUGH, SHORT])

    def test_less_is_better(self):
        aim = Aim("", "getattr-x16", "cpu", 1.4, 1.7)
        found = [aim.verdict(exactly(value)) for value in (1.3, 1.4, 1.41, 1.7, 1.71)]
        self.assertEqual(found, [REACHED, REACHED, ENOUGH, ENOUGH, SHORT])

    def test_rounds_that_differ_too_much_are_unsure(self):
        aim = Aim("", "getattr-x16", "ops", 0.85, 0.7)
        found = [aim.verdict(Spread(0.9, least, 1.0, 3)) for least in (0.5, 0.49)]
        self.assertEqual(found, [REACHED, UNSURE])

    def test_a_measure_by_itself_may_differ(self):
        aim = Aim("", "idle-c1000", "wakes", 1, 5, reference="")
        self.assertEqual(aim.verdict(Spread(0.4, 0.0, 0.6, 3)), REACHED)

    def test_the_least_is_never_more_than_the_aim(self):
        for aim in CHAIN + TCP:
            with self.subTest(aim.text, contender=aim.contender):
                self.assertIn(aim.verdict(exactly(aim.least)), (ENOUGH, REACHED))
                self.assertEqual(aim.verdict(exactly(aim.aim)), REACHED)


class TestJudged(unittest.TestCase):
    """The table of aims."""

    def test_only_what_was_measured(self):
        found = judged(of_ops(chain=[8], haproxy2=[10]))
        self.assertEqual([(a.row, a.metric, verdict) for a, _, verdict in found], [("getattr-x16", "ops", ENOUGH)])

    def test_tcp_is_judged_by_each_line(self):
        run = of_ops("read-1m-x4", tcp=[8], haproxy=[10])
        run.cells.update(of_ops("getattr-x1", tcp=[12], haproxy=[10]).cells)
        run.cells.update(of_ops("getattr-x16", tcp=[9.5], haproxy=[10]).cells)
        found = [(aim.row, aim.metric, verdict) for aim, _, verdict in judged(run, TCP)]
        self.assertEqual(found, [("read-1m-x4", "ops", SHORT), ("getattr-x16", "ops", ENOUGH), ("getattr-x1", "p50", REACHED)])

    def test_tcp_has_the_lines_of_two_proxies(self):
        lines = {(aim.row, aim.metric) for aim in CHAIN if aim.reference != "copy2"}
        self.assertEqual({(aim.row, aim.metric) for aim in TCP}, lines)
        self.assertEqual({aim.contender for aim in TCP}, {"tcp"})

    def test_tcp_is_to_be_as_good_where_less_is_better_too(self):
        run = Run(
            sample(name, 1, "mixed", ops_per_s=1.0, p99_us=p99) for name, p99 in (("tcp", 12.0), ("haproxy", 10.0))
        )
        self.assertEqual([verdict for _, _, verdict in judged(run, TCP)], [SHORT])

    def test_cpu_and_fairness_of_tcp_are_judged(self):
        more = {"least_ops": 9.0, "most_ops": 10.0, "all_ops": 10.0, "cpu_first_s": 1.0}
        run = Run(sample(name, 1, row, **more) for name in ("tcp", "haproxy") for row in ("getattr-x16", "fair"))
        found = [(aim.row, aim.metric) for aim, _, _ in judged(run, TCP)]
        self.assertEqual(found, [("getattr-x16", "cpu"), ("fair", "fair")])


class TestDoubts(unittest.TestCase):
    """What makes one doubt a run."""

    def test_none(self):
        self.assertEqual(doubts(of_ops(direct=[12], chain=[8], haproxy2=[10])), [])

    def test_a_proxy_ahead_of_no_proxy(self):
        told = doubts(of_ops(direct=[9], chain=[8], haproxy2=[10], haproxy=[11]))
        self.assertEqual(told, ["lo/getattr-x16: ahead of the server without a proxy: haproxy2, haproxy."])

    def test_a_busy_machine(self):
        run = of_ops(chain=[8])
        run.machine.update(load="1.70 0.2 0.1", quiet="yes")
        self.assertEqual(doubts(run), [])
        run.machine["quiet"] = "no"
        self.assertIn("1.70", doubts(run)[0])

    def test_a_machine_that_was_busy_in_the_end(self):
        run = of_ops(chain=[8])
        run.machine["load at the end"] = "3.0 0.2 0.1"
        self.assertEqual(doubts(run), [])
        run.machine["load at the end"] = "13.0 0.2 0.1"
        self.assertIn("ended the machine had a load of 13.0", doubts(run)[0])

    def test_rounds_that_differ(self):
        self.assertIn("1 of what is aimed at", doubts(of_ops(chain=[8, 80], haproxy2=[10, 10]))[0])

    def test_segments_sent_again(self):
        run = Run([sample("chain", 1, retransmits=3.0), sample("tcp", 1, retransmits=9.0)])
        self.assertIn("12 segments again, 9 of them in a sample of lo/getattr-x16 of tcp", doubts(run)[0])


if __name__ == "__main__":
    unittest.main()

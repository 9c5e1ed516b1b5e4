# SPDX-License-Identifier: BSD-3-Clause
"""What a run would come to elsewhere."""

import unittest

import paper
from made import NAMES, sample
from samples import Run


def bulk_run():
    """A GB of READs, by a proxy that spends half a second on it, and by two that spend 0.3 and 0.6 s."""
    of_gb = {"work": "read:1000000", "all_ops": 1000.0}
    return Run(
        [sample("tcp", 1, "read-1m-x4", cpu_first_s=0.5, **of_gb),
         sample("chain", 1, "read-1m-x4", cpu_first_s=0.3, cpu_second_s=0.6, **of_gb)],
        names=NAMES,
    )


class TestCores(unittest.TestCase):
    """Processor time for a GB, and gigabits a second."""

    def test_a_second_for_a_gb_is_a_core_for_eight_gigabits(self):
        self.assertEqual([paper.cores(1.0, 8), paper.cores(0.5, 100)], [1.0, 6.25])

    def test_topologies(self):
        found = {cells[1]: cells[2:] for cells in paper.cores_cells(bulk_run())[1:]}
        self.assertEqual(found, {
            "tcp to tcp, one proxy": ("0.50", "1.56", "6.25"),
            "iWARP in software, both proxies": ("0.90", "2.81", "11.2"),
            "iWARP in software, clients' side": ("0.30", "0.94", "3.75"),
            "iWARP in software, server's side": ("0.60", "1.88", "7.50"),
            "RDMA device, both proxies (assumed)": ("0.50", "1.56", "6.25"),
            "RDMA device, one side (assumed)": ("0.25", "0.78", "3.12"),
        })

    def test_assumptions_are_told_where_they_are_made(self):
        self.assertEqual(paper.assumed(bulk_run()), paper.ASSUMED)
        self.assertEqual(paper.assumed(Run([])), ())


class TestHops(unittest.TestCase):
    """Latency that is added."""

    def test_half_of_what_two_add_round_by_round(self):
        run = Run(
            [sample(name, turn, "getattr-x1", p50_us=p50) for name, values in
             (("direct", (40.0, 60.0)), ("chain", (100.0, 100.0))) for turn, p50 in enumerate(values, 1)],
            names=NAMES,
        )
        self.assertEqual(paper.hop_cells(run)[1:], [("GETATTR ×1", "our two, iwarp", "2", "25.0", "20.0–30.0")])

    def test_only_where_there_is_one_call_at_a_time(self):
        run = Run([sample(name, 1, row, p50_us=9.0) for name in ("direct", "chain") for row in ("getattr-x16", "read-1m-x1")],
                  names=NAMES)
        self.assertEqual(len(paper.hop_cells(run)), 1)


class TestPeak(unittest.TestCase):
    """Memory at its most."""

    def test_in_mib(self):
        run = Run([sample("chain", 1, "read-64k-x128", "peak", "read:65536", inflight=128.0,
                          peak_first_bytes=20.0 * (1 << 20), peak_second_bytes=12.5 * (1 << 20))], names=NAMES)
        self.assertEqual(paper.peak_cells(run)[1:], [("peak: READ 64 KiB ×128", "our two, iwarp", "20.0", "12.5")])


if __name__ == "__main__":
    unittest.main()

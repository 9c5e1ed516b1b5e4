# SPDX-License-Identifier: BSD-3-Clause
"""Runs that were never measured."""

from names import Contender, Names, Row
from samples import Run

COLUMNS = (
    "seconds ops all_ops ops_per_s bytes_per_s p50_us p90_us p99_us p999_us max_us least_ops most_ops queued_max "
    "connect_per_s cpu_s mismatches errors rate retransmits cpu_server_s cpu_first_s cpu_second_s pss_first_bytes "
    "pss_second_bytes rss_first_bytes rss_second_bytes wakes_first_per_s wakes_second_per_s peak_first_bytes "
    "peak_second_bytes"
).split()

NAMES = Names(
    {"lo": "loopback", "mtu1500": "MTU 1500"},
    {("lo", row): Row("", ("rate", "latency", "cpu")) for row in ("getattr-x1", "getattr-x16", "read-1m-x4")}
    | {("lo", "mixed"): Row("GETATTR beside bulk READs", ("latency",))},
    {
        "direct": Contender("no proxy"),
        "haproxy": Contender("HAProxy", 1, "", "haproxy"),
        "tcp": Contender("ours, tcp to tcp", 1, "haproxy", "ours"),
        "copy2": Contender("two copy proxies", 2, "haproxy2", "copy"),
        "haproxy2": Contender("two HAProxies", 2, "", "haproxy"),
        "chain": Contender("our two, iwarp", 2, "haproxy2", "ours"),
    },
)


def sample(contender, turn, row="getattr-x16", series="lo", work="getattr", **columns):
    """A sample of these columns; the others are empty."""
    made = dict.fromkeys(COLUMNS)
    made.update(series=series, row=row, contender=contender, round=float(turn), work=work, inflight=1.0, connections=1.0)
    made.update(columns)
    return made


def of_ops(row="getattr-x16", **rounds):
    """A Run of a row: contender=[operations a second in each round]."""
    return Run(
        [sample(name, turn, row, ops_per_s=float(value), all_ops=float(value), p50_us=10.0, p99_us=20.0, p999_us=30.0)
         for name, values in rounds.items()
         for turn, value in enumerate(values, 1)],
        names=NAMES,
    )

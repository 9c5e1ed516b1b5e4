# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a run, in lines of text."""

import itertools

from aims import REFERENCE, doubts, judged
from words import METRIC_TITLES, SERIES, TITLES, figure, ranged, title_of_row


def columns(rows):
    """Lines of @rows, each cell as wide as the widest of its column; the first column to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        lines.append("  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:]))]).rstrip())
    return lines


def aims_cells(run):
    """The table of aims: a header and a row for each that was measured."""
    cells = [("measure", "reached", "range", "aim", "at least", "")]
    for aim, value, verdict in judged(run):
        spread = f"{figure(value.least)}–{figure(value.most)}"
        sign = "≤ " if aim.lower else ""
        wanted = (sign + figure(aim.aim), sign + figure(aim.least))
        cells.append((aim.text, figure(value.median), spread, *wanted, verdict))
    return cells


def compared(run, reference, metric):
    """Ratios to @reference: a header, and a row for each row of the run that has both."""
    names = [name for name, whom in REFERENCE.items() if whom == reference]
    names = [name for name in names if any(run.ratio(*row, name, reference, metric) for row in run.rows())]
    cells = [("", *(TITLES[name] for name in names))]
    for series, row in run.rows():
        found = [run.ratio(series, row, name, reference, metric) for name in names]
        if any(found):
            where = "" if series == "lo" else f"{SERIES[series]}: "
            cells.append((where + title_of_row(row), *(ranged(one) for one in found)))
    return cells


def comparisons(run, metrics=("ops", "cpu", "p50", "p99")):
    """(title, cells) of each comparison that has something in it."""
    found = []
    for reference, metric in itertools.product(("haproxy2", "haproxy"), metrics):
        cells = compared(run, reference, metric)
        if len(cells) > 1 and len(cells[0]) > 1:
            better = "more" if metric == "ops" else "less"
            found.append((f"{METRIC_TITLES[metric]}, as a ratio to {TITLES[reference]} ({better} is better)", cells))
    return found


def values_cells(run):
    """What was measured: medians, each row of the run with each contender."""
    cells = [("", "", "ops/s", "GB/s", "p50 µs", "p99 µs", "p99.9 µs", "CPU µs/op", "CPU s/GB")]
    for series, row in run.rows():
        for name in run.contenders(series, row):
            found = [run.value(series, row, name, m) for m in ("ops", "gb", "p50", "p99", "p999", "cpu", "cpu_gb")]
            shown = [figure(one.median) if one and one.median else "" for one in found]
            where = "" if series == "lo" else f"{SERIES[series]}: "
            if any(shown):
                cells.append((where + title_of_row(row), TITLES[name], *shown))
    return cells


def idle_cells(run):
    """What connections cost that do nothing."""
    cells = [("", "", "first hop, bytes each", "second hop", "wake-ups/s")]
    for series, row in run.rows():
        if series != "idle":
            continue
        for name in run.contenders(series, row):
            found = [run.value(series, row, name, m) for m in ("pss_first", "pss_second", "wakes")]
            cells.append((title_of_row(row), TITLES[name], *(figure(one.median) if one else "" for one in found)))
    return cells


def text(run):
    """What says most; the page has all."""
    said = [", ".join(f"{key} {value}" for key, value in run.machine.items()), ""]
    sections = [("What is aimed at", aims_cells(run)), *comparisons(run, ("ops", "cpu"))]
    sections.append(("Idle connections", idle_cells(run)))
    for title, cells in sections:
        if len(cells) > 1:
            said += [title, "", *columns(cells), ""]
    return "\n".join(said + doubts(run)).rstrip() + "\n"

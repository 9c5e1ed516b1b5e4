# SPDX-License-Identifier: BSD-3-Clause
"""One page of a run: reached aims, plots, tables. It is also XML, and needs no scripts and no other files."""

from xml.sax.saxutils import escape

import paper
import table
from aims import CHAIN, ENOUGH, REACHED, SHORT, TCP, UNSURE, doubts, judged
from plot import Bar, Dot, Latency, bars, dots, element, latencies
from samples import Spread
from style import STYLE
from words import figure

VERDICTS = {REACHED: "good", ENOUGH: "fair", SHORT: "poor", UNSURE: "none"}


def goodness(aim, value):
    """Returns a ratio for which more is better: 1 is as good as the reference."""
    if not aim.lower:
        return value
    return Spread(*(1 / x if x else 1 for x in (value.median, value.most, value.least)), value.count)


def aims_plot(run, aims):
    """Returns the plot of @aims."""
    rows = []
    for aim, value, verdict in judged(run, aims):
        if not aim.reference or not value.median:
            continue
        marks = [goodness(aim, Spread(x, x, x, 1)).median for x in (aim.aim, aim.least)]
        text = aim.text + (" ↓" if aim.lower else "")
        shown = f"{figure(value.median)}  ({figure(value.least)}–{figure(value.most)})"
        rows.append(Dot(text, goodness(aim, value), shown, VERDICTS[verdict], *marks))
    return dots(table.AIMS_TITLES[aims], rows, "alike") if rows else ""


def settings_plot(run):
    """Returns the effect of a setting: rows that were measured on loopback and in another series."""
    rows = []
    measured = run.rows()
    for row in dict.fromkeys(row for series, row in measured if series != "lo" and ("lo", row) in measured):
        for series in (series for series, of in measured if of == row):
            value = run.ratio(series, row, "chain", "haproxy2", "ops")
            if value:
                rows.append(Dot(run.title(series, row), value, figure(value.median), "ours"))
    title = "Operations a second, our two to two HAProxies"
    return dots(title, rows, "alike") if rows else ""


def bar_panel(run, series, row, metric, title, stack=()):
    """Returns a picture of one measure of a row; empty without values."""
    rows = []
    for name in run.contenders(series, row):
        value = run.value(series, row, name, metric)
        if not value:
            continue
        parts = [run.value(series, row, name, part) for part in stack]
        parts = tuple(part.median for part in parts if part)
        of = run.names.contender(name)
        rows.append(Bar(of.title, value, of.class_, parts if len(parts) > 1 else ()))
    return bars(title, rows) if rows else ""


def panels(run, rows, metric, unit, series="lo", stack=()):
    """Returns a picture for each of @rows."""
    return [bar_panel(run, series, row, metric, f"{run.title(series, row)}, {unit}", stack) for row in rows]


def rate_panels(run, series):
    """Returns a picture for each row of @series that has one: bytes, connections or operations per second."""
    found = []
    for row in run.pictured(series, "rate"):
        metric, unit = "ops", "operations/s"
        moved = [run.value(series, row, name, "gb") for name in run.contenders(series, row)]
        if any(one and one.median for one in moved):
            metric, unit = "gb", "GB/s"
        found += panels(run, [row], metric, unit, series)
    return found


def latency_panels(run):
    """Returns a picture of latencies for each row where they have a meaning."""
    found = []
    for row in run.pictured("lo", "latency"):
        rows = []
        for name in run.contenders("lo", row):
            values = [run.value("lo", row, name, m) for m in ("p50", "p99", "p999")]
            if all(value and value.median for value in values):
                of = run.names.contender(name)
                rows.append(Latency(of.title, tuple(value.median for value in values), of.class_))
        found.append(latencies(run.title("lo", row), rows) if rows else "")
    return found


def html_table(cells):
    """Returns a table of a header and rows."""
    head = "".join(element("th", escape(cell)) for cell in cells[0])
    body = ""
    for row in cells[1:]:
        marked = VERDICTS.get(row[-1])
        body += element("tr", "".join(
            element("td", escape(cell), **({"class_": marked} if marked and i == len(row) - 1 else {}))
            for i, cell in enumerate(row)
        ))
    inside = element("thead", element("tr", head)) + element("tbody", body)
    return element("div", element("table", inside), class_="wide")


def section(title, said, pictures, shape=""):
    """Returns a heading and pictures, or nothing without pictures. The shape decides whether they are in one row."""
    pictures = [one for one in pictures if one]
    if not pictures:
        return ""
    grid = element("div", "".join(pictures), class_=shape or ("single" if len(pictures) == 1 else "grid"))
    return element("section", element("h2", escape(title)) + element("p", escape(said)) + grid)


def tables(run):
    """Returns everything except pictures."""
    parts = []
    for title, cells in [*((table.AIMS_TITLES[aims], table.aims_cells(run, aims)) for aims in (CHAIN, TCP)),
                         *table.comparisons(run), ("Idle connections", table.idle_cells(run)), *paper.tables(run),
                         ("Medians", table.values_cells(run))]:
        if len(cells) > 1:
            is_open = {"open": "open"} if title in table.AIMS_TITLES.values() else {}
            parts.append(element("details", element("summary", escape(title)) + html_table(cells), **is_open))
    parts += [element("p", escape(said), class_="small") for said in paper.assumed(run)]
    return element("section", element("h2", "Figures") + "".join(parts))


def summary(run):
    """Returns the number of reached aims, as tiles."""
    found = [verdict for _, _, verdict in judged(run)]
    said = {REACHED: "aims reached", ENOUGH: "at least what is asked", SHORT: "short of it",
            UNSURE: "unsure: rounds differ too much"}
    return element("div", "".join(
        element("div", element("b", str(found.count(verdict))) + element("span", said[verdict]),
                class_=f"tile {VERDICTS[verdict]}")
        for verdict in said if verdict != UNSURE or UNSURE in found
    ), class_="tiles")


def page(run):
    """Returns the page as text."""
    machine = run.machine
    about = " · ".join(
        f"{key} {value}".strip() for key, value in machine.items() if key not in ("date", "load", "quiet", "rpcrdma-proxy")
    )
    doubtful = doubts(run)
    body = [
        element("header", element("h1", "What passes through rpcrdma-proxy") +
                element("p", escape(f"{machine.get('rpcrdma-proxy', '')}, {machine.get('date', '')}")) +
                element("p", escape(about), class_="small") + summary(run)),
        section("Against what could stand in its place",
                "Two proxies with iWARP between them to two HAProxies, and one from tcp to tcp to one HAProxy, if nothing "
                "else is said; ratios of rounds of one run. A thick stroke is the aim, a thin one the least. Where less "
                "is better (↓) the scale is turned round.",
                [aims_plot(run, CHAIN), aims_plot(run, TCP)], "single"),
        section("Throughput", "Medians with their ranges; first what is one hop, then what is two.",
                rate_panels(run, "lo")),
        section("Latency",
                "Dot: p50. Ring: p99. Stroke: p99.9. At random: Calls come when they are due, at the same rate for all.",
                latency_panels(run)),
        section("Processor time",
                "Of an operation, in µs; first hop and, paler, second hop, with what the kernel does for them.",
                panels(run, run.pictured("lo", "cpu"), "cpu", "µs", stack=("cpu_first", "cpu_second"))),
        section("In other settings",
                "Packets of 1,500 and of 9,000 bytes, by which FPDUs are as long as the segments let them be; proxies that "
                "share a core, and cores that never sleep, since something is always run on them.",
                [settings_plot(run)]),
        section("Two workers", "Our workers, and threads of HAProxy.", rate_panels(run, "workers2")),
        section("Memory and rest", "Of an idle connection and at its most, in bytes, in the first hop; how often a process "
                "with idle connections wakes up.",
                [picture for series, metric, unit in (("idle", "pss_first", "bytes"), ("idle", "wakes", "wake-ups/s"),
                                                      ("peak", "peak_first", "bytes"))
                 for picture in panels(run, [row for of, row in run.rows() if of == series], metric, unit, series)]),
        tables(run),
    ]
    if doubtful:
        body.append(element("section", element("h2", "Doubts") +
                            element("ul", "".join(element("li", escape(one)) for one in doubtful))))
    head = element("meta", charset="utf-8") + element("title", "rpcrdma-proxy: speed") + element(
        "meta", name="viewport", content="width=device-width, initial-scale=1") + element("style", STYLE)
    inside = element("head", head) + element("body", "\n".join(body))
    return "<!DOCTYPE html>\n" + element("html", inside, xmlns="http://www.w3.org/1999/xhtml", lang="en") + "\n"

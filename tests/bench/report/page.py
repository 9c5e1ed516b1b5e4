# SPDX-License-Identifier: BSD-3-Clause
"""One page of a run: what was reached, plots, tables. It is XML too, and needs no scripts and nothing from elsewhere."""

from xml.sax.saxutils import escape

import table
from aims import ENOUGH, REACHED, SHORT, UNSURE, doubts, goodness, judged
from plot import Bar, Dot, Latency, bars, dots, element, latencies
from samples import Spread
from style import STYLE
from words import SERIES, TITLES, figure, title_of_row

CLASSES = {
    "direct": "none",
    "socat": "socat",
    "haproxy": "haproxy",
    "haproxy-splice": "haproxy pale",
    "haproxy2": "haproxy",
    "copy": "copy",
    "copy2": "copy",
    "tcp": "ours",
    "chain": "ours",
    "tcp-beside": "beside",
    "chain-beside": "beside",
}
VERDICTS = {REACHED: "good", ENOUGH: "fair", SHORT: "poor", UNSURE: "none"}

BULK = ["read-1m-x4", "write-1m-x4", "read-1m-x1", "write-1m-x1", "read-64k-x8",
        "write-64k-x8", "read-4k-x16", "write-4k-x16"]
SMALL = ["getattr-x1", "getattr-x16", "getattr-x128", "getattr-c100", "getattr-c1000", "connect"]
WAITING = ["getattr-x1", "getattr-open", "getattr-x16", "getattr-c1000", "mixed", "crowd"]
COSTS = ["getattr-x1", "getattr-x16", "getattr-c1000", "read-4k-x16", "read-64k-x8", "write-64k-x8", "read-1m-x4",
         "write-1m-x4"]


def class_of(contender):
    """The class of its colour: variants of ours are paler."""
    return CLASSES.get(contender, "ours pale")


def aims_plot(run):
    """What was reached of what is aimed at."""
    rows = []
    for aim, value, verdict in judged(run):
        if not aim.reference or not value.median:
            continue
        marks = [goodness(aim, Spread(x, x, x, 1)).median for x in (aim.aim, aim.least)]
        text = aim.text + (" ↓" if aim.lower else "")
        shown = f"{figure(value.median)}  ({figure(value.least)}–{figure(value.most)})"
        rows.append(Dot(text, goodness(aim, value), shown, VERDICTS[verdict], *marks))
    return dots("Ratios to the reference, with their ranges and what is aimed at", rows, "alike") if rows else ""


def links_plot(run):
    """What a wire of short packets changes."""
    rows = []
    for row in dict.fromkeys(row for series, row in run.rows() if series.startswith("mtu")):
        for series in ("lo", "mtu9000", "mtu1500"):
            value = run.ratio(series, row, "chain", "haproxy2", "ops")
            if value:
                rows.append(Dot(f"{title_of_row(row)}, {SERIES[series]}", value, figure(value.median), "ours"))
    title = "Operations a second, our two to two HAProxies, by the length of packets"
    return dots(title, rows, "alike") if rows else ""


def bar_panel(run, series, row, metric, title, stack=()):
    """A picture of one measure of a row; empty where nothing was measured."""
    rows = []
    for name in run.contenders(series, row):
        value = run.value(series, row, name, metric)
        if not value:
            continue
        parts = [run.value(series, row, name, part) for part in stack]
        parts = tuple(part.median for part in parts if part)
        rows.append(Bar(TITLES[name], value, class_of(name), parts if len(parts) > 1 else ()))
    return bars(title, rows) if rows else ""


def panels(run, rows, metric, unit, series="lo", stack=()):
    """A picture for each of @rows."""
    return [bar_panel(run, series, row, metric, f"{title_of_row(row)}, {unit}", stack) for row in rows]


def latency_panels(run):
    """A picture of latencies for each row where they say something."""
    found = []
    for row in WAITING:
        rows = []
        for name in run.contenders("lo", row):
            values = [run.value("lo", row, name, m) for m in ("p50", "p99", "p999")]
            if all(value and value.median for value in values):
                rows.append(Latency(TITLES[name], tuple(value.median for value in values), class_of(name)))
        found.append(latencies(title_of_row(row), rows) if rows else "")
    return found


def html_table(cells):
    """Of a header and rows."""
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


def section(title, said, pictures):
    """A heading and pictures; nothing where there are none."""
    pictures = [one for one in pictures if one]
    if not pictures:
        return ""
    grid = element("div", "".join(pictures), class_="single" if len(pictures) == 1 else "grid")
    return element("section", element("h2", escape(title)) + element("p", escape(said)) + grid)


def tables(run):
    """All that is not a picture."""
    parts = []
    for title, cells in [("What is aimed at", table.aims_cells(run)), *table.comparisons(run),
                         ("Idle connections", table.idle_cells(run)), ("Medians", table.values_cells(run))]:
        if len(cells) > 1:
            is_open = {"open": "open"} if title == "What is aimed at" else {}
            parts.append(element("details", element("summary", escape(title)) + html_table(cells), **is_open))
    return element("section", element("h2", "Figures") + "".join(parts))


def summary(run):
    """How many aims are reached, as tiles."""
    found = [verdict for _, _, verdict in judged(run)]
    said = {REACHED: "aims reached", ENOUGH: "at least what is asked", SHORT: "short of it",
            UNSURE: "unsure: rounds differ too much"}
    return element("div", "".join(
        element("div", element("b", str(found.count(verdict))) + element("span", said[verdict]),
                class_=f"tile {VERDICTS[verdict]}")
        for verdict in said if verdict != UNSURE or UNSURE in found
    ), class_="tiles")


def page(run):
    """The page, as text."""
    machine = run.machine
    about = " · ".join(
        f"{key} {value}".strip() for key, value in machine.items() if key not in ("date", "load", "rpcrdma-proxy")
    )
    doubtful = doubts(run)
    body = [
        element("header", element("h1", "What passes through rpcrdma-proxy") +
                element("p", escape(f"{machine.get('rpcrdma-proxy', '')}, {machine.get('date', '')}")) +
                element("p", escape(about), class_="small") + summary(run)),
        section("Against what could stand in its place",
                "Two proxies with iWARP between them to two HAProxies, if nothing else is said; ratios of rounds of one "
                "run. A thick stroke is the aim, a thin one the least. Where less is better (↓) the scale is turned "
                "round.",
                [aims_plot(run)]),
        section("Throughput", "Medians with their ranges; first what is one hop, then what is two.",
                panels(run, BULK, "gb", "GB/s") + panels(run, SMALL[:-1], "ops", "operations/s") +
                panels(run, SMALL[-1:], "connects", "a second")),
        section("Latency",
                "Dot: p50. Ring: p99. Stroke: p99.9. At random: Calls come when they are due, at the same rate for all.",
                latency_panels(run)),
        section("Processor time",
                "Of an operation, in µs; first hop and, paler, second hop, with what the kernel does for them.",
                panels(run, COSTS, "cpu", "µs", stack=("cpu_first", "cpu_second"))),
        section("Packets",
                "Operations a second, our two to two HAProxies; FPDUs are as long as the segments let them be.",
                [links_plot(run)]),
        section("Two workers", "Our workers, and threads of HAProxy.",
                panels(run, ["getattr-c100", "read-64k-c8", "read-1m-c4", "write-1m-c4"], "ops", "operations/s",
                       "workers2")),
        section("Idle connections", "Memory of one, in bytes, in the first hop, and how often its process wakes up.",
                panels(run, ["idle-c1000", "idle-c9500"], "pss_first", "bytes", "idle") +
                panels(run, ["idle-c1000"], "wakes", "wake-ups/s", "idle")),
        tables(run),
    ]
    if doubtful:
        body.append(element("section", element("h2", "Doubts") +
                            element("ul", "".join(element("li", escape(one)) for one in doubtful))))
    head = element("meta", charset="utf-8") + element("title", "rpcrdma-proxy: speed") + element(
        "meta", name="viewport", content="width=device-width, initial-scale=1") + element("style", STYLE)
    inside = element("head", head) + element("body", "\n".join(body))
    return "<!DOCTYPE html>\n" + element("html", inside, xmlns="http://www.w3.org/1999/xhtml", lang="en") + "\n"

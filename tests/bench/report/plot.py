# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG: dots with ranges on a scale of ratios, bars, latencies. Colours are classes of the page's style."""

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from words import figure

LETTER = 6.6  # how wide one is, about, at the size of labels


def element(name, text=None, /, **attributes):
    """Returns <name a="..">text</name>. A trailing underscore of an attribute is removed; other _ become -."""
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_short(value))}" for key, value in attributes.items()
    )
    return f"<{name}{said}/>" if text is None else f"<{name}{said}>{text}</{name}>"


def _short(value):
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def label(x, y, text, class_="label", anchor="start"):
    """Returns text at a point."""
    return element("text", escape(text), x=float(x), y=float(y), class_=class_, text_anchor=anchor)


def line(x1, y1, x2, y2, class_):
    """Returns a line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def svg(width, height, title, parts):
    """Returns a picture with a name for screen readers."""
    inside = element("title", escape(title)) + "".join(parts)
    return element(
        "svg", inside, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", role="img", class_="plot"
    )


@dataclass(frozen=True)
class Dot:
    """A ratio: its Spread with more as better, its text, and marks for comparison."""

    text: str
    spread: object
    shown: str
    class_: str
    aim: float = None
    least: float = None


class LogScale:
    """A scale of values from @low to @high on @width points from @left; other values are at the edge."""

    def __init__(self, low, high, left, width):
        self.low, self.high, self.left, self.width = low, high, left, width

    def at(self, value):
        """Returns the place of a value."""
        value = min(max(value, self.low), self.high)
        return self.left + self.width * math.log(value / self.low) / math.log(self.high / self.low)


TICKS = [0.125, 0.25, 0.5, 0.7, 0.85, 1, 1.2, 1.5, 2, 3, 4]


def dots(title, rows, reference):
    """Returns a plot of ratios, each a dot with its range, and a line at 1. Right is better."""
    names = max(len(row.text) for row in rows) * LETTER + 12
    width, figures = 1040, 150
    least = min(min(row.spread.least, row.least or 1) for row in rows)
    most = max(max(row.spread.most, row.aim or 1) for row in rows)
    scale = LogScale(max(min(0.45, least / 1.08), 0.1), min(max(1.6, most * 1.08), 10), names, width - names - figures)
    height, top, bottom = 26 * len(rows) + 52, 26, 26 * len(rows) + 30
    parts = [
        label(scale.at(1), 14, reference, "small", "middle"),
        label(width - figures, 14, "better →", "small", "end"),
    ]
    for tick in TICKS:
        if scale.low <= tick <= scale.high:
            parts.append(line(scale.at(tick), top, scale.at(tick), bottom, "even" if tick == 1 else "grid"))
            parts.append(label(scale.at(tick), bottom + 15, figure(tick).rstrip("0").rstrip("."), "small", "middle"))
    for i, row in enumerate(rows):
        y = top + 26 * i + 17
        parts.append(label(0, y + 4, row.text))
        if row.aim:
            parts.append(line(scale.at(row.aim), y - 8, scale.at(row.aim), y + 8, "aim"))
            parts.append(line(scale.at(row.least), y - 5, scale.at(row.least), y + 5, "least"))
        parts.append(line(scale.at(row.spread.least), y, scale.at(row.spread.most), y, f"range {row.class_}"))
        parts.append(
            element("circle", cx=scale.at(row.spread.median), cy=float(y), r=5, class_=f"dot {row.class_}")
        )
        parts.append(label(width, y + 4, row.shown, "figure", "end"))
    return svg(width, height, title, parts)


@dataclass(frozen=True)
class Bar:
    """A median with its range, and its parts if it has several."""

    text: str
    spread: object
    class_: str
    stack: tuple = ()


def bars(title, rows, names=138):
    """Returns bars from zero, with their ranges and numbers."""
    width, figures = 400, 52
    top = max(row.spread.most for row in rows) or 1
    room = width - names - figures
    parts = [label(0, 14, title, "title")]
    for i, row in enumerate(rows):
        y, x = 26 + 22 * i, float(names)
        parts.append(label(names - 8, y + 12, row.text, "label", "end"))
        for n, part in enumerate(row.stack or (row.spread.median,)):
            size = room * part / top
            parts.append(
                element("rect", x=x, y=y, width=max(size, 0.5), height=16, class_=f"bar {row.class_} part{n}")
            )
            x += size
        ends = [names + room * value / top for value in (row.spread.least, row.spread.most)]
        parts.append(line(ends[0], y + 8, ends[1], y + 8, "whisker"))
        parts.append(label(max(x, ends[1]) + 6, y + 12, figure(row.spread.median), "figure"))
    return svg(width, 30 + 22 * len(rows), title, parts)


@dataclass(frozen=True)
class Latency:
    """Medians of p50, p99 and p99.9, in microseconds."""

    text: str
    values: tuple
    class_: str


def time(us):
    """Returns a time such as 100 µs or 1 ms."""
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us:g} µs"


def latencies(title, rows, names=138):
    """Returns a plot from p50 (a dot) over p99 (a ring) to p99.9 (a stroke), on a logarithmic scale."""
    width = 400
    values = [value for row in rows for value in row.values if value]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    scale = LogScale(low, max(high, low * 10), names, width - names - 20)
    bottom = 26 + 22 * len(rows)
    parts = [label(0, 14, title, "title")]
    tick = scale.low
    while tick <= scale.high * 1.01:
        parts.append(line(scale.at(tick), 24, scale.at(tick), bottom, "grid"))
        parts.append(label(scale.at(tick), bottom + 14, time(tick), "small", "middle"))
        tick *= 10
    for i, row in enumerate(rows):
        y = 26 + 22 * i + 9
        places = [scale.at(value) for value in row.values]
        parts.append(label(names - 8, y + 4, row.text, "label", "end"))
        parts.append(line(places[0], y, places[-1], y, f"range {row.class_}"))
        parts.append(line(places[2], y - 6, places[2], y + 6, f"range {row.class_}"))
        parts.append(element("circle", cx=places[1], cy=float(y), r=4, class_=f"ring {row.class_}"))
        parts.append(element("circle", cx=places[0], cy=float(y), r=5, class_=f"dot {row.class_}"))
    return svg(width, bottom + 20, title, parts)

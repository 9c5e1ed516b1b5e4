# SPDX-License-Identifier: BSD-3-Clause
"""The names of series, rows and contenders of a run, from the tables that bench.sh has written."""

import csv
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """A contender: its reference, if any, and the class of its colour."""

    title: str
    hops: int = 0
    reference: str = ""
    class_: str = "none"


@dataclass(frozen=True)
class Row:
    """A row: its title, by default from its work, and the kinds of its pictures."""

    title: str = ""
    pictures: tuple = ()


def lines(folder, name):
    """Yields the lines of a table in @folder."""
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


class Names:
    """All names. Without a line in the tables, the name in the samples is used."""

    def __init__(self, series=None, rows=None, contenders=None):
        self.all_series = series or {}  # name: title
        self.rows = rows or {}  # (series, row): Row
        self.contenders = contenders or {}  # name: Contender

    @staticmethod
    def load(folder):
        """Returns the names in @folder."""
        return Names(
            {one["series"]: one["title"] for one in lines(folder, "series.csv")},
            {(one["series"], one["row"]): Row(one["title"], tuple(one["pictures"].split(",")))
             for one in lines(folder, "rows.csv")},
            {one["contender"]: Contender(one["title"], int(one["hops"]), one["reference"], one["class"])
             for one in lines(folder, "contenders.csv")},
        )

    def series(self, name):
        """Returns the title of a series."""
        return self.all_series.get(name, name)

    def row(self, series, name):
        """Returns a Row."""
        return self.rows.get((series, name), Row())

    def contender(self, name):
        """Returns a Contender."""
        return self.contenders.get(name, Contender(name))

    def compared_with(self, reference):
        """Returns the contenders that are compared with @reference, in the order of the table."""
        return [name for name, one in self.contenders.items() if one.reference == reference]


def size_of(count):
    """Returns a size such as 4 KiB or 1 MiB."""
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB" if count >= 1 << 10 else f"{count} bytes"


def title_of(work, inflight, connections):
    """Returns a title such as READ 64 KiB ×8, or GETATTR, 1,000 connections."""
    name, _, size = work.partition(":")
    said = name.upper() + (f" {size_of(int(size))}" if size else "")
    if inflight > 1 or connections == 1:
        said += f" ×{inflight:.0f}"
    return said + (f", {connections:,.0f} connections" if connections > 1 else "")

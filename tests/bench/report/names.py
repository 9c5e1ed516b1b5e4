# SPDX-License-Identifier: BSD-3-Clause
"""How series, rows and contenders of a run are called: what bench.sh has written of its tables."""

import csv
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Contender:
    """Who is measured: with whom he is compared, if with anybody, and the class of his colour."""

    title: str
    hops: int = 0
    reference: str = ""
    class_: str = "none"


@dataclass(frozen=True)
class Row:
    """What is measured: without a title it is called by its work; the kinds of pictures that it is in."""

    title: str = ""
    pictures: tuple = ()


def lines(folder, name):
    """Of a table in @folder."""
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


class Names:
    """What there is no line of is called by the name that the samples have."""

    def __init__(self, series=None, rows=None, contenders=None):
        self.all_series = series or {}  # name: title
        self.rows = rows or {}  # (series, row): Row
        self.contenders = contenders or {}  # name: Contender

    @staticmethod
    def load(folder):
        """Of what bench.sh has left in @folder."""
        return Names(
            {one["series"]: one["title"] for one in lines(folder, "series.csv")},
            {(one["series"], one["row"]): Row(one["title"], tuple(one["pictures"].split(",")))
             for one in lines(folder, "rows.csv")},
            {one["contender"]: Contender(one["title"], int(one["hops"]), one["reference"], one["class"])
             for one in lines(folder, "contenders.csv")},
        )

    def series(self, name):
        """The title of a series."""
        return self.all_series.get(name, name)

    def row(self, series, name):
        """A Row."""
        return self.rows.get((series, name), Row())

    def contender(self, name):
        """A Contender."""
        return self.contenders.get(name, Contender(name))

    def compared_with(self, reference):
        """Who is compared with @reference, in the order of the table."""
        return [name for name, one in self.contenders.items() if one.reference == reference]


def size_of(count):
    """4 KiB, 1 MiB."""
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB" if count >= 1 << 10 else f"{count} bytes"


def title_of(work, inflight, connections):
    """READ 64 KiB ×8; GETATTR, 1,000 connections."""
    name, _, size = work.partition(":")
    said = name.upper() + (f" {size_of(int(size))}" if size else "")
    if inflight > 1 or connections == 1:
        said += f" ×{inflight:.0f}"
    return said + (f", {connections:,.0f} connections" if connections > 1 else "")

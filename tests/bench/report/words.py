# SPDX-License-Identifier: BSD-3-Clause
"""How figures, contenders and rows are written."""

TITLES = {
    "direct": "no proxy",
    "socat": "socat",
    "haproxy": "HAProxy",
    "haproxy-splice": "HAProxy, splice",
    "haproxy2": "two HAProxies",
    "copy": "copy proxy",
    "copy2": "two copy proxies",
    "tcp": "ours, tcp to tcp",
    "chain": "our two, iwarp",
    "chain-nocrc": "our two, no CRC",
    "chain-64k": "our two, FPDU 64 KiB",
    "chain-mss": "our two, FPDU of MSS",
    "chain-v2": "our two, version two",
    "tcp-beside": "other build, tcp to tcp",
    "chain-beside": "other build, iwarp",
}

SERIES = {
    "lo": "loopback",
    "workers2": "two workers",
    "mtu1500": "MTU 1500",
    "mtu9000": "MTU 9000",
    "idle": "idle",
}

METRIC_TITLES = {
    "ops": "operations a second",
    "cpu": "CPU of an operation",
    "p50": "p50",
    "p99": "p99",
    "connects": "connections a second",
    "fair": "least to most",
}


def figure(value):
    """Three digits, or what there is before the point: 0.873, 12.3, 48200."""
    if value is None:
        return ""
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}"


def ranged(spread):
    """Median and range: 0.87 (0.81-0.93)."""
    if spread is None:
        return ""
    return f"{figure(spread.median)} ({figure(spread.least)}–{figure(spread.most)})"


def title_of_row(row):
    """read-64k-x8: READ 64 KiB x8; getattr-c1000: GETATTR, 1000 connections."""
    special = {
        "getattr-open": "GETATTR at random, same rate",
        "mixed": "GETATTR beside bulk READs",
        "mixed-bulk": "bulk READs beside GETATTR",
        "fair": "READ 1 MiB x4, 8 clients",
        "connect": "connections, 32 at once",
        "crowd": "1,000 clients at once",
    }
    if row in special:
        return special[row]
    parts = row.split("-")
    said = parts[0].upper()
    for part in parts[1:]:
        if part[-1] in "km" and part[:-1].isdigit():
            said += f" {part[:-1]} {'KiB' if part[-1] == 'k' else 'MiB'}"
        elif part[0] == "c" and part[1:].isdigit():
            said += f", {int(part[1:]):,} connections"
        else:
            said += f" ×{part[1:]}"
    return said

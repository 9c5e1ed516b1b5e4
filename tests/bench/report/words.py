# SPDX-License-Identifier: BSD-3-Clause
"""The format of numbers."""

METRIC_TITLES = {
    "ops": "operations a second",
    "cpu": "CPU of an operation",
    "p50": "p50",
    "p99": "p99",
    "connects": "connections a second",
    "fair": "least to most",
}


def figure(value):
    """Returns a number with three digits, or all digits before the point: 0.873, 12.3, 48200."""
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
    """Returns a median and its range: 0.87 (0.81-0.93)."""
    if spread is None:
        return ""
    return f"{figure(spread.median)} ({figure(spread.least)}–{figure(spread.most)})"

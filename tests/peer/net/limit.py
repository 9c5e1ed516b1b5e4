# SPDX-License-Identifier: BSD-3-Clause
"""Time limits that follow the speed of this machine.

A limit is stated for an idle machine. Once it has passed, it is multiplied by factor(): how many times slower this
machine is now than the one for which the limits were chosen. What comes in time pays for no measurement.
"""
import os
import time

FACTOR_MOST = 30.0            # so that a wait in vain ends
WORK_S = 0.05                 # what the work takes on an idle machine like the one of the limits
WORK_STEPS, WORK_WORDS = 160000, 1024


def _work():
    """Does a fixed amount of work, in which each step needs the one before."""
    value, words = 1, [0] * WORK_WORDS
    for step in range(WORK_STEPS):
        value = (value * 1664525 + 1013904223 + words[step % WORK_WORDS]) & 0xffffffff
        words[step % WORK_WORDS] = value
    return value


def factor_of(work_s, load, cpus):
    """Returns the factor for this duration of the work, with this load on these processors."""
    return min(max(1.0, work_s / WORK_S, load / cpus), FACTOR_MOST)


def factor():
    """Returns how many times slower this machine is than an idle one, by work and by the load of a minute."""
    begin = time.monotonic()
    _work()
    work_s = time.monotonic() - begin
    try:
        load = os.getloadavg()[0]
    except OSError:
        load = 0.0
    return factor_of(work_s, load, os.cpu_count() or 1)


class Limit:
    """A limit of some seconds from now on, multiplied by the factor of a slow machine."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.begin = time.monotonic()
        self.factor = 1.0

    def left(self):
        """Returns the remaining seconds by the largest measured factor, at least 0."""
        return max(0.0, self.begin + self.seconds * self.factor - time.monotonic())

    def passed(self):
        """Returns whether it has passed, with the current factor of the machine."""
        if self.left():
            return False
        self.factor = max(self.factor, factor())
        return not self.left()

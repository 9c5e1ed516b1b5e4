# SPDX-License-Identifier: BSD-3-Clause
"""Time limits that follow the speed of the machine, as tests/lib/time_limit.h has them.

The program that measures it is in the build directory E2E_PROGRAMS, or in E2E_BUILD.
"""
import os
import subprocess
import time


def factor():
    """Returns how many times slower this machine is than an idle one, or 1 if the measuring program is not built."""
    try:
        build = os.environ.get("E2E_PROGRAMS") or os.environ["E2E_BUILD"]
        return float(subprocess.check_output([os.path.join(build, "tests/lib/time_limit"), "--factor"]))
    except (KeyError, OSError, subprocess.CalledProcessError):
        return 1.0


class Limit:
    """A limit of some seconds of an idle machine, from now on. After these seconds the machine is measured."""

    def __init__(self, seconds):
        self.seconds, self.factor, self.begin = seconds, 1.0, time.monotonic()

    def took(self):
        return time.monotonic() - self.begin

    def passed(self):
        if self.took() < self.seconds * self.factor:
            return False
        self.factor = max(self.factor, factor())
        return self.took() >= self.seconds * self.factor


def receive(stream, size, limit):
    """Returns stream.recv(). Raises TimeoutError when the limit has passed."""
    stream.settimeout(0.5)
    try:
        while True:
            try:
                return stream.recv(size)
            except TimeoutError:
                if limit.passed():
                    raise
    finally:
        stream.settimeout(None)

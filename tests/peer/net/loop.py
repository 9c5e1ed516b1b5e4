# SPDX-License-Identifier: BSD-3-Clause
"""A loop of one thread: sockets, timers, and waiting for a condition while other handlers run."""
import heapq
import itertools
import selectors
import time

from net.limit import Limit

TURN_S = 1e-5     # that pass in a turn where both ends are here, so that an exchange without an end is late


class Late(Exception):
    """A condition did not hold in time."""


class _Passing:
    """A time limit of a loop that has both ends."""

    def __init__(self, loop, seconds):
        self.loop = loop
        self.end = loop.now() + seconds

    def left(self):
        """Returns the remaining seconds."""
        return max(0.0, self.end - self.loop.now())

    def passed(self):
        """Returns whether it has passed."""
        return not self.left()


class Loop:
    """Calls handlers of sockets and timers, and runs until a condition holds."""

    def __init__(self, patience=5.0):
        self.patience = patience
        self.alone = False        # both ends of every socket are here: who is silent stays so
        self._selector = selectors.DefaultSelector()
        self._timers = []
        self._count = itertools.count()
        self._begin = time.monotonic()
        self._passed = 0.0        # where both ends are here: seconds since then, in which nothing could come

    def now(self):
        """Returns the time in seconds. With both ends here, time passes only when there is nothing else to do."""
        return self._begin + self._passed if self.alone else time.monotonic()

    def watch(self, sock, readable, writable=None):
        """Calls readable() and, if given, writable() when the socket is ready."""
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if writable else 0)
        try:
            self._selector.modify(sock, events, (readable, writable))
        except KeyError:
            self._selector.register(sock, events, (readable, writable))

    def forget(self, sock):
        """Ends watch()."""
        try:
            self._selector.unregister(sock)
        except KeyError:
            pass

    def after(self, seconds, function):
        """Calls function() once, after a delay."""
        heapq.heappush(self._timers, (self.now() + seconds, next(self._count), function))

    def turn(self, seconds):
        """Waits for an event up to a time limit and handles it. Returns whether further events can come.

        Where both ends are here, silence lasts until the next timer: that time is passed over.
        """
        to_timer = self._timers[0][0] - self.now() if self._timers else None
        wait = seconds if to_timer is None else min(seconds, to_timer)
        ready = self._selector.select(0.0 if self.alone else max(0.0, wait))
        if self.alone:
            self._passed += TURN_S if ready else max(0.0, wait)
            if not ready and (to_timer is None or to_timer > seconds):
                return False
        for key, events in ready:
            readable, writable = key.data
            if events & selectors.EVENT_WRITE and writable:
                writable()
            if events & selectors.EVENT_READ and self._still(key):
                readable()
        while self._timers and self._timers[0][0] <= self.now():
            heapq.heappop(self._timers)[2]()
        return True

    def _still(self, key):
        try:
            return self._selector.get_key(key.fileobj).data[0] is not None
        except (KeyError, ValueError):
            return False

    def until(self, condition, what, seconds=None):
        """Runs until condition() is true, and returns its value. Raises Late after the patience.

        On a slow machine that is longer (net/limit.py). What has come by then is looked at first.
        """
        seconds = self.patience if seconds is None else seconds
        limit = _Passing(self, seconds) if self.alone else Limit(seconds)
        in_time = True
        while not (value := condition()):
            if not in_time:
                raise Late(what)
            in_time = not limit.passed()
            in_time = self.turn(limit.left()) and in_time
        return value

    def run(self, seconds):
        """Runs for a fixed time, to test times themselves."""
        limit = self.now() + seconds
        while (left := limit - self.now()) > 0:
            self.turn(left)
        self.turn(0.0)

    def close(self):
        """Removes all watched sockets and timers."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

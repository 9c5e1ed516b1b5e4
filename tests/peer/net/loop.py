# SPDX-License-Identifier: BSD-3-Clause
"""One thread's loop: sockets, timers, and waiting for a condition while everything else goes on."""
import heapq
import itertools
import selectors
import time


class Late(Exception):
    """What was waited for did not come in time."""


class Loop:
    """Calls handlers of sockets and timers, and runs until a condition holds."""

    def __init__(self, patience=5.0):
        self.patience = patience
        self.alone = False        # both ends of every socket are here: who is silent stays so
        self._selector = selectors.DefaultSelector()
        self._timers = []
        self._count = itertools.count()
        self._skipped = 0.0       # seconds that were not waited for, since nothing could come in them

    def now(self):
        """Seconds, of which those in which nothing could come have been passed over."""
        return time.monotonic() + self._skipped

    def watch(self, sock, readable, writable=None):
        """Calls readable() and, if given, writable() while the socket is so."""
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
        """Calls function() once, so much later."""
        heapq.heappush(self._timers, (self.now() + seconds, next(self._count), function))

    def turn(self, seconds):
        """Waits so long at most for something to do, and does it; whether anything can still come.

        Where both ends are here, silence lasts until the next timer: that time is passed over.
        """
        to_timer = self._timers[0][0] - self.now() if self._timers else None
        wait = seconds if to_timer is None else min(seconds, to_timer)
        ready = self._selector.select(0.0 if self.alone else max(0.0, wait))
        if self.alone and not ready:
            if to_timer is None or to_timer > seconds:
                return False
            self._skipped += max(0.0, to_timer)
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
        """Runs until condition() is true, and returns its value; raises Late after the patience."""
        limit = self.now() + (self.patience if seconds is None else seconds)
        while True:
            value = condition()
            if value:
                return value
            left = limit - self.now()
            if left <= 0 or not self.turn(left):
                raise Late(what)

    def run(self, seconds):
        """Runs for so long, whatever happens: where a time itself is under test."""
        limit = self.now() + seconds
        while (left := limit - self.now()) > 0:
            if not self.turn(left):
                self._skipped += left

    def close(self):
        """Lets go of everything that is watched."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

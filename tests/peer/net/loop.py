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
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._count), function))

    def turn(self, seconds):
        """Waits so long at most for something to do, and does it; whether anything can still come."""
        if self._timers:
            seconds = min(seconds, self._timers[0][0] - time.monotonic())
        elif self.alone:
            seconds = 0.0
        ready = self._selector.select(max(0.0, seconds))
        if self.alone and not ready and not self._timers:
            return False
        for key, events in ready:
            readable, writable = key.data
            if events & selectors.EVENT_WRITE and writable:
                writable()
            if events & selectors.EVENT_READ and self._still(key):
                readable()
        while self._timers and self._timers[0][0] <= time.monotonic():
            heapq.heappop(self._timers)[2]()
        return True

    def _still(self, key):
        try:
            return self._selector.get_key(key.fileobj).data[0] is not None
        except (KeyError, ValueError):
            return False

    def until(self, condition, what, seconds=None):
        """Runs until condition() is true, and returns its value; raises Late after the patience."""
        limit = time.monotonic() + (self.patience if seconds is None else seconds)
        while True:
            value = condition()
            if value:
                return value
            left = limit - time.monotonic()
            if left <= 0 or not self.turn(left):
                raise Late(what)

    def run(self, seconds):
        """Runs for so long, whatever happens: where a time itself is under test."""
        limit = time.monotonic() + seconds
        while (left := limit - time.monotonic()) > 0:
            if not self.turn(left):
                time.sleep(left)

    def close(self):
        """Lets go of everything that is watched."""
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

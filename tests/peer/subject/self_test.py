# SPDX-License-Identifier: BSD-3-Clause
"""The peer plays the other end itself: right, or wrong in one point."""
import collections
import dataclasses
import socket

from model.complete import Complete
from model.end import Options
from model.version_two import ServerMemory
from net import iwarp
from scene.files import make_server


def options_of(keys):
    """The model's Options of a scenario's keys; the others are the daemon's alone."""
    known = {field.name for field in dataclasses.fields(Options)}
    return Options(**{name: value for name, value in keys.items() if name in known})


class Play:
    """The other end for one scenario, on a pair of sockets."""

    pace = 1

    def __init__(self, loop, scenario, bend):
        self.loop = loop
        loop.alone = True
        self.server, self.files = make_server()
        self.options = options_of(scenario.keys)
        self.bend = bend
        self.end = None
        self.accepted = collections.deque()
        self.conns = []
        self.memory = ServerMemory(loop.now)

    def _right_or_wrong(self):
        end = Complete(self.options, self.server.answer, self.memory)
        if self.bend:
            self.bend(end)
        return end

    def connect(self, start):
        """The scenario connects to the other end, a responder."""
        ours, theirs = socket.socketpair()
        other = iwarp.Conn(self.loop, theirs, False)
        conn = iwarp.Conn(self.loop, ours, True, start)
        self.end = self._right_or_wrong()
        self.end.attach(other)
        self.conns.append(other)
        return conn

    @property
    def gone(self):
        """Whether the requester has no connection now."""
        return self.end is None or self.end.conn.ended is not None

    def call(self, call):
        """The other end, a requester, is to call; it connects for its first Call."""
        if self.gone:
            self._connect()
        return self.end.call(call)

    def _connect(self):
        ours, theirs = socket.socketpair()
        self.accepted.append(iwarp.Conn(self.loop, ours, False))
        self.end = self._right_or_wrong()
        self.end.on_unsettled_end = self._once_more
        self.end.attach(iwarp.Conn(self.loop, theirs, True, self.end.own_start()))

    def _once_more(self):
        """The connection has carried no Call: those that wait go on another one."""
        waiting = self.end.queue
        self._connect()
        self.end.queue.extend(waiting)

    def reverse(self, call):
        """The other end, an acceptor, is to make a reverse Call."""
        return self.end.call(call)

    def answer(self, xid, reply):
        """The far side has the Reply to a Call that it held back."""
        self.end.answered(xid, reply)

    def count(self):
        """How many connections the other end, a responder, has."""
        return sum(conn.ended is None for conn in self.conns)

    def close(self):
        """Nothing stays: the loop closes the sockets."""

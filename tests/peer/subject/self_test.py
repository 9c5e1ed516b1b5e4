# SPDX-License-Identifier: BSD-3-Clause
"""The peer itself as the other end: correct, or with one bend."""
import collections
import dataclasses
import socket

from model.complete import Complete
from model.end import Options
from model.version_two import ServerMemory
from net import iwarp
from scene.files import make_server


def options_of(keys):
    """Returns the model's Options from a scenario's keys; other keys are only for the daemon."""
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
        """Connects the scenario to the other end, a responder."""
        ours, theirs = socket.socketpair()
        other = iwarp.Conn(self.loop, theirs, False)
        conn = iwarp.Conn(self.loop, ours, True, start)
        self.end = self._right_or_wrong()
        self.end.attach(other)
        self.conns.append(other)
        return conn

    @property
    def gone(self):
        """Returns whether the requester has no connection."""
        return self.end is None or self.end.conn.ended is not None

    def call(self, call):
        """Makes the other end, a requester, call. It connects for its first Call."""
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
        """Moves waiting Calls to another connection, because this one has carried none."""
        waiting = self.end.queue
        self._connect()
        self.end.queue.extend(waiting)

    def reverse(self, call):
        """Makes the other end, an acceptor, send a reverse Call."""
        return self.end.call(call)

    def answer(self, xid, reply):
        """Makes the server answer a held Call."""
        self.end.answered(xid, reply)

    def count(self):
        """Returns the number of connections of the other end, a responder."""
        return sum(conn.ended is None for conn in self.conns)

    def close(self):
        """Does nothing: the loop closes the sockets."""

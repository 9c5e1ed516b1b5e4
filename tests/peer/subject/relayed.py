# SPDX-License-Identifier: BSD-3-Clause
"""The correct peer behind a relay that injects one fault."""
import socket

from model.complete import Complete
from net import iwarp
from relay.link import Link
from subject import self_test


class Play(self_test.Play):
    """The other end for one scenario; only a responder is behind a relay."""

    def __init__(self, loop, scenario, fault):
        super().__init__(loop, scenario, None)
        self.fault = fault
        self.links = []

    def connect(self, start):
        """Connects the scenario to the relay, and the relay to the other end."""
        ours, near = socket.socketpair()
        far, theirs = socket.socketpair()
        other = iwarp.Conn(self.loop, theirs, False)
        self.links.append(Link(self.loop, near, far, self.fault))
        conn = iwarp.Conn(self.loop, ours, True, start)
        self.end = Complete(self.options, self.server.answer, self.memory)
        self.end.attach(other)
        self.conns.append(other)
        return conn

# SPDX-License-Identifier: BSD-3-Clause
"""Faults: changes of messages by a relay, which make a conforming server violate one point.

    @on_reply('lists', ('A3.7-2',))
    def the_write_list_is_left_out(_link, message):
        message.writes = []

The function changes what passes, and returns None; or it returns a list of what passes instead. A fault that
does more than one thing has further functions: @the_write_list_is_left_out.on_call and so on.
"""
import dataclasses

REPLY, CALL, WRITE, READ, START = 'reply', 'call', 'write', 'read', 'start'


@dataclasses.dataclass
class Fault:
    """One fault. .name is the name of its function."""
    kind: str            # grants, lists, lengths, offsets, timing, versions, characteristics
    found_by: tuple      # the statements that it breaks
    unseen: str          # or why nobody outside can see it
    name: str
    does: dict = dataclasses.field(default_factory=dict)     # what passes: function

    def on_call(self, function):
        """Decorates function(link, message) for each Send of the client that decodes."""
        self.does[CALL] = function
        return function

    def on_reply(self, function):
        """Decorates function(link, message) for each Send of the server that decodes."""
        self.does[REPLY] = function
        return function

    def on_write(self, function):
        """Decorates function(link, segment) for each segment of an RDMA Write of the server."""
        self.does[WRITE] = function
        return function

    def on_read(self, function):
        """Decorates function(link, request) for each RDMA Read Request of the server."""
        self.does[READ] = function
        return function


def _fault(what, kind, found_by, unseen):
    def decorate(function):
        return Fault(kind, found_by, unseen, function.__name__.replace('_', ' '), {what: function})
    return decorate


def on_reply(kind, found_by=(), unseen=''):
    """Decorates a fault in Sends of the server."""
    return _fault(REPLY, kind, found_by, unseen)


def on_call(kind, found_by=(), unseen=''):
    """Decorates a fault in how the server receives the client's Sends."""
    return _fault(CALL, kind, found_by, unseen)


def on_write(kind, found_by=(), unseen=''):
    """Decorates a fault in Writes of the server."""
    return _fault(WRITE, kind, found_by, unseen)


def on_read(kind, found_by=(), unseen=''):
    """Decorates a fault in Reads of the server."""
    return _fault(READ, kind, found_by, unseen)


def on_start(kind, found_by=(), unseen=''):
    """Decorates a fault in the startup frames of MPA: function(link, start), in both directions."""
    return _fault(START, kind, found_by, unseen)

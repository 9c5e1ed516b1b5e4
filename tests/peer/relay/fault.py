# SPDX-License-Identifier: BSD-3-Clause
"""Faults: what a relay does to what passes it, so that a right server looks wrong in one point.

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
    """One fault; .name is that of its function."""
    kind: str            # grants, lists, lengths, offsets, timing, versions, characteristics
    found_by: tuple      # the statements that it breaks
    unseen: str          # or why nobody outside can see it
    name: str
    does: dict = dataclasses.field(default_factory=dict)     # what passes: function

    def on_call(self, function):
        """Decorates function(link, message), of each Send of the client that decodes."""
        self.does[CALL] = function
        return function

    def on_reply(self, function):
        """Decorates the same of each Send of the server."""
        self.does[REPLY] = function
        return function

    def on_write(self, function):
        """Decorates function(link, segment), of each segment of an RDMA Write of the server."""
        self.does[WRITE] = function
        return function

    def on_read(self, function):
        """Decorates function(link, request), of each RDMA Read Request of the server."""
        self.does[READ] = function
        return function


def _fault(what, kind, found_by, unseen):
    def decorate(function):
        return Fault(kind, found_by, unseen, function.__name__.replace('_', ' '), {what: function})
    return decorate


def on_reply(kind, found_by=(), unseen=''):
    """Of a fault in what the server sends."""
    return _fault(REPLY, kind, found_by, unseen)


def on_call(kind, found_by=(), unseen=''):
    """Of a fault in how the server takes what the client sends."""
    return _fault(CALL, kind, found_by, unseen)


def on_write(kind, found_by=(), unseen=''):
    """Of a fault in what the server writes."""
    return _fault(WRITE, kind, found_by, unseen)


def on_read(kind, found_by=(), unseen=''):
    """Of a fault in what the server reads."""
    return _fault(READ, kind, found_by, unseen)


def on_start(kind, found_by=(), unseen=''):
    """Of a fault in the start-up frames of MPA: function(link, start), both ways."""
    return _fault(START, kind, found_by, unseen)

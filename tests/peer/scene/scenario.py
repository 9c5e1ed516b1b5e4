# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios: functions that test one statement on one role of the other end.

    @responder('A3.3-3')
    def a_grant_is_never_zero(t):
        ...

    @a_grant_is_never_zero.wrong
    def _(end):
        end.grant = lambda asked: 0

The other end is what is judged: a responder or a requester. Beside each scenario stands how an end that
keeps to the documents is bent to break the statement; then the scenario must fail. A scenario may have several
such bends, each of which it must find.
"""
import dataclasses
import sys

REQUESTER, RESPONDER = 'RQ', 'RS'
VERSION_ONE = 'version one'


class Wrong(Exception):
    """The other end breaks the statement."""


class Unfit(Exception):
    """The scenario cannot test this end, because something that it needs is missing."""


@dataclasses.dataclass
class Scenario:
    """One scenario. .name is the name of its function."""
    tag: str
    role: str
    function: object
    keys: dict
    needs: frozenset
    bends: list

    @property
    def name(self):
        """Returns the docstring of the function, which states the required behaviour."""
        return self.function.__name__

    @property
    def dialect(self):
        """Returns the required dialect: DIALECT of the scenario's module, or version one."""
        return getattr(sys.modules[self.function.__module__], 'DIALECT', VERSION_ONE)

    def wrong(self, bend):
        """Decorates bend(end), which makes a conforming end break the statement."""
        self.bends.append(bend)
        return bend


ALL = []


def _scenario(role, tag, keys, needs):
    def decorate(function):
        scenario = Scenario(tag, role, function, keys or {}, frozenset(needs), [])
        ALL.append(scenario)
        return scenario
    return decorate


def responder(tag, keys=None, needs=()):
    """The other end is the responder. keys: keys of the daemon's service, or of the model's Options.

    needs: 'behind': the scenario sees and steers the server behind the responder; 'files': it needs files;
    'reverse': it has the other end call; 'rough': it may bring a server down;
    'ours': it holds us to what no document asks of others;
    'draft': it asks for what the draft alone has, so not with --rfc;
    'rfc': it asks for what the RFC alone has, so of others with --rfc only.
    """
    return _scenario(RESPONDER, tag, keys, needs)


def requester(tag, keys=None, needs=()):
    """The other end is the requester. Functions such as t.called make it call."""
    return _scenario(REQUESTER, tag, keys, needs)

# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios: functions that hold one role of the other end to one statement.

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
    """This end cannot be asked: what the scenario needs is not there."""


@dataclasses.dataclass
class Scenario:
    """One scenario; .name is that of its function."""
    tag: str
    role: str
    function: object
    keys: dict
    needs: frozenset
    bends: list

    @property
    def name(self):
        """Of the function, which says what holds."""
        return self.function.__name__

    @property
    def dialect(self):
        """What the other end must speak: DIALECT of the scenario's module, else version one."""
        return getattr(sys.modules[self.function.__module__], 'DIALECT', VERSION_ONE)

    def wrong(self, bend):
        """Decorates bend(end): makes an end that keeps to the documents break the statement."""
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
    """The other end answers Calls. keys: of the daemon's service or the model's Options.

    needs: 'behind': the scenario sees and steers the server behind the responder; 'files': it needs files;
    'reverse': it has the other end call; 'rough': it may bring a server down;
    'ours': it holds us to what no document asks of others;
    'draft': it asks for what the draft alone has, so not with --rfc;
    'rfc': it asks for what the RFC alone has, so of others with --rfc only.
    """
    return _scenario(RESPONDER, tag, keys, needs)


def requester(tag, keys=None, needs=()):
    """The other end calls; the scenario has it call by t.called and the like."""
    return _scenario(REQUESTER, tag, keys, needs)

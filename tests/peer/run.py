# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios against a subject and gathers what came of each."""
import dataclasses
import pathlib
import traceback

import report
from net.loop import Late, Loop
from scene import scenario as scenarios_of
from scene.scene import Scene
from subject import daemon, itself

PASS, FAIL, NOT_BUILT, NOT_SEEN, BROKEN = 'pass', 'fail', 'not built', 'not seen', 'broken'


@dataclasses.dataclass
class Outcome:
    """What came of one scenario."""
    scenario: object
    verdict: str
    why: str = ''
    trace: list = dataclasses.field(default_factory=list)


def select(scenarios, tags):
    """Those whose tag is one of these or begins so; of an exact tag only its own."""
    if not tags:
        return scenarios
    known = {s.tag for s in scenarios}
    return [s for s in scenarios
            if any(s.tag == tag or tag not in known and s.tag.startswith(tag) for tag in tags)]


def attempt(scenario, make_play, patience, tap=None):
    """Runs one scenario; make_play(loop) makes the other end."""
    loop = Loop(patience)
    scene = play = None
    try:
        play = make_play(loop)
        scene = Scene(loop, play, play.files, tap)
        scenario.function(scene)
        verdict, why = PASS, ''
    except scenarios_of.Unfit as error:
        verdict, why = NOT_SEEN, str(error)
    except scenarios_of.Wrong as error:
        verdict, why = FAIL, str(error)
    except Late as error:
        verdict, why = FAIL, f'waited in vain for {error}'
    except Exception:  # pylint: disable=broad-except
        verdict, why = BROKEN, traceback.format_exc()
    trace = list(scene.trace.lines()) if scene else []
    loop.close()
    if play:
        try:
            play.close()
        except scenarios_of.Wrong as error:
            verdict, why = FAIL, f'{why} {error}'.strip()
    return Outcome(scenario, verdict, why, trace)


def judge_daemon(chosen, scenarios, table):
    """Our daemon; what the table says is not built may fail, and must not pass."""
    program = str(pathlib.Path(chosen.daemon).resolve())
    for scenario in scenarios:
        outcome = attempt(scenario, lambda loop, s=scenario: daemon.Play(loop, s, program),
                          chosen.patience or 5)
        row = table.get(scenario.tag)
        if row and row.not_built:
            if outcome.verdict == PASS:
                outcome.verdict, outcome.why = FAIL, 'passes, and the table says it is not built'
            elif outcome.verdict in (FAIL, NOT_SEEN):
                outcome.verdict, outcome.why = NOT_BUILT, row.not_built
        elif outcome.verdict == NOT_SEEN:
            outcome.verdict = FAIL
        yield outcome


def judge_itself(chosen, scenarios, _table):
    """The peer: right it must pass, and fail with each of the scenario's bends."""
    for scenario in scenarios:
        def play(loop, bend=None, s=scenario):
            return itself.Play(loop, s, bend)
        if not chosen.wrong:
            outcome = attempt(scenario, play, chosen.patience or 2)
            if outcome.verdict == PASS and not scenario.bends:
                outcome = Outcome(scenario, FAIL, 'nothing shows that it can fail')
            yield outcome
        for bend in scenario.bends:
            outcome = attempt(scenario, lambda loop, b=bend: play(loop, b), chosen.patience or 1)
            if not chosen.wrong and outcome.verdict == FAIL:
                outcome = Outcome(scenario, PASS)
            elif not chosen.wrong and outcome.verdict == PASS:
                outcome = Outcome(scenario, FAIL, f'passes with the bend at line '
                                                  f'{bend.__code__.co_firstlineno}')
            yield outcome


def run(chosen, scenarios, table):
    """Runs them all, reports, and returns the exit status."""
    judge = judge_itself if chosen.itself or chosen.wrong else judge_daemon
    return report.report(chosen, judge(chosen, scenarios, table), table)

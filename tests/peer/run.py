# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios against a subject, and collects their outcomes."""
import signal
import sys
import traceback

import expect
import junit
import report
import statements
from net import pcap
from net.loop import Late, Loop
from outcome import BROKEN, FAIL, NOT_BUILT, NOT_SEEN, PASS, Outcome
from relay.faults import FAULTS
from scene import scenario as scenarios_of
from scene.scene import Scene
from subject import daemon, external, external4, relayed, self_test
from watch import rules, serve
from wire import ddp, header, record, rpc, xdr

NONSENSE = (xdr.XdrError, rpc.RpcError, header.HeaderError, ddp.DdpError, record.RecordError)


def select(scenarios, tags, table):
    """Returns the scenarios whose tags begin with one of these, in the order of the table."""
    known = {s.tag for s in scenarios}
    place = {tag: number for number, tag in enumerate(table)}
    chosen = [s for s in scenarios
              if not tags or any(s.tag == tag or tag not in known and s.tag.startswith(tag)
                                 for tag in tags)]
    return sorted(chosen, key=lambda s: place.get(s.tag, len(place)))


def _judged(scenario, make_play, loop, made, rfc):
    """Returns the Outcome of one scenario; made gets the other end as soon as it exists."""
    scene = None
    try:
        made.append(make_play(loop))
        scene = Scene(loop, made[0], made[0].files, rfc)
        scenario.function(scene)
        verdict, why = PASS, ''
    except scenarios_of.Unfit as error:
        verdict, why = NOT_SEEN, str(error)
    except (scenarios_of.Wrong, ConnectionError) as error:
        verdict, why = FAIL, str(error)
    except Late as error:
        verdict, why = FAIL, f'waited in vain for {error}'
    except NONSENSE as error:
        verdict, why = FAIL, f'what came does not decode: {error}'
    except Exception:  # pylint: disable=broad-except
        verdict, why = BROKEN, traceback.format_exc()
    outcome = Outcome(scenario, verdict, why, list(scene.trace.lines()) if scene else [])
    if scene and verdict == FAIL:
        outcome.used = scene.trace.used()
    return outcome


def attempt(scenario, make_play, patience, rfc=False):
    """Runs one scenario. make_play(loop) makes the other end, which is always closed.

    rfc: where a draft and its RFC differ, only what the RFC has is right.
    """
    loop = Loop(patience)
    made, at_its_end = [], ''
    try:
        outcome = _judged(scenario, make_play, loop, made, rfc)
    finally:
        loop.close()
        try:
            for play in made:
                play.close()
        except scenarios_of.Wrong as error:
            at_its_end = str(error)
    if at_its_end:
        outcome.verdict, outcome.why = FAIL, f'{outcome.why} {at_its_end}'.strip()
    return outcome


def judge_daemon(chosen, scenarios, table):
    """Judges our daemon. A statement that the table calls not built must fail; otherwise the table is old."""
    old = {}
    for scenario in scenarios:
        outcome = attempt(
            scenario, lambda loop, s=scenario: daemon.Play(loop, s, chosen.daemon, chosen.tap_file),
            chosen.patience or 5, chosen.rfc)
        row = table.get(scenario.tag)
        if row and row.not_built and (scenario.dialect != 'version one' or not row.begun):
            old.setdefault(scenario.tag, scenario)
            if outcome.verdict != PASS:
                old[scenario.tag] = None
            if outcome.verdict in (FAIL, NOT_SEEN):
                outcome.verdict, outcome.why = NOT_BUILT, row.not_built
        elif outcome.verdict == NOT_SEEN:
            outcome.verdict = FAIL
        yield outcome
    for scenario in filter(None, old.values()):
        yield Outcome(scenario, FAIL, 'all pass, and the table says that it is not built')


def judge_itself(chosen, scenarios, _table):
    """Judges the peer: it must pass without a bend, and fail with each bend of the scenario."""
    for scenario in scenarios:
        def played(bend, s=scenario):
            return attempt(s, lambda loop: self_test.Play(loop, s, bend), chosen.patience or 5, chosen.rfc)
        if not chosen.wrong:
            outcome = played(None)
            outcome.how = 'played right'
            if outcome.verdict == PASS and not scenario.bends:
                outcome = Outcome(scenario, FAIL, 'nothing shows that it can fail')
            yield outcome
        for bend in scenario.bends:
            outcome = played(bend)
            if not chosen.wrong:
                outcome = found(outcome)
            outcome.how = f'played wrong by line {bend.__code__.co_firstlineno}'
            yield outcome


def judge_relayed(chosen, scenarios, _table):
    """Judges the correct peer behind a relay, by the scenarios for any server."""
    fault = FAULTS[chosen.fault]
    for scenario in scenarios:
        if scenario.role == scenarios_of.RESPONDER and not scenario.needs & external.NEEDS.keys():
            yield attempt(scenario, lambda loop, s=scenario: relayed.Play(loop, s, fault),
                          chosen.patience or 5, chosen.rfc)


def found(outcome):
    """Inverts the Outcome for an end with a bend: it must fail."""
    if outcome.verdict == FAIL:
        return Outcome(outcome.scenario, PASS)
    if outcome.verdict == PASS:
        return Outcome(outcome.scenario, FAIL, 'this was not found')
    return outcome


def _harm(scenario):
    """Returns the harm to a server: 0 none; 1 to files in use; 2 possibly so much that files stay."""
    return ('rough' in scenario.needs) + ({'rough', 'files'} & scenario.needs == {'rough'})


def _server_of(nfs):
    """Returns the class of servers for this version of NFS."""
    return {'4.1': external4.Server4, 'null': external4.ServerNull}.get(nfs, external.Server)


def judge_server(chosen, scenarios, _table):
    """Judges any server. Skips scenarios of a dialect that it does not support."""
    loop = Loop(chosen.patience or 5)
    server = _server_of(chosen.nfs)(loop, chosen.server, chosen.mount, chosen.export)
    try:
        server.rough, server.rfc, server.fault = chosen.rough, chosen.rfc, FAULTS.get(chosen.fault)
        server.prepare()
        spoken = server.dialects()
        for scenario in sorted(scenarios, key=_harm):
            if _harm(scenario) == 2:
                server.remove()
            if scenario.role != scenarios_of.RESPONDER:
                continue
            if not spoken.get(scenario.dialect, True):
                yield Outcome(scenario, NOT_SEEN, f'it does not speak {scenario.dialect}')
                continue
            if server.gone:
                yield Outcome(scenario, NOT_SEEN, server.gone)
                continue
            yield attempt(scenario,
                          lambda loop, s=scenario: external.Play(loop, s, server, chosen.tap_file),
                          loop.patience, chosen.rfc)
    finally:
        server.remove()
        loop.close()


def judge_client(chosen, _scenarios, table):
    """Judges any client that connects. Returns the exit status."""
    counts = serve.judge_client(Loop(chosen.patience or 5), chosen.server or ('127.0.0.1', 0),
                                chosen.mount[1] if chosen.mount else 0, chosen.tap_file)
    if chosen.rfc:
        counts = {tag: count for tag, count in counts.items() if table[tag].sections and tag not in rules.OF_NO_RFC}
    known = expect.known_counts(counts, chosen.known)
    if chosen.junit:
        junit.write(chosen.junit, junit.of_counts(counts, known, table))
    return (report.tally_tap if chosen.tap else report.tally)(counts, table, known)


def _judge(chosen, scenarios, table):
    if chosen.requester:
        return judge_client(chosen, scenarios, table)
    judge = judge_daemon
    if chosen.itself or chosen.wrong:
        judge = judge_itself
    elif chosen.server:
        judge = judge_server
    elif chosen.fault:
        judge = judge_relayed
    if chosen.rfc:
        scenarios = [s for s in scenarios if statements.of_an_rfc(s, table)]
    outcomes = expect.held_against(judge(chosen, scenarios, table), chosen.known)
    if not chosen.junit:
        return report.report(chosen, outcomes, table)
    kept = []
    try:
        return report.report(chosen, (kept.append(o) or o for o in outcomes), table)
    finally:
        junit.write(chosen.junit, junit.of_outcomes(kept, table))


def _interrupted(*_):
    raise KeyboardInterrupt


def run(chosen, scenarios, table):
    """Runs all scenarios and reports. Returns the exit status; 2 if there is no subject."""
    chosen.tap_file = None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    try:
        if chosen.junit:
            open(chosen.junit, 'wb').close()        # that it cannot be written is told before all else
        if chosen.pcap:
            chosen.tap_file = pcap.Pcap(chosen.pcap)
        return _judge(chosen, scenarios, table)
    except Late as error:
        why, status = f'waited in vain for {error}', 2
    except NONSENSE as error:
        why, status = f'what came does not decode: {error}', 2
    except (external.Unusable, OSError) as error:
        why, status = error, 2
    except KeyboardInterrupt:
        why, status = 'interrupted', 130
    finally:
        if chosen.tap_file:
            chosen.tap_file.close()
    print(f'conformance: {why}', file=sys.stderr)
    return status

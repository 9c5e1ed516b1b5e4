# SPDX-License-Identifier: BSD-3-Clause
"""What is printed: a row for each statement, and the reasons; or TAP."""
import itertools
import sys

from scene.scenario import REQUESTER, RESPONDER

WORST = ('broken', 'fail', 'not built', 'not seen', 'pass', '-')


def listing(scenarios, table):
    """Every scenario with its statement."""
    for scenario in scenarios:
        text = table[scenario.tag].text if scenario.tag in table else ''
        print(f'{scenario.tag:10} {scenario.role}  {scenario.name}\n{"":14}{text}')


def _plain(name):
    return name.replace('_', ' ')


def _name(outcome):
    return _plain(outcome.scenario.name) + (f', {outcome.how}' if outcome.how else '')


def _reasons(outcome):
    yield f'    {outcome.scenario.role} {_name(outcome)}: {outcome.why}'
    if outcome.verdict in ('fail', 'broken'):
        for line in outcome.trace:
            yield f'        {line}'


def _tap(outcomes):
    count = 0
    failed = False
    for outcome in outcomes:
        count += 1
        bad = outcome.verdict in ('fail', 'broken')
        failed |= bad
        skip = f' # SKIP {outcome.why}' if outcome.verdict == 'not seen' else ''
        note = f' ({outcome.verdict}: {outcome.why})' if outcome.verdict == 'not built' else ''
        print(f'{"not ok" if bad else "ok"} {count} - {outcome.scenario.tag} '
              f'{outcome.scenario.role} {_name(outcome)}{note}{skip}', flush=True)
        if bad:
            for line in _reasons(outcome):
                for part in line.splitlines():
                    print(f'# {part}')
    print(f'1..{count}')
    return 1 if failed or not count else 0


def _row(tag, group, table):
    verdict = {REQUESTER: '-', RESPONDER: '-'}
    for outcome in group:
        role = outcome.scenario.role
        verdict[role] = min(verdict[role], outcome.verdict, key=WORST.index)
    text = table[tag].text if tag in table else ''
    print(f'{tag:10} {verdict[REQUESTER]:10} {verdict[RESPONDER]:10} {text}')
    for outcome in group:
        if outcome.verdict != 'pass':
            print('\n'.join(_reasons(outcome)))
    sys.stdout.flush()


def report(chosen, outcomes, table):
    """Prints outcomes as they come; the exit status."""
    if chosen.tap:
        return _tap(outcomes)
    count = {}
    for tag, group in itertools.groupby(outcomes, lambda outcome: outcome.scenario.tag):
        if not count:
            print(f'{"statement":10} {"requester":10} {"responder":10}')
        group = list(group)
        for outcome in group:
            count[outcome.verdict] = count.get(outcome.verdict, 0) + 1
        _row(tag, group, table)
    print(', '.join(f'{number} {verdict}' for verdict, number in sorted(count.items())))
    return 1 if count.get('fail') or count.get('broken') else 0

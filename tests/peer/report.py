# SPDX-License-Identifier: BSD-3-Clause
"""Prints a row for each statement with its reasons, failures first; or TAP."""
import itertools
import pathlib
import re
import shutil
import sys
import textwrap

import causes
from outcome import KNOWN, NOT_BUILT, NOT_SEEN, PASS, WORST_FIRST
from scene.scenario import REQUESTER, RESPONDER

NONE = '-'      # no scenario judges that role
MOST_COLUMNS, LEAST_COLUMNS = 120, 72


def _wrapped(text, first, later):
    """Returns text wrapped for the terminal after `first`, then `later`. Existing lines stay separate."""
    columns = shutil.get_terminal_size((MOST_COLUMNS, 24)).columns
    columns = max(LEAST_COLUMNS, min(MOST_COLUMNS, columns))
    whole = re.sub(r'RFC (?=[0-9])', 'RFC\0', text)
    lines = textwrap.wrap(whole, columns, initial_indent=first, subsequent_indent=later,
                          break_long_words=False, break_on_hyphens=False)
    return '\n'.join(lines).replace('\0', ' ') or first.rstrip()


def statement(tag, table, columns=''):
    """Prints a row: the tag, the results, and the statement with its sections."""
    text = ''
    if tag in table:
        text = f'{table[tag].text} [{table[tag].reference}]'
    first = f'{tag:10} {columns}'
    return _wrapped(text, first, ' ' * len(first))


def listing(scenarios, table):
    """Prints every scenario below its statement."""
    for tag, group in itertools.groupby(scenarios, lambda scenario: scenario.tag):
        print(statement(tag, table))
        for scenario in group:
            print(f'    {scenario.role} {_plain(scenario.name)} ({_place(scenario)})')


def faults(known):
    """Prints the faults of the relay by kind, with the statements that detect them, or why none can."""
    for kind, group in itertools.groupby(known_by_kind(known), lambda fault: fault.kind):
        print(kind)
        for fault in group:
            print(_wrapped(f'{fault.name}: {fault.unseen or ", ".join(fault.found_by)}', ' ' * 4, ' ' * 8))


def known_by_kind(known):
    """Returns the kinds in the order of their first fault, each with its faults in order."""
    known = list(known)
    kinds = [fault.kind for fault in known]
    return sorted(known, key=lambda fault: kinds.index(fault.kind))


def _plain(name):
    return name.replace('_', ' ')


def _place(scenario):
    code = scenario.function.__code__
    return f'scenarios/{pathlib.Path(code.co_filename).name}:{code.co_firstlineno}'


def _name(outcome):
    return _plain(outcome.scenario.name) + (f', {outcome.how}' if outcome.how else '')


def _failure(outcome):
    """Returns lines with the scenario, the failure and the last messages."""
    yield _wrapped(f'{outcome.scenario.role} {_name(outcome)} ({_place(outcome.scenario)}):',
                   ' ' * 4, ' ' * 8)
    for line in outcome.why.splitlines():
        yield _wrapped(line.strip(), ' ' * (8 + len(line) - len(line.lstrip())), ' ' * 10)
    for line in outcome.trace:
        if line.startswith(' '):
            yield f'        {line}'
        else:
            yield _wrapped(line, ' ' * 8, ' ' * 14)


def _tap(outcomes):
    everything = []
    for outcome in outcomes:
        everything.append(outcome)
        skip = f' # SKIP {outcome.why}' if outcome.verdict == NOT_SEEN else ''
        todo = f' # TODO known: {outcome.why}' if outcome.verdict == KNOWN else ''
        note = f' ({outcome.verdict}: {outcome.why})' if outcome.verdict == NOT_BUILT else ''
        print(f'{"not ok" if outcome.bad or todo else "ok"} {len(everything)} - {outcome.scenario.tag} '
              f'{outcome.scenario.role} {_name(outcome)}{note}{skip}{todo}', flush=True)
        if outcome.bad:
            for line in _failure(outcome):
                for part in line.splitlines():
                    print(f'# {part}')
    for line in _causes(everything):
        print(f'# {line}')
    print(f'1..{len(everything)}')
    return 1 if not everything or any(outcome.bad for outcome in everything) else 0


def _causes(outcomes):
    """Returns lines about the failure that is the first cause of others."""
    for cause, what, others in causes.of(outcomes):
        tags = dict.fromkeys(other.scenario.tag for other in others)
        yield (f'first cause: {cause.scenario.tag} {cause.scenario.role} {_name(cause)}. {len(others)} other '
               f'failures {what} and may follow from it: {", ".join(tags)}')


def _row(tag, group, table):
    """Prints a statement, its results, and each reason why it did not pass once."""
    verdict = {REQUESTER: NONE, RESPONDER: NONE}
    others = {}
    for outcome in group:
        role = outcome.scenario.role
        verdict[role] = min(verdict[role], outcome.verdict, key=(*WORST_FIRST, NONE).index)
        if not outcome.bad and outcome.verdict != PASS:
            others.setdefault(outcome.why, []).append(f'{role} {_name(outcome)}')
    print(statement(tag, table, f'{verdict[REQUESTER]:10} {verdict[RESPONDER]:10} '))
    for why, names in others.items():
        print(_wrapped(f'{why}: {"; ".join(names)}', ' ' * 4, ' ' * 8))
    for outcome in group:
        if outcome.bad:
            print('\n'.join(_failure(outcome)))
    sys.stdout.flush()


def _sum(outcomes, table):
    """Prints the last lines: the numbers of results, and a short list of failures."""
    count = {}
    for outcome in outcomes:
        count[outcome.verdict] = count.get(outcome.verdict, 0) + 1
    print('\n' + ', '.join(f'{count[verdict]} {verdict}' for verdict in WORST_FIRST if verdict in count))
    for outcome in outcomes:
        if outcome.bad:
            tag = outcome.scenario.tag
            reference = f' [{table[tag].reference}]' if tag in table else ''
            print(_wrapped(f'{outcome.scenario.role} {_name(outcome)}{reference}',
                           f'{outcome.verdict:6} {tag:10} ', ' ' * 18))


def _gather(outcomes, groups):
    """Collects all outcomes by statement; shows the progress on a terminal."""
    count, failed = 0, 0
    shown = sys.stderr.isatty()
    for outcome in outcomes:
        groups.setdefault(outcome.scenario.tag, []).append(outcome)
        count, failed = count + 1, failed + outcome.bad
        if shown:
            print(f'\r{count} scenarios, {failed} failed ', end='', file=sys.stderr, flush=True)
    if shown:
        print('\r\033[K', end='', file=sys.stderr, flush=True)


def _failures_first(groups, all_of_them):
    """Returns tags of causes, those with most followers first; then of other failures; then of the rest."""
    first = [cause.scenario.tag for cause, _what, _others in causes.of(all_of_them)]
    failed = [tag for tag, group in groups.items() if any(outcome.bad for outcome in group)]
    return dict.fromkeys([*first, *failed, *groups])


def report(chosen, outcomes, table):
    """Prints outcomes, in TAP immediately, otherwise failures first. Returns the exit status."""
    if chosen.tap:
        return _tap(outcomes)
    groups = {}
    try:
        _gather(outcomes, groups)
    except BaseException:           # an interrupt, or a server that has gone: as far as that came
        _print_groups(groups, table)
        raise
    if not groups:
        print('conformance: none of these scenarios is for who is judged', file=sys.stderr)
        return 2
    return _print_groups(groups, table)


def _print_groups(groups, table):
    """Prints all outcomes. Returns whether one failed."""
    all_of_them = [outcome for group in groups.values() for outcome in group]
    if all_of_them:
        for line in _causes(all_of_them):
            print(_wrapped(line, '', ' ' * 4))
        print(f'{"statement":10} {"requester":10} {"responder":10} what it demands, and of whom')
        for tag in _failures_first(groups, all_of_them):
            _row(tag, groups[tag], table)
        _sum(all_of_them, table)
    return 1 if any(outcome.bad for outcome in all_of_them) else 0


def _nobody_came(counts):
    """Returns whether no client has sent anything, and reports that."""
    if any(count.held or count.broken for count in counts.values()):
        return False
    print('conformance: no client came', file=sys.stderr)
    return True


def _broken_first(counts, table, known=()):
    """Returns tags of broken statements that are not known, then of the rest, each in the table's order."""
    order = list(table).index
    return sorted(counts, key=lambda tag: (not counts[tag].broken or tag in known, order(tag)))


def tally_tap(counts, table, known=()):
    """Prints the same in TAP, in the table's order."""
    if _nobody_came(counts):
        print('1..0')
        return 2
    print(f'1..{len(counts)}')
    for number, tag in enumerate(sorted(counts, key=list(table).index), 1):
        text, count = f'{tag} RQ {table[tag].text}', counts[tag]
        if count.broken:
            todo = f' # TODO known: {known[tag].text}' if tag in known else ''
            print(f'not ok {number} - {text}{todo}\n# {count.broken} times, the first: {count.first}')
        else:
            print(f'ok {number} - {text}' + ('' if count.held else ' # SKIP not seen'))
    return 1 if any(count.broken and tag not in known for tag, count in counts.items()) else 0


def tally(counts, table, known=()):
    """Prints how often a client kept and broke each statement. Returns the exit status."""
    if _nobody_came(counts):
        return 2
    print(f'{"statement":10} {"held":>8} {"broken":>8}  what it demands, and of whom')
    for tag in _broken_first(counts, table, known):
        count = counts[tag]
        print(statement(tag, table, f'{count.held:8} {count.broken:8}  '))
        if count.broken:
            print(_wrapped(f'first: {count.first}', ' ' * 8, ' ' * 10))
        if tag in known:
            print(_wrapped(f'known: {known[tag].text}', ' ' * 8, ' ' * 10))
    broken = sum(count.broken > 0 for tag, count in counts.items() if tag not in known)
    print(f'\n{broken} broken, ' + (f'{len(known)} known, ' if known else '')
          + f'{sum(count.held > 0 and not count.broken for count in counts.values())} held, '
          f'{sum(not count.held and not count.broken for count in counts.values())} not seen')
    return 1 if broken else 0

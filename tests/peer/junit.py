# SPDX-License-Identifier: BSD-3-Clause
"""Writes outcomes as a JUnit report for continuous integration."""
from xml.etree import ElementTree

from outcome import BROKEN, FAIL, KNOWN, NOT_BUILT, NOT_SEEN

# What XML 1.0 cannot hold: a Terminate or a log may have it.
FORBIDDEN = {code: '?' for code in range(0x20) if code not in (0x09, 0x0a, 0x0d)} | {0xfffe: '?', 0xffff: '?'}


def _clean(text):
    return text.translate(FORBIDDEN)


def _suite(cases):
    """Returns the XML of cases: (tag, name, verdict, reason, details)."""
    cases = list(cases)
    verdicts = [case[2] for case in cases]
    skipped = sum(verdict in (KNOWN, NOT_BUILT, NOT_SEEN) for verdict in verdicts)
    suite = ElementTree.Element('testsuite', name='conformance', tests=str(len(cases)),
                                failures=str(verdicts.count(FAIL)), errors=str(verdicts.count(BROKEN)),
                                skipped=str(skipped))
    for tag, name, verdict, why, details in cases:
        case = ElementTree.SubElement(suite, 'testcase', classname=tag, name=name)
        kind = {FAIL: 'failure', BROKEN: 'error', KNOWN: 'skipped', NOT_BUILT: 'skipped',
                NOT_SEEN: 'skipped'}.get(verdict)
        if kind:
            message = why.splitlines()[0] if why else verdict
            part = ElementTree.SubElement(case, kind, message=_clean(f'{verdict}: {message}'))
            part.text = _clean('\n'.join([why, *details]))
    return suite


def write(path, cases):
    """Writes the file. Raises OSError if it cannot."""
    ElementTree.ElementTree(_suite(cases)).write(path, encoding='utf-8', xml_declaration=True)


def of_outcomes(outcomes, table):
    """Returns the cases of scenarios. The details include the reference of the statement."""
    for o in outcomes:
        name = f'{o.scenario.role} {o.name}' + (f', {o.how}' if o.how else '')
        details = [table[o.scenario.tag].reference] if o.scenario.tag in table else []
        yield o.scenario.tag, name, o.verdict, o.why, [*details, *o.trace]


def of_counts(counts, known, table):
    """Returns the cases of a judged client, one for each statement."""
    for tag, count in counts.items():
        verdict = 'pass' if count.held else NOT_SEEN
        why = '' if count.held else 'not seen'
        if count.broken:
            verdict, why = FAIL, f'{count.broken} times, the first: {count.first}'
            if tag in known:
                verdict, why = KNOWN, known[tag].text
        yield tag, f'RQ {table[tag].text}', verdict, why, [table[tag].reference]

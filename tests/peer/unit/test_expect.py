# SPDX-License-Identifier: BSD-3-Clause
"""Lists of known deviations, and which failure is the first cause of others."""
import glob
import os
import tempfile
import unittest
from xml.etree import ElementTree

import causes
import expect
import junit
import statements
from outcome import BROKEN, FAIL, KNOWN, NOT_SEEN, PASS, Outcome
from scenarios import load
from scene import scenario, trace
from test_style import PEER
from watch.tally import Count


def it_holds():
    """Only its name counts."""


def outcome(tag, verdict, why='', used=(), role=scenario.RESPONDER):
    """Of a scenario with that tag."""
    return Outcome(scenario.Scenario(tag, role, it_holds, {}, frozenset(), []), verdict, why, used=frozenset(used))


class Lists(unittest.TestCase):
    """Files of --expect."""

    def read(self, text):
        """What a file of this text says."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'list')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            return expect.read([path], [outcome(tag, PASS).scenario for tag in ('T1', 'T2', 'T3')])

    def test_those_of_linux_can_be_read(self):
        """Each line is of a scenario that there is: of knfsd, of siw, of the client, and of a proxy on verbs."""
        lists = [path for path in glob.glob(os.path.join(PEER, '../lab/conformance.*')) if not path.endswith('.sh')]
        self.assertEqual(len(lists), 4)
        known = expect.read(lists, load())
        self.assertIn('A5.1-2 RS a pulled call needs a chunk at position zero', known)
        self.assertTrue(known['A3.3-6 RS calls without credit do no harm'].seldom)

    def test_what_is_in_a_list_fails_nothing(self):
        """And what passes all the same is told, unless it is so now and then."""
        known = self.read('# Of it.\n\nT1 RS it holds | loses it | f.c:g\n'
                          '~T2 RS it holds | loses it at times | f.c:h | waited in vain\n'
                          'T3 RS * | all | f.c:i\n')
        for tag, verdict, why, expected in (
                ('T1', FAIL, 'gone', KNOWN), ('T1', PASS, '', FAIL), ('T1', BROKEN, 'x', BROKEN),
                ('T1', NOT_SEEN, 'x', NOT_SEEN), ('T2', FAIL, 'waited in vain for it', KNOWN),
                ('T2', FAIL, 'other', FAIL), ('T2', PASS, '', PASS), ('T3', FAIL, 'x', KNOWN),
                ('T3', PASS, '', PASS), ('T4', FAIL, 'x', FAIL)):
            (found,) = expect.held_against([outcome(tag, verdict, why)], known)
            self.assertEqual(found.verdict, expected, (tag, verdict, why))
        (found,) = expect.held_against([outcome('T1', FAIL, 'gone')], known)
        self.assertEqual(found.why, 'loses it (f.c:g)')
        (found,) = expect.held_against([outcome('T1', FAIL, 'gone', role=scenario.REQUESTER)], known)
        self.assertEqual(found.verdict, FAIL)

    def test_what_is_so_of_one_kernel_may_pass(self):
        """Since nobody says which one answers; lines of several are one deviation."""
        known = self.read('[6.1] T1 RS it holds | loses it | f.c:g\n'
                          '[6.12] T1 RS it holds | tells it twice\n'
                          '[6.12] ~T2 RS it holds | loses it | f.c:h | in vain\n')
        for tag, verdict, why, expected in (
                ('T1', FAIL, 'gone', KNOWN), ('T1', PASS, '', PASS),
                ('T2', FAIL, 'in vain', KNOWN), ('T2', FAIL, 'other', FAIL)):
            (found,) = expect.held_against([outcome(tag, verdict, why)], known)
            self.assertEqual(found.verdict, expected, (tag, verdict, why))
        (found,) = expect.held_against([outcome('T1', FAIL, 'gone')], known)
        self.assertEqual(found.why, 'Linux 6.1: loses it (f.c:g); Linux 6.12: tells it twice')

    def test_of_a_client_a_tag_is_known(self):
        """If it was broken."""
        known = self.read('T1 RQ * | sends too many | f.c:g\nT2 RQ * | the same | f.c:h\n')
        counts = {'T1': Count(broken=2), 'T2': Count(held=1), 'T3': Count(broken=1)}
        found = expect.known_counts(counts, known)
        self.assertEqual(list(found), ['T1'])

    def test_each_mistake_is_told_with_its_line(self):
        """And nothing is judged."""
        for text, said in (('T1\n', 'list:1: not TAG ROLE SCENARIO'),
                           ('\nT1 RS it holds\n', 'list:2: not TAG'),
                           ('T1 SV it holds | x | y\n', 'no role SV'),
                           ('T1 RS it breaks | x | y\n', 'no such scenario'),
                           ('~T1 RS it holds | x | y\n', 'now and then needs'),
                           ('T9 RS * | x | y\n', 'no such scenario'),
                           ('[] T1 RS it holds | x | y\n', 'no role T1'),
                           ('T1 RS it holds | x\n[6.1] T1 RS it holds | x\n', 'list:2: twice in the list'),
                           ('[6.1] ~T1 RS * | x | y | z\n[6.12] ~T1 RS * | x | y | w\n', 'list:2: .* two kernels')):
            with self.assertRaisesRegex(expect.BadList, said):
                self.read(text)


class Causes(unittest.TestCase):
    """Of failures."""

    def test_who_uses_what_is_broken_follows(self):
        """Of the same role, behind the statement that judges it for itself."""
        uses = {trace.CALL, trace.WRITE_CHUNK}
        failed = [outcome('A2-3', FAIL, 'a', uses), outcome('A3.7-2', FAIL, 'b', uses),
                  outcome('A8-1', FAIL, 'c', {trace.CALL}), outcome('X-6', FAIL, 'd', uses),
                  outcome('X-5', PASS, '', uses), outcome('X-7', FAIL, 'e', uses, scenario.REQUESTER)]
        ((cause, what, others),) = causes.of(failed)
        self.assertEqual((cause.scenario.tag, what), ('A3.7-2', 'use a write chunk, too,'))
        self.assertEqual([o.scenario.tag for o in others], ['A2-3', 'X-6'])

    def test_a_broken_call_comes_before_its_chunks(self):
        """Since each chunk is one of a Call."""
        uses = {trace.CALL, trace.WRITE_CHUNK}
        failed = [outcome('A3.7-2', FAIL, 'b', uses), outcome('A4.1-2', FAIL, 'x', {trace.CALL}),
                  outcome('X-6', FAIL, 'd', uses)]
        self.assertEqual([(cause.scenario.tag, len(others)) for cause, _what, others in causes.of(failed)],
                         [('A4.1-2', 2)])

    def test_what_says_the_same_has_one_cause(self):
        """But for its numbers; two are not many."""
        failed = [outcome(tag, FAIL, f'the connection is refused after {tag}') for tag in ('X-1', 'X-2', 'X-3')]
        ((cause, what, others),) = causes.of(failed)
        self.assertEqual((cause.scenario.tag, what, len(others)), ('X-1', 'say the same', 2))
        self.assertEqual(causes.of(failed[:2]), [])
        self.assertEqual(causes.of([outcome('X-1', PASS)]), [])


class Files(unittest.TestCase):
    """Of JUnit."""

    def written(self, cases):
        """The root of the file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'out.xml')
            junit.write(path, cases)
            return ElementTree.parse(path).getroot()

    def test_each_outcome_is_a_case(self):
        """With what XML cannot hold left out."""
        table = {'T1': statements.Statement('T1', 'RS: x', '8166 §3', 'a.c:b', 'peer RS')}
        failed = outcome('T1', FAIL, 'gone <&> \x00\nfor good')
        failed.trace = ['sent: it']
        root = self.written(junit.of_outcomes([failed, outcome('T1', PASS), outcome('T2', NOT_SEEN, 'no'),
                                               outcome('T2', KNOWN, 'so'), outcome('T2', BROKEN, 'oh')], table))
        self.assertEqual({key: root.get(key) for key in ('tests', 'failures', 'errors', 'skipped')},
                         {'tests': '5', 'failures': '1', 'errors': '1', 'skipped': '2'})
        first = root[0]
        self.assertEqual((first.get('classname'), first.get('name')), ('T1', 'RS it holds'))
        self.assertEqual(first[0].get('message'), 'fail: gone <&> ?')
        self.assertIn('MUST; RFC 8166 §3', first[0].text)
        self.assertIn('sent: it', first[0].text)
        self.assertEqual([child.tag for case in root for child in case], ['failure', 'skipped', 'skipped', 'error'])

    def test_each_statement_of_a_client_is_a_case(self):
        """Held, broken, known and not seen."""
        table = {tag: statements.Statement(tag, 'RQ: x', '–', 'a.c:b', 'peer RQ')
                 for tag in ('T1', 'T2', 'T3', 'T4')}
        known = {'T3': expect.Deviation('T3 RQ *', 'does so', 'f.c', '', False)}
        root = self.written(junit.of_counts({'T1': Count(held=1), 'T2': Count(broken=1, first='it'),
                                             'T3': Count(broken=1), 'T4': Count()}, known, table))
        self.assertEqual([[child.tag for child in case] for case in root],
                         [[], ['failure'], ['skipped'], ['skipped']])


if __name__ == '__main__':
    unittest.main()

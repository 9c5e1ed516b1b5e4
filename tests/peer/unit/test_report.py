# SPDX-License-Identifier: BSD-3-Clause
"""What conformance prints, and which statements a word of its command line means."""

import contextlib
import io
import os
import types
import unittest
from unittest import mock

import report
import statements
from outcome import Outcome
from scenarios import load
from scene import scenario
from watch.tally import Count
from wire import header

TABLE = {row.tag: row for row in (
    statements.Statement("A3.4-1", "RS: a chunk may stand at any position that XDR has, thus at multiples of four",
                         "8166 §3.4.5, 8166 §6.1", "lib/a.c:b", "peer RS"),
    statements.Statement("A3.4-10", "BOTH: it has one array for each result", "8166 §3.4.5.1, 8797 §4", "lib/a.c:c",
                         "peer RS"),
    statements.Statement("A-Δ3", "RS: no document says this", "–", "not built: draft-03", "peer RQ RS",
                         statements.MAY),
)}


def a_scenario():
    """Only its place and its name count."""


def outcome(tag, verdict, why="", role=scenario.RESPONDER, **more):
    """Of a scenario with that tag."""
    return Outcome(scenario.Scenario(tag, role, a_scenario, {}, frozenset(), []), verdict, why, **more)


def printed(*outcomes, columns="120"):
    """(exit status, lines of the report)"""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error), \
            mock.patch.dict(os.environ, {"COLUMNS": columns}):
        status = report.report(types.SimpleNamespace(tap=False), iter(outcomes), TABLE)
    return status, (out.getvalue() + error.getvalue()).splitlines()


class Rows(unittest.TestCase):
    """For somebody at a terminal."""

    def test_a_row_names_the_sections_of_the_rfcs(self):
        """Which is what a reader of the RFCs knows."""
        text = " ".join(" ".join(printed(outcome("A3.4-10", "pass"))[1]).split())
        self.assertIn("BOTH: it has one array for each result [MUST; RFC 8166 §3.4.5.1; RFC 8797 §4; "
                      "draft-ietf-nfsv4-rpcrdma-03 §3.4]", text)
        self.assertIn("RS: no document says this [MAY]", " ".join(printed(outcome("A-Δ3", "pass"))[1]))

    def test_words_fit_the_terminal_and_bytes_stay(self):
        """Of rows, reasons and messages."""
        dump = "      0000  70000001 00000001 00000010 00000000"
        lines = printed(outcome("A3.4-1", "fail", "it is wrong " * 30, trace=["sent: " + "a word " * 40, dump]),
                        outcome("A3.4-10", "not seen", "it is not there " * 20), columns="80")[1]
        self.assertEqual([line for line in lines if len(line) > 80], [])
        self.assertEqual([line for line in lines if line.endswith("RFC")], [])
        self.assertIn(f"        {dump}", lines)

    def test_a_failure_says_where_its_scenario_is(self):
        """So that its reader sees what is asked for."""
        lines = printed(outcome("A3.4-1", "fail", "it is odd", how="played wrong"))[1]
        line = a_scenario.__code__.co_firstlineno
        self.assertIn(f"    RS a scenario, played wrong (scenarios/test_report.py:{line}):", lines)
        self.assertEqual(lines[lines.index("        it is odd") - 1][-2:], "):")

    def test_a_reason_that_many_have_is_told_once(self):
        """With those that have it."""
        lines = printed(outcome("A3.4-1", "not seen", "no such dialect"),
                        outcome("A3.4-1", "not seen", "no such dialect"))[1]
        self.assertIn("    no such dialect: RS a scenario; RS a scenario", lines)

    def test_the_end_names_what_failed(self):
        """And nothing else."""
        status, lines = printed(outcome("A3.4-1", "pass"), outcome("A3.4-10", "fail", "bad"),
                                outcome("A-Δ3", "not built", "draft-03"))
        self.assertEqual((status, lines[-2:]), (1, [
            "1 fail, 1 not built, 1 pass",
            "fail   A3.4-10    RS a scenario [MUST; RFC 8166 §3.4.5.1; RFC 8797 §4; "
            "draft-ietf-nfsv4-rpcrdma-03 §3.4]"]))

    def test_failures_come_first(self):
        """Behind their first cause; what is known to fail is none."""
        lines = printed(outcome("A-Δ3", "known", "it does so"), outcome("A3.4-1", "pass"),
                        *(outcome(tag, "fail", f"it is {n}", used=frozenset({"a write chunk"}))
                          for n, tag in enumerate(("A3.4-10", "X-1", "X-2"))))
        self.assertEqual(lines[0], 1)
        begins = [line.split()[0] for line in lines[1] if line and line[0] in "AXf"]
        self.assertEqual(begins[:6], ["first", "A3.4-10", "X-1", "X-2", "A-Δ3", "A3.4-1"])
        self.assertIn("first cause: A3.4-10 RS a scenario. 2 other failures use a write chunk, too,", lines[1][0])
        self.assertEqual(printed(outcome("A-Δ3", "known", "it does so"))[0], 0)

    def test_tap_says_what_is_known_and_the_first_cause(self):
        """As comments, and as what is still to be done."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = report.report(types.SimpleNamespace(tap=True), iter(
                [outcome("A3.4-1", "known", "it does so")] + [outcome("X-1", "fail", "it is odd")] * 3), TABLE)
        lines = out.getvalue().splitlines()
        self.assertEqual((status, lines[0]), (1, "not ok 1 - A3.4-1 RS a scenario # TODO known: it does so"))
        self.assertIn("# first cause: X-1 RS a scenario. 2 other failures say the same", lines[-2])
        self.assertEqual(lines[-1], "1..4")

    def test_where_nothing_was_judged_nothing_held(self):
        """A scenario of a requester, and a server to be judged."""
        status, lines = printed()
        self.assertEqual((status, len(lines)), (2, 1))
        self.assertEqual(printed(outcome("A3.4-1", "pass"))[0], 0)


class Levels(unittest.TestCase):
    """Of the statements."""

    def test_each_line_is_of_a_statement(self):
        """And says a level that is no MUST; there is a reason behind it."""
        table, lower = statements.read(), statements.levels()
        self.assertEqual([tag for tag in lower if tag not in table], [])
        levels = {level for of in lower.values() for level in of.values()}
        roles = {role for of in lower.values() for role in of}
        self.assertEqual(levels, {statements.SHOULD, statements.MAY})
        self.assertEqual(roles, {"", scenario.REQUESTER, scenario.RESPONDER})
        self.assertEqual({table["A3.3-4"].level, table["A3.2-1"].level}, {statements.MUST, statements.MAY})
        lines = statements.LEVELS.read_text(encoding="utf-8").splitlines()
        self.assertEqual([line for line in lines if line[0] != "#" and not line.partition(" | ")[2]], [])

    def test_one_role_may_have_a_level_of_its_own(self):
        """Who takes both has to; who offers one or the other may."""
        statement = statements.read()["A3.4-11"]
        self.assertEqual(statement.reference.split(";")[0], "MUST, RQ MAY")
        self.assertEqual((statement.level, statement.levels_of), (statements.MUST, {"RQ": statements.MAY}))

    def test_levels_are_those_of_the_rfcs(self):
        """Some of which the drafts have otherwise, or say in other words."""
        table = statements.read()
        for tag, said in (("A-Δ1", "MUST, RS SHOULD"),       # 8166 §4.6.1: senders MUST NOT, responders SHOULD
                          ("A3.1-1", "MUST, RQ MAY"),        # 8166 §3.5.3: a long message at any time
                          ("A5.2-3", "SHOULD"), ("A-Δ3", "SHOULD"),     # 8166 §4.5.3, 8267 §3.1
                          ("A5.2-4", "MUST"),                # 8166 §4.3.3
                          ("A4.2-3", "MUST"),                # 8166 §4.2.4, §4.5
                          ("C4-2", "MUST"),                  # 8797 §4: be prepared for other settings
                          ("C4-1", "MAY"),                   # 8797 §1: OPTIONAL
                          ("D2.2.3-1", "MUST"),              # 8167 §6: no reverse Call before it is wanted
                          ("D1.3.3-1", "MAY"), ("D1.3.4-1", "MAY"),     # 8167 §5.3: chunks MAY be used
                          ("D2.4-2", "MUST"), ("X-3", "MUST"),          # 8166 §4.5: below 28 octets
                          ("X-7", "MAY")):                   # 8166 §4.2.1: the RPC's XID may be ignored
            self.assertEqual(table[tag].reference.split(";")[0], said, tag)

    def test_a_statement_names_its_documents(self):
        """The draft's section is in its tag; the RFCs on iWARP and our own choices are of no draft."""
        table = statements.read()
        self.assertEqual(table["D1.3.4-1"].draft, "draft-ietf-nfsv4-rpcrdma-bidirection-02 §1.3.4")
        for tag in ("A-Δ5", "I5040-1", "X-3"):
            self.assertEqual(table[tag].draft, "", tag)

    def test_the_rfcs_alone_have_neither_drafts_nor_our_own(self):
        """Whatever their table says."""
        table = statements.read()
        chosen = [s for s in load() if statements.of_an_rfc(s, table)]
        self.assertGreater(len(chosen), 150)
        self.assertEqual({s.dialect for s in chosen}, {"version one"})
        self.assertEqual([s.tag for s in chosen if not table[s.tag].sections or "ours" in s.needs], [])


class Tallies(unittest.TestCase):
    """Of a client that was watched."""

    def told(self, how=report.tally, **counts):
        """(exit status, lines)"""
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            status = how({tag: counts.get(f"at_{number}", Count())
                          for number, tag in enumerate(reversed(TABLE))}, TABLE)
        return status, (out.getvalue() + error.getvalue()).splitlines()

    def test_they_stand_as_in_the_table_and_are_summed_up(self):
        """Whatever order they were seen in."""
        status, lines = self.told(at_0=Count(held=2), at_2=Count(held=1, broken=3, first="it is odd"))
        self.assertEqual([line.split()[:3] for line in lines if line[:2] in ("A3", "A-")],
                         [["A3.4-1", "1", "3"], ["A3.4-10", "0", "0"], ["A-Δ3", "2", "0"]])
        self.assertIn("        first: it is odd", lines)
        self.assertEqual((status, lines[-1]), (1, "1 broken, 1 held, 1 not seen"))
        self.assertEqual(self.told(at_1=Count(held=1))[0], 0)

    def test_of_no_client_there_is_nothing_to_tell(self):
        """No row of zeros."""
        self.assertEqual(self.told(), (2, ["conformance: no client came"]))
        self.assertEqual(self.told(report.tally_tap), (2, ["1..0", "conformance: no client came"]))

    def test_tap_has_a_line_for_each(self):
        """Of those that were not seen, too."""
        status, lines = self.told(report.tally_tap, at_0=Count(held=2), at_2=Count(held=1, broken=3, first="odd"))
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "1..3")
        self.assertEqual([line.split(" RS")[0].split(" BOTH")[0] for line in lines[1:]],
                         ["not ok 1 - A3.4-1 RQ", "# 3 times, the first: odd", "ok 2 - A3.4-10 RQ",
                          "ok 3 - A-Δ3 RQ"])
        self.assertTrue(lines[3].endswith(" # SKIP not seen"))


class Words(unittest.TestCase):
    """Of the command line."""

    def test_a_tag_is_itself_and_not_how_others_begin(self):
        """A3.4-1 and A3.4-10."""
        self.assertEqual(statements.meant("A3.4-1", TABLE), ["A3.4-1"])
        self.assertEqual(statements.meant("A3.4", TABLE), ["A3.4-1", "A3.4-10"])
        self.assertEqual(statements.meant("A3.5", TABLE), [])
        self.assertEqual(statements.meant("", TABLE), [])

    def test_tags_can_be_typed(self):
        """Without Greek, in small letters."""
        self.assertEqual(statements.meant("a-d3", TABLE), ["A-Δ3"])
        self.assertEqual(statements.meant("a3.4-10", TABLE), ["A3.4-10"])

    def test_a_section_of_an_rfc_means_those_below_it(self):
        """However it is written."""
        for word in ("8166/3.4", "8166 §3.4.5", "RFC 8166", "rfc8166/3.4.5"):
            self.assertEqual(statements.meant(word, TABLE), ["A3.4-1", "A3.4-10"], word)
        self.assertEqual(statements.meant("8166/3.4.5.1", TABLE), ["A3.4-10"])
        self.assertEqual(statements.meant("8166/3", TABLE), ["A3.4-1", "A3.4-10"])
        for word in ("8166/3.4.50", "8166/4", "8167"):
            self.assertEqual(statements.meant(word, TABLE), [], word)


class Described(unittest.TestCase):
    """What reasons are made of."""

    def test_a_segment_looks_alike_everywhere(self):
        """In the description of a message and in a reason."""
        segment = header.Segment(0x70000001, 600, 0x2a0f)
        self.assertEqual(f"{[segment]}", "[70000001+0x2a0f:600]")
        message = header.encode(header.Header(xid=1, writes=[[segment]]))
        self.assertIn(f"write {[segment]}", header.describe(message))
        self.assertEqual(f"{header.ReadSegment(24, 1, 2, 3)}", "@24 00000001+0x3:2")

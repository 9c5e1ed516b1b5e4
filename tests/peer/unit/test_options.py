# SPDX-License-Identifier: BSD-3-Clause
"""The command line of conformance: each mistake is reported in one line, before anything starts."""

import os
import subprocess
import sys
import tempfile
import unittest

from net.limit import Limit

CONFORMANCE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "conformance")


def ended(process):
    """Returns (standard output, standard error) of a process; kills it after a minute."""
    limit = Limit(60)
    while True:
        try:
            return process.communicate(timeout=limit.left())
        except subprocess.TimeoutExpired:
            if limit.passed():
                process.kill()
                raise


def run(*words, program=CONFORMANCE):
    """Returns (exit status, standard output, standard error)."""
    with subprocess.Popen([sys.executable, "-B", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, env={**os.environ, "COLUMNS": "120"}) as process:
        out, error = ended(process)
        return process.returncode, out, error


class Mistakes(unittest.TestCase):
    """Wrong command lines, which judge nothing."""

    def told(self, words, said):
        """Checks that the last line reports the mistake."""
        status, out, error = run(*words)
        self.assertEqual((status, out), (2, ""), words)
        self.assertIn(said, error.splitlines()[-1], words)
        self.assertNotIn("Traceback", error)

    def test_addresses(self):
        """Addresses of servers."""
        for text in ("", ":20049", "localhost:", "localhost:65536", "::1", "localhost:nfs"):
            self.told(["-p", text], "HOST:PORT")
        self.told(["-p", "[1::2::3]"], "1::2::3: ")

    def test_times(self):
        """Infinite times, and words that are not times."""
        for text in ("0", "-1", "nan", "inf", "soon"):
            self.told(["--self", f"--patience={text}", "A3.3-3"], "is not a number of seconds above zero")

    def test_options_that_exclude_each_other(self):
        """The program ignores neither of them."""
        for words in (["--self", "-p", "localhost"], ["--self", "--requester"], ["--requester", "A3.3-3"],
                      ["--wrong", "A3.3-3", "-p", "localhost"],
                      ["--self", "--daemon", "/bin/true"],
                      ["--fault", "the write list is left out", "--self"],
                      ["-p", "localhost", "--nfs", "4.1", "--mount", "localhost"]):
            self.told(words, ": not allowed with ")
        for words in (["--mount", "localhost"], ["--export", "/"], ["--nfs", "4.1"]):
            self.told(words, "need -p")
        self.told(["--wrong", "A3.3-3", "A3.4"], "--wrong has a TAG already")

    def test_missing_statements_programs_and_files(self):
        """None of them exists."""
        self.told(["--self", "Z9"], "Z9: no such statement")
        self.told(["--list", "A3.3-3", "A3.9"], "A3.9: no such statement")
        self.told(["--self", "A2-5"], "without a scenario: A2-5: tests/")
        self.told(["--daemon", "/nonexistent", "A3.3-3"], "/nonexistent cannot be run")
        self.told(["--daemon", "/", "A3.3-3"], "cannot be run")
        self.told(["--fault", "none"], "--fault none: no such fault")
        self.told(["--self", "--expect", "/nonexistent/list", "A3.3-3"], "/nonexistent/list")
        self.told(["--self", "--expect", CONFORMANCE, "A3.3-3"], "conformance:3: not TAG ROLE SCENARIO")
        self.told(["--self", "--junit", "/nonexistent/file", "A3.3-3"], "/nonexistent/file")
        self.told(["--self", "--pcap", "/nonexistent/file", "A3.3-3"], "/nonexistent/file")


class WithoutOurDaemon(unittest.TestCase):
    """A fresh clone, in which nothing is built."""

    def test_all_but_judging_it_works(self):
        """Where it would be, nothing is."""
        with tempfile.TemporaryDirectory() as clone:
            os.mkdir(os.path.join(clone, "tests"))
            os.symlink(os.path.dirname(CONFORMANCE), os.path.join(clone, "tests/peer"))
            for words, good in ((["--list", "A3.3-3"], 0), (["--self", "A3.3-3"], 0), (["--wrong", "A3.3-3"], 1),
                                (["-p", "localhost:1", "--mount", "localhost:1"], 2), (["A3.3-3"], 2)):
                status, _out, error = run(*words, program=os.path.join(clone, "tests/peer/conformance"))
                self.assertEqual(status, good, error)
                self.assertEqual("cannot be run" in error, words == ["A3.3-3"], words)

    def test_a_reader_who_has_seen_enough_sees_no_traceback(self):
        """As of: conformance --list | head -1"""
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "wb") as out:
            with subprocess.Popen([sys.executable, "-B", CONFORMANCE, "--list"], stdout=out,
                                  stderr=subprocess.PIPE) as process:
                _out, error = ended(process)
        self.assertEqual(error, b"")

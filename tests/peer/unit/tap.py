# SPDX-License-Identifier: BSD-3-Clause
"""Runs unittest modules of this folder and reports each case in TAP."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class TapResult(unittest.TestResult):
    """One line for each case, with what went wrong behind it; cases of subTest are not counted."""

    def __init__(self, stream):
        super().__init__()
        self.stream_to = stream
        self.number = 0
        self.wrong = []

    def startTest(self, test):
        """Nothing is wrong yet."""
        super().startTest(test)
        self.wrong = []

    def stopTest(self, test):
        """What is known now is the verdict."""
        super().stopTest(test)
        self.line(test, "not ok" if self.wrong else "ok")
        for text in self.wrong:
            for row in text.splitlines():
                print(f"# {row}", file=self.stream_to)
        self.wrong = []

    def line(self, test, verdict):
        """A line of TAP."""
        self.number += 1
        print(f"{verdict} {self.number} - {test.id()}", file=self.stream_to, flush=True)

    def _went_wrong(self, test, text):
        if isinstance(test, unittest.TestCase):
            self.wrong.append(text)
        else:
            self.wrong = [text]
            self.line(test, "not ok")

    def addError(self, test, err):
        """A case, or a fixture around cases, that raised."""
        super().addError(test, err)
        self._went_wrong(test, self.errors[-1][1])

    def addFailure(self, test, err):
        """A case whose assertion failed."""
        super().addFailure(test, err)
        self._went_wrong(test, self.failures[-1][1])

    def addSubTest(self, test, subtest, err):
        """A part of a case: only failures are told."""
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.wrong.append(f"{subtest.id()}\n{self._exc_info_to_string(err, test)}")

    def addUnexpectedSuccess(self, test):
        """A case that was expected to fail."""
        super().addUnexpectedSuccess(test)
        self.wrong.append("succeeds, which was not expected")


def run(suite, stream=sys.stdout):
    """Runs a suite; returns whether all went well."""
    result = TapResult(stream)
    suite.run(result)
    if result.number == 0:
        print("not ok 1 - there are no tests", file=stream)
        result.number = 1
        result.errors.append(None)
    print(f"1..{result.number}", file=stream)
    return result.wasSuccessful()


def main(names):
    """Runs the modules named, or all."""
    sys.path[:0] = [os.path.dirname(HERE), HERE]
    loader = unittest.defaultTestLoader
    if names:
        suite = loader.loadTestsFromNames(names)
    else:
        suite = loader.discover(HERE, "test_*.py", HERE)
    return 0 if run(suite) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of this folder and reports each case in TAP."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.path.dirname(HERE)
TAP = os.path.join(os.path.dirname(os.path.dirname(REPORT)), "peer", "unit")

sys.path[:0] = [REPORT, HERE, TAP]
tap = __import__("tap")
sys.exit(0 if tap.run(unittest.defaultTestLoader.discover(HERE, "test_*.py", HERE)) else 1)

# SPDX-License-Identifier: BSD-3-Clause
"""An end with all parts of the documents."""
from model.configuration import Configuration
from model.done import Done
from model.end import End
from model.msgp import Msgp


class Complete(Configuration, Msgp, Done, End):
    """Draft-03's extras before an End; each part does what it adds, and leaves the rest to those behind it.

    What its Options do not switch on, it does without.
    """

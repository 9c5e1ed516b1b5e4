# SPDX-License-Identifier: BSD-3-Clause
"""An end with all that the documents have."""
from model.configuration import Configuration


class Complete(Configuration):
    """What its Options do not switch on, it does without."""

# SPDX-License-Identifier: BSD-3-Clause
"""All faults, by name."""
from relay import of_calls, of_replies
from relay.fault import Fault

FAULTS = {each.name: each for module in (of_replies, of_calls) for each in vars(module).values()
          if isinstance(each, Fault)}

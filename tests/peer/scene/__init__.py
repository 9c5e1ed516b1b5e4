# SPDX-License-Identifier: BSD-3-Clause
"""What a scenario is made of: its statement, the connections that it has in hand, what it finds wrong."""

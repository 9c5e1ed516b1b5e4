# SPDX-License-Identifier: BSD-3-Clause
"""A relay between the peer and a conforming server, which injects one fault."""

# SPDX-License-Identifier: BSD-3-Clause
"""Checks of every message of a client, without scenarios: `conformance --requester`."""

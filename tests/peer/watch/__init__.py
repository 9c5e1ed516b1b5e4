# SPDX-License-Identifier: BSD-3-Clause
"""What is held against every message of a client that nobody steers: `conformance --requester`."""

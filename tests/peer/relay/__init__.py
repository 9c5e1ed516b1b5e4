# SPDX-License-Identifier: BSD-3-Clause
"""A relay that stands between the peer and a server that keeps to the documents, and commits one fault."""

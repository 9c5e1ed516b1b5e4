# SPDX-License-Identifier: BSD-3-Clause
"""Who is judged: our daemon, any server, any client, or the peer itself."""

# SPDX-License-Identifier: BSD-3-Clause
"""NFS version 3 and MOUNT: what Calls and Replies say, and a server in memory."""

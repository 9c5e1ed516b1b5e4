# SPDX-License-Identifier: BSD-3-Clause
"""Conforming ends of RPC-over-RDMA. A scenario replaces a method or value to break a statement."""

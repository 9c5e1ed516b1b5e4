# SPDX-License-Identifier: BSD-3-Clause
"""Both ends of RPC-over-RDMA, played right; a scenario bends one method or value of them to have it wrong."""

# SPDX-License-Identifier: BSD-3-Clause
"""Sockets: the loop, records of ONC RPC over TCP, iWARP connections, and capture files for Wireshark."""

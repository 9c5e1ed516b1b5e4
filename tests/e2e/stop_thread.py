#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stops one thread of another process until this one is killed: stop_thread.py TID."""
import ctypes
import os
import signal
import sys

SEIZE, INTERRUPT = 0x4206, 0x4207
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

thread = int(sys.argv[1])
for request in (SEIZE, INTERRUPT):
    if ptrace(request, thread, None, None):
        raise OSError(ctypes.get_errno(), f"ptrace of {thread}: {os.strerror(ctypes.get_errno())}")
signal.pause()

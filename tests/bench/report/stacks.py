# SPDX-License-Identifier: BSD-3-Clause
"""Prints the purpose of a proxy's sampled call stacks: microseconds per Call, for profile.sh."""

import os
import re
import sys
from collections import Counter

KINDS = (
    ("copying by the kernel", "copy"),
    ("sums (CRC32C)", "crc"),
    ("copying by the proxy", "memmove"),
    ("the proxy's own code", "own"),
    ("falling asleep and being woken", "sleep"),
    ("waking others", "wake"),
    ("what a send does for its receiver", "deliver"),
    ("else of sends", "send"),
    ("else of reads", "read"),
    ("else of waiting", "wait"),
    ("else", "else"),
)

# The first that some frame of a stack matches, from above: leaf is the function that ran.
LEAF, ANY = "leaf", "any"
RULES = (
    ("copy", LEAF, re.compile(r"_copy_(to|from)_iter|copy_user|rep_movs")),
    ("crc", LEAF, re.compile(r"crc32")),
    ("sleep", LEAF, re.compile(r"finish_task_switch|__schedule")),
    ("wake", ANY, re.compile(r"try_to_wake_up|__wake_up_|ep_poll_callback|sock_def_readable")),
    ("deliver", ANY, re.compile(r"softirq")),
    ("send", ANY, re.compile(r"sys_send(msg|to)$")),
    ("read", ANY, re.compile(r"(sys|do)_readv$|sys_(recvfrom|recvmsg|read)$")),
    ("wait", ANY, re.compile(r"sys_epoll_(p?wait|pwait2)$|do_epoll_wait$")),
    ("else", ANY, re.compile(r"do_syscall_64|^asm_|^entry_SYSCALL")),
    ("memmove", LEAF, re.compile(r"mem(move|cpy)")),
)


def kind_of(stack):
    """Returns the kind of a stack, a list of function names with the leaf first, by the first rule that matches."""
    for kind, where, pattern in RULES:
        if any(pattern.search(frame) for frame in (stack[:1] if where == LEAF else stack)):
            return kind
    return "own"


def stacks(lines):
    """Yields the samples in @lines: a frame per line, and an empty line between two samples."""
    stack = []
    for line in lines:
        if line.strip():
            stack.append(line.strip())
        elif stack:
            yield stack
            stack = []
    if stack:
        yield stack


def microseconds(lines, hertz, calls):
    """Returns the microseconds of a Call by kind."""
    counts = Counter(kind_of(stack) for stack in stacks(lines))
    return {kind: count * 1e6 / hertz / calls for kind, count in counts.items()}


def table(hops, found):
    """Returns lines of text: a column with the microseconds in @found for each of @hops."""
    width = max(len(title) for title, _ in KINDS)
    lines = [" " * width + "".join(f"{hop:>13}" for hop in hops)]
    for title, kind in KINDS:
        lines.append(f"{title:{width}}" + "".join(f"{found[hop].get(kind, 0):13.2f}" for hop in hops))
    lines.append(f"{'all':{width}}" + "".join(f"{sum(found[hop].values()):13.2f}" for hop in hops))
    return lines


def main(hertz, folder, *hops):
    """Prints the table for the samples of profile.sh in @folder."""
    found = {}
    for hop in hops:
        with open(os.path.join(folder, hop + ".calls"), encoding="ascii") as calls:
            of_calls = int(calls.read())
        with open(os.path.join(folder, hop + ".stacks"), encoding="utf-8", errors="replace") as lines:
            found[hop] = microseconds(lines, int(hertz), of_calls)
    print("\n".join(table(hops, found)))


if __name__ == "__main__":
    main(*sys.argv[1:])

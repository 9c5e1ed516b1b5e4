# SPDX-License-Identifier: BSD-3-Clause
"""What samples of call stacks were for."""

import unittest

import stacks

SEND = ["__x64_sys_sendmsg", "do_syscall_64", "entry_SYSCALL_64_after_hwframe", "__libc_sendmsg", "send_all"]
WAIT = ["do_epoll_wait", "__x64_sys_epoll_wait", "do_syscall_64", "entry_SYSCALL_64_after_hwframe", "epoll_wait"]


class TestKinds(unittest.TestCase):
    """A stack, the function that ran first."""

    def test_each_kind(self):
        cases = {
            "copy": ["_copy_from_iter", "tcp_sendmsg_locked"] + SEND,
            "crc": ["crc32_iscsi_by16_10", "iwarp_crc"],
            "memmove": ["__memmove_avx512_unaligned_erms", "rx_scatter_copy_back"],
            "own": ["iwarp_engine_rx_done", "ep_receive", "main"],
            "sleep": ["finish_task_switch.isra.0", "__schedule", "schedule", "ep_poll"] + WAIT,
            "wake": ["_raw_spin_unlock_irqrestore", "try_to_wake_up", "sock_def_readable", "tcp_v4_rcv", "handle_softirqs"] + SEND,
            "deliver": ["tcp_v4_rcv", "handle_softirqs", "do_softirq.part.0"] + SEND,
            "send": ["tcp_write_xmit"] + SEND,
            "read": ["tcp_recvmsg_locked", "vfs_readv", "do_readv", "do_syscall_64"],
            "wait": ["sock_poll"] + WAIT,
            "else": ["irqentry_exit_to_user_mode", "asm_sysvec_apic_timer_interrupt", "ep_receive"],
        }
        self.assertEqual(set(cases), {kind for _, kind in stacks.KINDS})
        for kind, stack in cases.items():
            self.assertEqual(stacks.kind_of(stack), kind, stack)

    def test_what_interrupts_a_copy_is_no_copy(self):
        self.assertEqual(stacks.kind_of(["read_tsc", "_copy_to_iter", "do_readv"]), "read")


class TestTable(unittest.TestCase):
    """Microseconds of a Call."""

    LINES = "iwarp_crc\nmain\n\n\n__memmove_evex\nmain\n\nmain"

    def test_samples_are_parted_by_empty_lines(self):
        self.assertEqual(list(stacks.stacks(self.LINES.splitlines())),
                         [["iwarp_crc", "main"], ["__memmove_evex", "main"], ["main"]])

    def test_microseconds(self):
        self.assertEqual(stacks.microseconds(self.LINES.splitlines(), 1000, 100),
                         {"own": 20.0, "memmove": 10.0})

    def test_a_column_for_each_hop(self):
        lines = stacks.table(["one", "two"], {"one": {"copy": 1.5, "own": 2}, "two": {"own": 0.25}})
        self.assertEqual(lines[0].split(), ["one", "two"])
        self.assertEqual(lines[1].split()[-2:], ["1.50", "0.00"])
        self.assertEqual(lines[-1].split(), ["all", "3.50", "0.25"])

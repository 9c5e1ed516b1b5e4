# SPDX-License-Identifier: BSD-3-Clause
"""What the server in memory says of Calls as RPC, and its MOUNT and ECHO."""
import unittest

from nfs import mount3, nfs3
from nfs.server import (ECHO_ECHO, ECHO_FILL, ECHO_PROGRAM, Executed, FILL_LIMIT, HOLD, Server,
                        echo_args, fill_args)
from nfs.tree import pattern
from nfs_client import Client
from wire import rpc, xdr

CONF_PROGRAM = 100417


class Case(unittest.TestCase):
    """A server and a client."""

    def setUp(self):
        self.server = Server(pattern_bytes=1, names=1)
        self.client = Client(self.server.answer)


class Messages(Case):
    """What RPC says of Calls, whatever the program."""

    def test_null_of_each_program(self):
        for prog, vers in ((nfs3.PROGRAM, 3), (mount3.PROGRAM, 3), (mount3.PROGRAM, 1),
                           (ECHO_PROGRAM, 1)):
            reply = self.client.ask(prog, vers, 0)
            self.assertEqual((reply.accept_stat, reply.result), (rpc.SUCCESS, b""))

    def test_unknown_programs(self):
        for prog in (CONF_PROGRAM, 100227, 100000):
            self.assertEqual(self.client.ask(prog, 1, 0).accept_stat, rpc.PROG_UNAVAIL)

    def test_unknown_versions(self):
        for prog, low, high in ((nfs3.PROGRAM, 3, 3), (mount3.PROGRAM, 1, 3),
                                (ECHO_PROGRAM, 1, 1)):
            reply = self.client.ask(prog, 4, 0)
            self.assertEqual((reply.accept_stat, reply.low, reply.high),
                             (rpc.PROG_MISMATCH, low, high))

    def test_unknown_procedures(self):
        for prog, vers, proc in ((nfs3.PROGRAM, 3, 22), (mount3.PROGRAM, 3, 6),
                                 (mount3.PROGRAM, 1, 1), (ECHO_PROGRAM, 1, 3)):
            self.assertEqual(self.client.ask(prog, vers, proc).accept_stat, rpc.PROC_UNAVAIL)

    def test_garbage_args(self):
        for prog, proc, args in ((nfs3.PROGRAM, 6, b""), (nfs3.PROGRAM, 0, bytes(4)),
                                 (nfs3.PROGRAM, 1, nfs3.getattr_(bytes(65))),
                                 (mount3.PROGRAM, 1, xdr.u32(9)), (mount3.PROGRAM, 0, bytes(4))):
            self.assertEqual(self.client.ask(prog, 3, proc, args).accept_stat, rpc.GARBAGE_ARGS)
        for proc, args in ((0, bytes(4)), (1, bytes(8)), (2, bytes(4)),
                           (2, fill_args(FILL_LIMIT + 1))):
            reply = self.client.ask(ECHO_PROGRAM, 1, proc, args)
            self.assertEqual(reply.accept_stat, rpc.GARBAGE_ARGS)
        reply = self.client.ask(mount3.PROGRAM, 1, 0, bytes(4))
        self.assertEqual(reply.accept_stat, rpc.GARBAGE_ARGS)

    def test_another_version_of_rpc(self):
        reply = rpc.decode(self.server.answer(rpc.call(7, nfs3.PROGRAM, 3, 0, rpcvers=3)))
        self.assertEqual((reply.xid, reply.stat, reply.reject_stat, reply.low, reply.high),
                         (7, rpc.DENIED, rpc.RPC_MISMATCH, 2, 2))

    def test_a_broken_credential(self):
        whole = rpc.call(7, nfs3.PROGRAM, 3, 0)
        unreadable = rpc.call(7, nfs3.PROGRAM, 3, 0, cred=rpc.Auth(1, bytes(8)))
        for data in (whole[:-4], whole[:24], unreadable):
            reply = rpc.decode(self.server.answer(data))
            self.assertEqual((reply.xid, reply.stat, reply.auth_stat),
                             (7, rpc.DENIED, rpc.AUTH_BADCRED))

    def test_what_is_no_call_is_not_answered(self):
        for data in (b"", bytes(4), rpc.accepted(1, bytes(40)), rpc.call(1, 2, 3, 4)[:23]):
            self.assertIsNone(self.server.answer(data))

    def test_echo(self):
        args = echo_args(b"abcde")
        self.assertEqual(self.client.ask(ECHO_PROGRAM, 1, ECHO_ECHO, args).result, args)
        found = self.client.ask(ECHO_PROGRAM, 1, ECHO_FILL, fill_args(70001, b"abc")).result
        self.assertEqual(found, xdr.var(pattern(0, 70001)))


class Hooks(Case):
    """What scenarios see and change."""

    def test_the_log_has_what_was_executed(self):
        self.server.log.clear()
        self.server.counts.clear()
        for xid in (5, 6, 6):
            self.server.answer(rpc.call(xid, ECHO_PROGRAM, 1, ECHO_ECHO, echo_args(b"")))
        self.server.answer(rpc.call(7, ECHO_PROGRAM, 1, ECHO_ECHO))
        self.server.answer(rpc.call(8, ECHO_PROGRAM, 2, ECHO_ECHO, echo_args(b"")))
        self.assertEqual(self.server.log,
                         [Executed(xid, ECHO_PROGRAM, 1, ECHO_ECHO) for xid in (5, 6, 6)])
        self.assertEqual(self.server.counts, {(ECHO_PROGRAM, ECHO_ECHO): 3})

    def test_before_can_answer(self):
        self.server.before = lambda call: rpc.accepted(call.xid, b"mine") if call.proc else None
        self.assertEqual(self.client.ask(ECHO_PROGRAM, 1, ECHO_ECHO).result, b"mine")
        self.assertEqual(self.client.ask(ECHO_PROGRAM, 1, 0).result, b"")
        self.assertEqual(self.server.counts[ECHO_PROGRAM, ECHO_ECHO], 1)
        self.assertEqual(self.server.counts[ECHO_PROGRAM, 0], 1)

    def test_before_can_hold(self):
        held = []
        self.server.before = lambda call: held.append(call) or HOLD
        self.assertIsNone(self.server.answer(
            rpc.call(9, ECHO_PROGRAM, 1, ECHO_ECHO, echo_args(b"x"))))
        self.assertEqual(self.server.counts[ECHO_PROGRAM, ECHO_ECHO], 0)
        self.assertEqual(rpc.decode(self.server.execute(held[0])).result, echo_args(b"x"))
        self.assertEqual(self.server.counts[ECHO_PROGRAM, ECHO_ECHO], 1)


class Mount(Case):
    """MOUNT."""

    def mounted(self, path):
        """What MNT says."""
        return self.client.mount(mount3.MNT, mount3.mnt(path))

    def test_paths(self):
        root = self.client.root()
        below = self.client.nfs(nfs3.LOOKUP, nfs3.lookup(root, "names")).fh
        for path in ("/", "/export", "/export/", "export"):
            self.assertEqual(self.mounted(path).fh, root)
        self.assertEqual(self.mounted("/export/names").fh, below)
        self.assertEqual(self.mounted("/export").flavors, [1, 0])
        for path, status in (("/other", mount3.NOENT), ("/export/none", mount3.NOENT),
                             ("/export/pattern/x", mount3.NOENT),
                             ("/export/pattern", mount3.NOTDIR)):
            self.assertEqual(self.mounted(path).status, status)

    def test_lists(self):
        found = self.client.mount(mount3.EXPORT)
        self.assertEqual([(each.path, each.groups) for each in found.exports], [(b"/export", [])])
        self.assertEqual(self.client.mount(mount3.DUMP).mounts, [])
        self.assertIsNone(self.client.mount(mount3.UMNT, mount3.umnt("/export")))
        self.assertIsNone(self.client.mount(mount3.UMNTALL))


if __name__ == "__main__":
    unittest.main()

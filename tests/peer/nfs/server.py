# SPDX-License-Identifier: BSD-3-Clause
"""An NFSv3 server in memory: a Call's bytes in, its Reply's out (RFC 5531, RFC 1813).

It serves NFS, MOUNT and ECHO, a program of this test suite:

    ECHO 0x20000099, version 1
      0 NULL
      1 ECHO   opaque data<>                    -> opaque data<>, the same
      2 FILL   unsigned count, opaque ignored<> -> opaque data<>, tree.pattern(0, count)

The one export is /export. In it are `pattern`, a file whose bytes are computed, and `names`, a
directory with many names; what else there is, clients have made.
"""
import time
from collections import Counter, namedtuple

from wire import rpc, xdr
from nfs import mount3, nfs3
from nfs.operations import Operations, handle
from nfs.tree import Directory, File, Pattern, Refused, Tree, pattern

ECHO_PROGRAM, ECHO_VERSION = 0x20000099, 1
ECHO_NULL, ECHO_ECHO, ECHO_FILL = 0, 1, 2
FILL_LIMIT = 16 << 20
EXPORT_PATH = b"/export"
PATTERN_NAME, NAMES_NAME = b"pattern", b"names"

HOLD = object()  # what `before` gives for a Call that is not answered now

Executed = namedtuple("Executed", "xid prog vers proc")


class NoProcedure(Exception):
    """The program has no such procedure."""


def echo_args(data):
    """The arguments of ECHO; its results are the same bytes."""
    return xdr.var(data)


def fill_args(count, ignored=b""):
    """The arguments of FILL."""
    return xdr.u32(count) + xdr.var(ignored)


def caller_of(cred):
    """(uid, gid) of a credential; root's if it says nothing."""
    if cred.flavor != 1:
        return 0, 0
    reader = xdr.Reader(cred.body)
    reader.u32()
    reader.var(255)
    return reader.u32(), reader.u32()


class Server:
    """All state of a server; any number of connections may ask it.

    before: None, or called with each Call (an rpc.Message) that is about to be executed. It
        gives None to have it executed, the bytes of a Reply, or HOLD: then nobody answers, until
        execute() is called with it.
    log, counts: the Calls that were executed, here or by `before`, in their order and by
        (program, procedure). Those that the RPC layer turns away are not among them.
    """

    def __init__(self, max_bytes=1 << 20, pattern_bytes=64 << 20, names=1000,
                 file_limit=1 << 30, clock=time.time_ns):
        self.tree = Tree(clock)
        self.operations = Operations(self.tree, max_bytes, file_limit)
        self.before = None
        self.log = []
        self.counts = Counter()
        self.programs = {
            nfs3.PROGRAM: {nfs3.VERSION: self._nfs},
            mount3.PROGRAM: {1: self._null_only, mount3.VERSION: self._mount},
            ECHO_PROGRAM: {ECHO_VERSION: self._echo},
        }
        self._fill_tree(pattern_bytes, names)

    def _fill_tree(self, pattern_bytes, names):
        root, add = self.tree.root, self.tree.add
        self.tree.put(root, PATTERN_NAME, add(Pattern, 0o444, (0, 0), pattern_bytes))
        directory = add(Directory, 0o755, (0, 0), None)
        self.tree.put(root, NAMES_NAME, directory)
        for number in range(names):
            name = b"name-%05d-%s" % (number, b"x" * (number % 40))
            self.tree.put(directory, name, add(File, 0o644, (0, 0)))

    # ---------------------------------------------------------------- RPC

    def answer(self, data):
        """The Reply to a whole message; None if it is no Call, or is held."""
        if len(data) < 24 or not rpc.is_call(data):
            return None
        xid = rpc.xid_of(data)
        if data[8:12] != xdr.u32(2):
            return rpc.denied(xid)
        try:
            call = rpc.decode(data)
        except rpc.RpcError:
            return rpc.denied(xid, rpc.AUTH_BADCRED)
        answered = self.before(call) if self.before else None
        if answered is HOLD:
            return None
        if answered is not None:
            self._executed(call)
            return answered
        return self.execute(call)

    def execute(self, call):
        """The Reply to a Call, without asking `before`."""
        versions = self.programs.get(call.prog)
        if versions is None:
            return rpc.accepted(call.xid, stat=rpc.PROG_UNAVAIL)
        if call.vers not in versions:
            return rpc.accepted(call.xid, stat=rpc.PROG_MISMATCH, low=min(versions),
                                high=max(versions))
        try:
            owner = caller_of(call.cred)
        except xdr.XdrError:
            return rpc.denied(call.xid, rpc.AUTH_BADCRED)
        try:
            result = versions[call.vers](call.proc, call.args, owner)
        except NoProcedure:
            return rpc.accepted(call.xid, stat=rpc.PROC_UNAVAIL)
        except xdr.XdrError:
            return rpc.accepted(call.xid, stat=rpc.GARBAGE_ARGS)
        self._executed(call)
        return rpc.accepted(call.xid, result)

    def _executed(self, call):
        self.log.append(Executed(call.xid, call.prog, call.vers, call.proc))
        self.counts[call.prog, call.proc] += 1

    # ---------------------------------------------------------------- programs

    def _nfs(self, proc, args, owner):
        if proc not in nfs3.PROCEDURES:
            raise NoProcedure
        return self.operations.answer(nfs3.PROCEDURES[proc], args, owner)

    @staticmethod
    def _null_only(proc, args, _owner):
        if proc != 0:
            raise NoProcedure
        xdr.Reader(args).end()
        return b""

    def _mount(self, proc, args, _owner):
        procedure = mount3.PROCEDURES.get(proc)
        if procedure is None:
            raise NoProcedure
        decoded = procedure.decode_args(args)
        if procedure is mount3.MNT:
            return self._mnt(decoded.path)
        if procedure is mount3.DUMP:
            return procedure.encode_result(mounts=[])
        if procedure is mount3.EXPORT:
            exported = mount3.EXPORTED.values(path=EXPORT_PATH, groups=[])
            return procedure.encode_result(exports=[exported])
        return b""

    def _mnt(self, path):
        try:
            node = self._walk(path)
        except Refused as refused:
            return mount3.MNT.encode_result(refused.status)
        return mount3.MNT.encode_result(fh=handle(node), flavors=[mount3.AUTH_SYS,
                                                                  mount3.AUTH_NONE])

    def _walk(self, path):
        """The directory of a path below the export; the export itself is "/" as well."""
        parts = [part for part in path.split(b"/") if part]
        if parts[:1] == [EXPORT_PATH[1:]]:
            parts = parts[1:]
        elif parts:
            raise Refused(mount3.NOENT)
        node = self.tree.root
        for part in parts:
            node = node.find(part) if node.kind == nfs3.DIR else None
            if node is None:
                raise Refused(mount3.NOENT)
        if node.kind != nfs3.DIR:
            raise Refused(mount3.NOTDIR)
        return node

    @staticmethod
    def _echo(proc, args, _owner):
        reader = xdr.Reader(args)
        if proc == ECHO_NULL:
            result = b""
        elif proc == ECHO_ECHO:
            result = xdr.var(reader.var())
        elif proc == ECHO_FILL:
            count = reader.u32()
            reader.var()
            if count > FILL_LIMIT:
                raise xdr.XdrError(f"{count} bytes wanted")
            result = xdr.var(pattern(0, count))
        else:
            raise NoProcedure
        reader.end()
        return result

# SPDX-License-Identifier: BSD-3-Clause
"""A server of NFSv4.1 alone, in memory, as strict with slots as servers are: for tests of who asks it."""
import time
from types import SimpleNamespace

from nfs import nfs4
from nfs.operations import handle
from nfs.tree import Directory, File, Refused, Tree
from wire import rpc, xdr

BADSESSION, OP_NOT_IN_SESSION, STALE, RETRY_UNCACHED = 10052, 10071, 70, 10068
ALONE = {nfs4.EXCHANGE_ID, nfs4.CREATE_SESSION, nfs4.DESTROY_SESSION, nfs4.DESTROY_CLIENTID}
NO_CHANGE = SimpleNamespace(atomic=False, before=0, after=0)
SLOTS = 16


class Nfs4Server:
    """answer(call) gives the Reply."""

    def __init__(self):
        self.tree = Tree(time.time_ns)
        self.export = self.tree.add(Directory, 0o755, (0, 0), None)
        self.tree.put(self.tree.root, b'export', self.export)
        self.sessions = {}
        self.clients = set()
        self.node = None

    def answer(self, data):
        """The Reply to a whole message."""
        xid = rpc.xid_of(data)
        try:
            call = rpc.decode(data)
        except rpc.RpcError:
            return rpc.denied(xid)
        if call.prog != nfs4.PROGRAM:
            return rpc.accepted(xid, stat=rpc.PROG_UNAVAIL)
        if call.vers != nfs4.VERSION:
            return rpc.accepted(xid, stat=rpc.PROG_MISMATCH, low=4, high=4)
        if call.proc > nfs4.COMPOUND:
            return rpc.accepted(xid, stat=rpc.PROC_UNAVAIL)
        try:
            return rpc.accepted(xid, self._compound(call.args) if call.proc else b'')
        except xdr.XdrError:
            return rpc.accepted(xid, stat=rpc.GARBAGE_ARGS)

    def _compound(self, args):
        minor, operations = nfs4.decode_args(args)
        if minor != nfs4.MINOR:
            return nfs4.encode_results(nfs4.MINOR_VERS_MISMATCH, [])
        self.node, status, found = None, nfs4.OK, []
        for place, (number, values) in enumerate(operations):
            try:
                if not place and number != nfs4.SEQUENCE and number not in ALONE:
                    raise Refused(OP_NOT_IN_SESSION)
                result = getattr(self, nfs4.NAMES[number].lower())(values)
            except Refused as refused:
                status, result = refused.status, None
            found.append((number, status, result or SimpleNamespace()))
            if status:
                break
        return nfs4.encode_results(status, found)

    # ------------------------------------------------------------ clients and sessions

    def exchange_id(self, _args):
        """EXCHANGE_ID"""
        self.clients.add(len(self.clients) + 1)
        return SimpleNamespace(client=len(self.clients), sequence=1, flags=0, protect=0,
                               rest=xdr.u64(0) + xdr.var(b'owner') + xdr.var(b'') + xdr.u32(0))

    def create_session(self, args):
        """CREATE_SESSION"""
        if args.client not in self.clients:
            raise Refused(STALE)
        ident = b'%016d' % (len(self.sessions) + 1)
        fore = nfs4.channel(min(SLOTS, args.fore.requests))
        self.sessions[ident] = [0] * fore.requests
        return SimpleNamespace(session=ident, sequence=args.sequence, flags=0, fore=fore, back=args.back)

    def destroy_session(self, args):
        """DESTROY_SESSION"""
        if not self.sessions.get(args.session):
            raise Refused(BADSESSION)
        self.sessions[args.session] = None

    def destroy_clientid(self, args):
        """DESTROY_CLIENTID"""
        self.clients.discard(args.client)

    def sequence(self, args):
        """SEQUENCE"""
        slots = self.sessions.get(args.session)
        if not slots or args.slot >= len(slots):
            raise Refused(BADSESSION)
        if args.sequence == slots[args.slot]:
            raise Refused(RETRY_UNCACHED)
        if args.sequence != slots[args.slot] + 1:
            raise Refused(nfs4.SEQ_MISORDERED)
        slots[args.slot] += 1
        return SimpleNamespace(session=args.session, sequence=args.sequence, slot=args.slot, highest=len(slots) - 1,
                               target=len(slots) - 1, status=0)

    def reclaim_complete(self, _args):
        """RECLAIM_COMPLETE"""

    # ------------------------------------------------------------ files

    def putrootfh(self, _args):
        """PUTROOTFH"""
        self.node = self.tree.root

    def putfh(self, args):
        """PUTFH"""
        self.node = self.tree.nodes.get(int.from_bytes(args.fh[8:], 'big'))
        if self.node is None:
            raise Refused(STALE)

    def getfh(self, _args):
        """GETFH"""
        return SimpleNamespace(fh=handle(self.node))

    def lookup(self, args):
        """LOOKUP"""
        if not isinstance(self.node, Directory):
            raise Refused(nfs4.NOTDIR)
        self.node = self.node.find(args.name)
        if self.node is None:
            raise Refused(nfs4.NOENT)

    def create(self, args):
        """CREATE"""
        self.tree.put(self.node, args.name, self.tree.add(Directory, 0o755, (0, 0), None))
        return SimpleNamespace(change=NO_CHANGE, mask=[])

    def open(self, args):
        """OPEN"""
        if self.node.find(args.name) is None:
            self.tree.put(self.node, args.name, self.tree.add(File, 0o644, (0, 0)))
        return SimpleNamespace(stateid=b's' * 16, rest=bytes(32))

    def close(self, args):
        """CLOSE"""
        return SimpleNamespace(stateid=args.stateid)

    def read(self, args):
        """READ"""
        data = self.node.read(args.offset, args.count)
        return SimpleNamespace(eof=args.offset + len(data) >= self.node.size, data=data)

    def write(self, args):
        """WRITE"""
        self.node.write(args.offset, args.data)
        return SimpleNamespace(count=len(args.data), committed=args.stable, verf=bytes(8))

    def readdir(self, args):
        """READDIR"""
        entries, left = [], args.maxcount - 100
        for cookie, name, _node in self.node.after(max(2, args.cookie)):
            left -= 40 + len(name)
            if left < 0:
                break
            entries.append(SimpleNamespace(cookie=cookie, name=name, attr=nfs4.attributes()))
        return SimpleNamespace(verf=bytes(8), entries=entries, eof=left >= 0)

    def remove(self, args):
        """REMOVE"""
        node = self.node.find(args.name)
        self.tree.remove(self.node, args.name, isinstance(node, Directory))
        return SimpleNamespace(change=NO_CHANGE)

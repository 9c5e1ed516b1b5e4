# SPDX-License-Identifier: BSD-3-Clause
"""A client of MOUNT and NFSv3 that waits for each Reply, over whatever carries the messages."""
import itertools

from nfs import mount3, nfs3
from wire import rpc


class Failed(Exception):
    """A Reply that is not what was asked for."""


class Client:
    """exchange(call) takes the bytes of a Call and gives those of its Reply."""

    def __init__(self, exchange, first_xid=1):
        self.exchange, self.xids = exchange, itertools.count(first_xid)

    def ask(self, prog, vers, proc, args=b"", cred=rpc.AUTH_NONE):
        """The Reply to a Call, whatever it says."""
        xid = next(self.xids)
        reply = rpc.decode(self.exchange(rpc.call(xid, prog, vers, proc, args, cred)))
        if (reply.xid, reply.type) != (xid, rpc.REPLY):
            raise Failed(f"XID {reply.xid} where a Reply to {xid} was awaited")
        return reply

    def _call(self, program, procedure, args, cred):
        reply = self.ask(program.PROGRAM, program.VERSION, procedure.number, args, cred)
        if not reply.succeeded:
            raise Failed(f"{procedure}: {reply}")
        return program.result(procedure, reply.result)

    def mount(self, procedure, args=b"", cred=rpc.AUTH_NONE):
        """What a procedure of MOUNT says."""
        return self._call(mount3, procedure, args, cred)

    def nfs(self, procedure, args=b"", cred=rpc.AUTH_NONE):
        """What a procedure of NFS says, success or not."""
        return self._call(nfs3, procedure, args, cred)

    def root(self, path="/export"):
        """The handle of an export."""
        found = self.mount(mount3.MNT, mount3.mnt(path))
        if found.status != mount3.OK:
            raise Failed(f"MNT {path}: status {found.status}")
        return found.fh

    def lists(self, fh, procedure=nfs3.READDIR, most=4096):
        """The results of as many READDIR or READDIRPLUS as a whole directory takes."""
        cookie, verf, eof = 0, nfs3.NO_VERIFIER, False
        while not eof:
            args = nfs3.readdir(fh, cookie, verf, most)
            if procedure is nfs3.READDIRPLUS:
                args = nfs3.readdirplus(fh, cookie, verf, most // 4, most)
            found = self.nfs(procedure, args)
            if found.status != nfs3.OK or not (found.entries or found.eof):
                raise Failed(f"{procedure}: {found}")
            yield found
            eof, verf = found.eof, found.verf
            cookie = found.entries[-1].cookie if found.entries else cookie

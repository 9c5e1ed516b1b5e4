# SPDX-License-Identifier: BSD-3-Clause
"""The files that scenarios use, and Calls on them, in the other end's version of NFS."""
import dataclasses

from nfs import nfs3, nfs4
from nfs.operations import handle
from nfs.server import NAMES_NAME, PATTERN_NAME, Server
from nfs.tree import File
from scene.client_session import new_xid
from scene.scenario import Unfit, Wrong
from wire import rpc

NAMES = 640
NO_FILES = 'it needs files, of which there are none with --nfs null'


class NoFiles:
    """A server with only NULL."""

    there = False

    def __init__(self, version):
        self.version = version      # of NFS

    def null(self):
        """Returns a NULL Call, which has the shortest Reply."""
        return rpc.call(new_xid(), nfs3.PROGRAM, self.version, 0, b'')

    @staticmethod
    def read(*_args):
        """Raises Unfit for Calls that need files."""
        raise Unfit(NO_FILES)

    write = readdir = read


@dataclasses.dataclass
class Files(NoFiles):
    """The file handles for scenarios, by NFSv3."""
    data: bytes         # of a pattern
    scratch: bytes      # to be written
    names: bytes        # of a large directory
    version: int = 3

    there = True

    @staticmethod
    def nfs(proc, args):
        """Returns a Call of NFSv3."""
        return rpc.call(new_xid(), nfs3.PROGRAM, nfs3.VERSION, proc, args, cred=rpc.auth_sys())

    def read(self, fh, offset, count):
        """Returns a READ, the last operation of its Call."""
        return self.nfs(6, nfs3.read(fh, offset, count))

    def write(self, offset, data):
        """Returns a stable WRITE to the scratch file."""
        return self.nfs(7, nfs3.write(self.scratch, offset, data, nfs3.FILE_SYNC))

    def readdir(self, count):
        """Returns a READDIR of the large directory from its beginning."""
        return self.nfs(16, nfs3.readdir(self.names, 0, nfs3.NO_VERIFIER, count))

    @staticmethod
    def entries(reply):
        """Returns the entries of a READDIR's complete Reply."""
        try:
            return nfs3.result(nfs3.READDIR, rpc.decode(reply).result).entries
        except (ValueError, AttributeError) as error:
            raise Wrong(f'no Reply to a READDIR: {error}') from error


class Session:
    """A session of NFSv4.1. Each Call uses the next slot, so that several can be in flight."""

    def __init__(self, ident, slots):
        self.ident = ident
        self.used = [0] * slots     # the last sequence number of each slot
        self._next = 0

    def sequence(self):
        """Returns the SEQUENCE of the next Call."""
        slot = self._next
        self._next = (slot + 1) % len(self.used)
        self.used[slot] += 1
        return nfs4.op(nfs4.SEQUENCE, session=self.ident, sequence=self.used[slot], slot=slot,
                       highest=len(self.used) - 1, cache=False)


@dataclasses.dataclass
class Files4(NoFiles):
    """The same by NFSv4.1."""
    data: bytes
    scratch: bytes
    names: bytes
    session: Session
    version: int = 4

    there = True

    def compound(self, fh, *operations):
        """Returns a Call with these operations on a file."""
        args = nfs4.compound(self.session.sequence(), nfs4.op(nfs4.PUTFH, fh=fh), *operations)
        return rpc.call(new_xid(), nfs4.PROGRAM, nfs4.VERSION, nfs4.COMPOUND, args, cred=rpc.auth_sys())

    def read(self, fh, offset, count):
        """Returns a READ, the last operation of its Call."""
        return self.compound(fh, nfs4.op(nfs4.READ, stateid=nfs4.ANONYMOUS, offset=offset, count=count))

    def write(self, offset, data):
        """Returns a stable WRITE to the scratch file."""
        return self.compound(self.scratch, nfs4.op(
            nfs4.WRITE, stateid=nfs4.ANONYMOUS, offset=offset, stable=nfs4.FILE_SYNC, data=data))

    def readdir(self, count):
        """Returns a READDIR of the large directory from its beginning."""
        return self.compound(self.names, nfs4.op(
            nfs4.READDIR, cookie=0, verf=bytes(8), dircount=count, maxcount=count, wanted=[]))

    @staticmethod
    def entries(reply):
        """Returns the entries of a READDIR's complete Reply."""
        try:
            return nfs4.results(rpc.decode(reply).result)[1][-1][2].entries
        except (ValueError, AttributeError, IndexError) as error:
            raise Wrong(f'no Reply to a READDIR: {error}') from error


def make_server():
    """A server, and the handles of its files."""
    server = Server(names=NAMES)
    tree = server.tree
    scratch = tree.add(File, 0o666, (0, 0))
    tree.put(tree.root, b'scratch', scratch)
    return server, Files(handle(tree.root.find(PATTERN_NAME)), handle(scratch),
                         handle(tree.root.find(NAMES_NAME)))

# SPDX-License-Identifier: BSD-3-Clause
"""What NFSv3's procedures do to the tree of the server in memory, asked by the bytes of Calls."""
import itertools
import unittest

from nfs import nfs3
from nfs.server import Server
from nfs.tree import pattern
from nfs_client import Client
from wire import rpc, xdr

MAX_BYTES = 8192
FILE_LIMIT = 1 << 20


class Case(unittest.TestCase):
    """A server, and a client that has mounted its export."""

    def setUp(self):
        self.server = Server(max_bytes=MAX_BYTES, pattern_bytes=100000, names=300,
                             file_limit=FILE_LIMIT, clock=itertools.count(1000).__next__)
        self.client = Client(self.server.answer)
        self.root = self.client.root()

    def nfs(self, procedure, args, status=nfs3.OK, cred=rpc.AUTH_NONE):
        """What a procedure of NFS says; its status is looked at."""
        found = self.client.nfs(procedure, args, cred)
        self.assertEqual(found.status, status, procedure)
        return found

    def make(self, name, directory=None):
        """The handle of a new file."""
        return self.nfs(nfs3.CREATE, nfs3.create(directory or self.root, name)).fh

    def make_directory(self, name, directory=None):
        """The handle of a new directory."""
        return self.nfs(nfs3.MKDIR, nfs3.mkdir(directory or self.root, name)).fh

    def attr(self, fh):
        """The attributes of a node."""
        return self.nfs(nfs3.GETATTR, nfs3.getattr_(fh)).attr

    def names(self, fh, procedure=nfs3.READDIR, most=1024):
        """All names of a directory, read in pieces, none of which may be larger than `most`."""
        names = []
        for found in self.client.lists(fh, procedure, most):
            self.assertLessEqual(len(procedure.encode_result(**vars(found))) - 4, most)
            names += [entry.name for entry in found.entries]
        return names


class Attributes(Case):
    """GETATTR, SETATTR and what is said of the file system."""

    def test_handles(self):
        for fh, status in ((b"", nfs3.BADHANDLE), (bytes(16), nfs3.BADHANDLE),
                           (self.root + b"x", nfs3.BADHANDLE),
                           (self.root[:8] + bytes([1] * 8), nfs3.STALE)):
            self.nfs(nfs3.GETATTR, nfs3.getattr_(fh), status)

    def test_setattr(self):
        fh = self.make("file")
        wanted = nfs3.attributes(mode=0o100600, uid=5, gid=6, size=7, atime=(8, 9), mtime=(10, 11))
        changed = self.nfs(nfs3.SETATTR, nfs3.setattr_(fh, wanted)).wcc
        found = self.attr(fh)
        self.assertEqual(changed.after, found)
        self.assertEqual((found.mode, found.uid, found.gid, found.size, found.atime, found.mtime),
                         (0o600, 5, 6, 7, (8, 9), (10, 11)))
        self.nfs(nfs3.SETATTR, nfs3.setattr_(fh, nfs3.attributes(mtime=nfs3.SERVER_TIME)))
        self.assertGreater(self.attr(fh).mtime, found.ctime)
        self.assertEqual(self.attr(fh).atime, (8, 9))

    def test_a_guard(self):
        fh = self.make("file")
        ctime = self.attr(fh).ctime
        guarded = nfs3.setattr_(fh, nfs3.attributes(mode=0o600), ctime)
        self.nfs(nfs3.SETATTR, guarded)
        self.nfs(nfs3.SETATTR, guarded, nfs3.NOT_SYNC)

    def test_sizes_that_cannot_be(self):
        too_much = nfs3.attributes(size=FILE_LIMIT + 1)
        self.nfs(nfs3.SETATTR, nfs3.setattr_(self.make("file"), too_much), nfs3.FBIG)
        self.nfs(nfs3.SETATTR, nfs3.setattr_(self.root, nfs3.attributes(size=0)), nfs3.INVAL)
        count = len(self.server.tree.nodes)
        self.nfs(nfs3.CREATE, nfs3.create(self.root, "new", too_much), nfs3.FBIG)
        self.nfs(nfs3.MKDIR, nfs3.mkdir(self.root, "new", nfs3.attributes(size=1)), nfs3.INVAL)
        self.assertEqual(len(self.server.tree.nodes), count)

    def test_access(self):
        self.assertEqual(self.nfs(nfs3.ACCESS, nfs3.access(self.root)).access, 0x1f)
        self.assertEqual(self.nfs(nfs3.ACCESS, nfs3.access(self.make("file"))).access, 0x2d)
        self.assertEqual(self.nfs(nfs3.ACCESS, nfs3.access(self.root, 3)).access, 3)

    def test_the_file_system(self):
        info = self.nfs(nfs3.FSINFO, nfs3.fsinfo(self.root))
        self.assertEqual((info.rtmax, info.wtmax, info.maxfilesize),
                         (MAX_BYTES, MAX_BYTES, FILE_LIMIT))
        self.assertEqual((info.rtmult, info.wtmult), (4096, 4096))
        self.assertEqual(self.nfs(nfs3.PATHCONF, nfs3.pathconf(self.root)).name_max, 255)
        stat = self.nfs(nfs3.FSSTAT, nfs3.fsstat(self.root))
        self.assertLessEqual(stat.abytes, stat.tbytes)

    def test_a_new_file_is_its_callers(self):
        cred = rpc.auth_sys(uid=1000, gid=100, gids=(1, 2))
        args = nfs3.create(self.root, "file", nfs3.attributes(mode=0o600))
        found = self.nfs(nfs3.CREATE, args, cred=cred).attr
        self.assertEqual((found.uid, found.gid, found.mode), (1000, 100, 0o600))


class Content(Case):
    """READ, WRITE, COMMIT, READLINK."""

    def test_what_is_written_is_read(self):
        fh = self.make("file")
        done = self.nfs(nfs3.WRITE, nfs3.write(fh, 3, b"abcde"))
        self.assertEqual((done.count, done.committed), (5, nfs3.UNSTABLE))
        self.assertEqual((done.wcc.before.size, done.wcc.after.size), (0, 8))
        self.assertEqual(self.nfs(nfs3.COMMIT, nfs3.commit(fh)).verf, done.verf)
        found = self.nfs(nfs3.READ, nfs3.read(fh, 1, 100))
        self.assertEqual((found.data, found.count, found.eof), (b"\0\0abcde", 7, True))
        found = self.nfs(nfs3.READ, nfs3.read(fh, 1, 4))
        self.assertEqual((found.data, found.count, found.eof), (b"\0\0ab", 4, False))
        found = self.nfs(nfs3.READ, nfs3.read(fh, 9, 4))
        self.assertEqual((found.data, found.eof), (b"", True))
        stable = self.nfs(nfs3.WRITE, nfs3.write(fh, 0, b"x", nfs3.FILE_SYNC))
        self.assertEqual(stable.committed, nfs3.FILE_SYNC)

    def test_no_more_than_fsinfo_allows(self):
        fh = self.make("file")
        data = pattern(0, MAX_BYTES + 1)
        self.assertEqual(self.nfs(nfs3.WRITE, nfs3.write(fh, 0, data)).count, MAX_BYTES)
        self.nfs(nfs3.WRITE, nfs3.write(fh, MAX_BYTES, data))
        self.assertEqual(self.nfs(nfs3.READ, nfs3.read(fh, 0, MAX_BYTES + 1)).count, MAX_BYTES)

    def test_the_pattern(self):
        fh = self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "pattern")).fh
        self.assertEqual(self.attr(fh).size, 100000)
        found = self.nfs(nfs3.READ, nfs3.read(fh, 99990, 100))
        self.assertEqual((found.data, found.eof), (pattern(99990, 10), True))
        self.assertEqual(self.nfs(nfs3.READ, nfs3.read(fh, 1 << 63, 100)).data, b"")
        self.nfs(nfs3.WRITE, nfs3.write(fh, 0, b"x"), nfs3.ACCES)
        self.nfs(nfs3.SETATTR, nfs3.setattr_(fh, nfs3.attributes(size=0)), nfs3.ACCES)

    def test_refusals(self):
        fh = self.make("file")
        self.nfs(nfs3.WRITE, nfs3.write(fh, 0, b"abc", count=2), nfs3.INVAL)
        self.nfs(nfs3.WRITE, nfs3.write(fh, FILE_LIMIT, b"a"), nfs3.FBIG)
        self.nfs(nfs3.WRITE, nfs3.write(self.root, 0, b"a"), nfs3.ISDIR)
        self.nfs(nfs3.READ, nfs3.read(self.root, 0, 1), nfs3.ISDIR)
        self.nfs(nfs3.READLINK, nfs3.readlink(fh), nfs3.INVAL)
        self.nfs(nfs3.READDIR, nfs3.readdir(fh), nfs3.NOTDIR)

    def test_symbolic_links(self):
        fh = self.nfs(nfs3.SYMLINK, nfs3.symlink(self.root, "link", "to")).fh
        self.assertEqual(self.nfs(nfs3.READLINK, nfs3.readlink(fh)).path, b"to")
        self.assertEqual((self.attr(fh).type, self.attr(fh).size), (nfs3.LNK, 2))
        self.nfs(nfs3.SYMLINK, nfs3.symlink(self.root, "long", b"x" * 4097), nfs3.NAMETOOLONG)


class Names(Case):
    """What makes names, moves them and takes them away."""

    def test_create(self):
        fh = self.make("file")
        self.nfs(nfs3.WRITE, nfs3.write(fh, 0, b"abc"))
        self.assertEqual(self.make("file"), fh)
        self.assertEqual(self.attr(fh).size, 3)
        self.nfs(nfs3.CREATE, nfs3.create(self.root, "file", nfs3.attributes(size=0)))
        self.assertEqual(self.attr(fh).size, 0)
        self.nfs(nfs3.CREATE, nfs3.create(self.root, "file", mode=nfs3.GUARDED), nfs3.EXIST)
        self.nfs(nfs3.CREATE, nfs3.create(self.root, "names"), nfs3.EXIST)

    def test_create_once(self):
        def args(verf):
            return nfs3.create(self.root, "file", mode=nfs3.EXCLUSIVE, verf=verf)
        first = self.nfs(nfs3.CREATE, args(b"verifier"))
        self.assertEqual(self.nfs(nfs3.CREATE, args(b"verifier")).fh, first.fh)
        self.nfs(nfs3.CREATE, args(b"refireve"), nfs3.EXIST)

    def test_bad_names(self):
        for name in (b"", b".", b"..", b"a/b", b"a\0b"):
            self.nfs(nfs3.MKDIR, nfs3.mkdir(self.root, name), nfs3.INVAL)
            self.nfs(nfs3.REMOVE, nfs3.remove(self.root, name), nfs3.INVAL)
        self.nfs(nfs3.MKDIR, nfs3.mkdir(self.root, b"x" * 256), nfs3.NAMETOOLONG)
        self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, b"x" * 256), nfs3.NAMETOOLONG)
        self.make_directory(b"x" * 255)

    def test_lookup(self):
        below = self.make_directory("below")
        self.assertEqual(self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "below")).fh, below)
        self.assertEqual(self.nfs(nfs3.LOOKUP, nfs3.lookup(below, "..")).fh, self.root)
        self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "none"), nfs3.NOENT)
        self.nfs(nfs3.LOOKUP, nfs3.lookup(self.make("file"), "x"), nfs3.NOTDIR)

    def test_remove(self):
        below = self.make_directory("below")
        fh = self.make("file", below)
        self.nfs(nfs3.RMDIR, nfs3.rmdir(self.root, "below"), nfs3.NOTEMPTY)
        self.nfs(nfs3.RMDIR, nfs3.rmdir(below, "file"), nfs3.NOTDIR)
        self.nfs(nfs3.REMOVE, nfs3.remove(self.root, "below"), nfs3.ISDIR)
        self.nfs(nfs3.REMOVE, nfs3.remove(below, "none"), nfs3.NOENT)
        self.nfs(nfs3.REMOVE, nfs3.remove(below, "file"))
        self.nfs(nfs3.GETATTR, nfs3.getattr_(fh), nfs3.STALE)
        links = self.attr(self.root).nlink
        self.nfs(nfs3.RMDIR, nfs3.rmdir(self.root, "below"))
        self.nfs(nfs3.GETATTR, nfs3.getattr_(below), nfs3.STALE)
        self.assertEqual(self.attr(self.root).nlink, links - 1)

    def test_links(self):
        fh = self.make("file")
        self.nfs(nfs3.LINK, nfs3.link(fh, self.root, "other"))
        self.assertEqual(self.attr(fh).nlink, 2)
        self.nfs(nfs3.LINK, nfs3.link(fh, self.root, "other"), nfs3.EXIST)
        self.assertEqual(self.attr(fh).nlink, 2)
        self.nfs(nfs3.REMOVE, nfs3.remove(self.root, "file"))
        self.assertEqual(self.attr(fh).nlink, 1)
        self.nfs(nfs3.LINK, nfs3.link(self.make_directory("d"), self.root, "e"), nfs3.ISDIR)

    def test_mknod(self):
        args = self.root_and_name("fifo") + xdr.u32(7) + bytes(24)
        self.nfs(nfs3.MKNOD, args, nfs3.NOTSUPP)

    def root_and_name(self, name):
        """What begins the arguments of all that make a name."""
        return nfs3.remove(self.root, name)

    def test_rename(self):
        below = self.make_directory("below")
        fh, replaced = self.make("file"), self.make("other", below)
        links = self.attr(self.root).nlink
        self.nfs(nfs3.RENAME, nfs3.rename(self.root, "file", below, "other"))
        self.nfs(nfs3.GETATTR, nfs3.getattr_(replaced), nfs3.STALE)
        self.assertEqual(self.nfs(nfs3.LOOKUP, nfs3.lookup(below, "other")).fh, fh)
        self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "file"), nfs3.NOENT)
        self.nfs(nfs3.RENAME, nfs3.rename(below, "other", below, "other"))
        target = self.make_directory("target")
        self.nfs(nfs3.RENAME, nfs3.rename(self.root, "below", target, "moved"))
        self.assertEqual(self.attr(self.root).nlink, links)
        self.assertEqual(self.nfs(nfs3.LOOKUP, nfs3.lookup(below, "..")).fh, target)

    def test_rename_that_cannot_be(self):
        above = self.make_directory("above")
        below = self.make_directory("below", above)
        self.make("file")
        for args, status in (
                (nfs3.rename(self.root, "none", above, "x"), nfs3.NOENT),
                (nfs3.rename(self.root, "above", below, "x"), nfs3.INVAL),
                (nfs3.rename(self.root, "above", above, "x"), nfs3.INVAL),
                (nfs3.rename(self.root, "file", self.root, "above"), nfs3.EXIST),
                (nfs3.rename(self.root, "above", self.root, "file"), nfs3.EXIST),
                (nfs3.rename(self.root, "names", self.root, "above"), nfs3.NOTEMPTY),
                (nfs3.rename(self.root, ".", above, "x"), nfs3.INVAL),
                (nfs3.rename(self.root, "file", above, ".."), nfs3.INVAL)):
            self.nfs(nfs3.RENAME, args, status)
        self.assertEqual(self.names(above), [b".", b"..", b"below"])


class Lists(Case):
    """READDIR and READDIRPLUS."""

    def test_all_names_come_once_however_small_the_pieces(self):
        fh = self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "names")).fh
        for procedure, most in itertools.product((nfs3.READDIR, nfs3.READDIRPLUS),
                                                 (400, 1024, 8192)):
            names = self.names(fh, procedure, most)
            self.assertEqual((len(names), len(set(names))), (302, 302))

    def test_plus_tells_attributes_and_handles(self):
        fh = self.make("file")
        found = self.nfs(nfs3.READDIRPLUS, nfs3.readdirplus(self.root)).entries
        mine = {entry.name: entry for entry in found}[b"file"]
        self.assertEqual((mine.fh, mine.attr), (fh, self.attr(fh)))

    def test_names_count_for_themselves(self):
        fh = self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "names")).fh
        found = self.nfs(nfs3.READDIRPLUS, nfs3.readdirplus(fh, dircount=100, maxcount=8192))
        self.assertEqual(len(found.entries), 3)  # 24 + 24 + 32 bytes, and then 32 more

    def test_too_small(self):
        self.nfs(nfs3.READDIR, nfs3.readdir(self.root, count=100), nfs3.TOOSMALL)
        self.nfs(nfs3.READDIRPLUS, nfs3.readdirplus(self.root, dircount=8), nfs3.TOOSMALL)

    def test_no_more_than_a_read_may_take(self):
        fh = self.nfs(nfs3.LOOKUP, nfs3.lookup(self.root, "names")).fh
        for procedure in (nfs3.READDIR, nfs3.READDIRPLUS):
            found = next(self.client.lists(fh, procedure, 1 << 20))
            self.assertLessEqual(len(procedure.encode_result(**vars(found))) - 4, MAX_BYTES)
            self.assertFalse(found.eof)

    def test_each_cookie_leads_to_what_follows(self):
        fh = self.make_directory("below")
        self.make("file", fh)
        whole = self.nfs(nfs3.READDIR, nfs3.readdir(fh)).entries
        self.assertEqual([entry.name for entry in whole], [b".", b"..", b"file"])
        for at, entry in enumerate(whole):
            found = self.nfs(nfs3.READDIR, nfs3.readdir(fh, entry.cookie)).entries
            self.assertEqual(found, whole[at + 1:])

    def test_a_cookie_of_another_time(self):
        args = nfs3.readdir(self.root, 1, b"verifier")
        self.nfs(nfs3.READDIR, args, nfs3.BAD_COOKIE)

    def test_behind_the_last_name(self):
        found = self.nfs(nfs3.READDIR, nfs3.readdir(self.root, 1000))
        self.assertEqual((found.entries, found.eof), ([], True))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""What the procedures of NFSv3 (RFC 1813, section 3.3) do to a tree.

Each is a method named after its procedure: it takes the arguments and the (uid, gid) of the caller,
and gives the fields of the results. Everybody may do everything. Failures carry no attributes.
"""
from types import SimpleNamespace

from wire import xdr
from nfs import nfs3
from nfs.tree import BLOCK, Directory, File, Link, NAME_LIMIT, Refused

MAGIC = b"inmemory"
FILESYSTEM = 1
SECOND = 1000000000
DIRECTORY_RIGHTS = (nfs3.MAY_READ | nfs3.MAY_LOOKUP | nfs3.MAY_MODIFY | nfs3.MAY_EXTEND
                    | nfs3.MAY_DELETE)
FILE_RIGHTS = nfs3.MAY_READ | nfs3.MAY_MODIFY | nfs3.MAY_EXTEND | nfs3.MAY_EXECUTE
ENTRY_BYTES = 4 + 8 + 8  # what READDIRPLUS' dircount counts beside the name: length, number, cookie
PATH_LIMIT = 4096


def handle(node):
    """The file handle of a node."""
    return MAGIC + xdr.u64(node.number)


def _time(nanoseconds):
    return divmod(nanoseconds, SECOND)


def _attr(node):
    return nfs3.ATTR.values(
        type=node.kind, mode=node.mode, nlink=node.links, uid=node.uid, gid=node.gid,
        size=node.size, used=-(-node.size // BLOCK) * BLOCK, rdev=0, fsid=FILESYSTEM,
        fileid=node.number, atime=_time(node.atime), mtime=_time(node.mtime),
        ctime=_time(node.ctime))


def _before(node):
    return nfs3.WCC_ATTR.values(node.size, _time(node.mtime), _time(node.ctime))


def _wcc(node, before):
    return SimpleNamespace(before=before, after=_attr(node))


class Operations:
    """The procedures; `verf` is the write verifier, which a server changes when it loses writes."""

    def __init__(self, tree, max_bytes, file_limit):
        self.tree, self.max_bytes, self.file_limit = tree, max_bytes, file_limit
        self.verf = xdr.u64(tree.clock())

    def answer(self, procedure, data, owner):
        """The bytes of the results for those of the arguments; XdrError if they are garbage."""
        args = procedure.decode_args(data)
        if procedure is nfs3.NULL:
            return b""
        try:
            return procedure.encode_result(**getattr(self, procedure.name.lower())(args, owner))
        except Refused as refused:
            return procedure.encode_result(refused.status)

    def node(self, fh, kind=None):
        """The node of a handle, of a kind that is asked for."""
        if len(fh) != 16 or fh[:8] != MAGIC:
            raise Refused(nfs3.BADHANDLE)
        node = self.tree.nodes.get(int.from_bytes(fh[8:], "big"))
        if node is None:
            raise Refused(nfs3.STALE)
        if kind not in (None, node.kind):
            wrong_kind = nfs3.ISDIR if node.kind == nfs3.DIR else nfs3.INVAL
            raise Refused(nfs3.NOTDIR if kind == nfs3.DIR else wrong_kind)
        return node

    def directory(self, fh):
        """The node of a handle that must be a directory's."""
        return self.node(fh, nfs3.DIR)

    # ---------------------------------------------------------------- attributes

    def getattr(self, args, _owner):
        """GETATTR"""
        return {"attr": _attr(self.node(args.fh))}

    def setattr(self, args, _owner):
        """SETATTR"""
        node = self.node(args.fh)
        before = _before(node)
        if args.guard not in (None, before.ctime):
            raise Refused(nfs3.NOT_SYNC)
        self._set(node, args.attr)
        return {"wcc": _wcc(node, before)}

    def _set(self, node, attr):
        if attr.size is not None:
            self._check_size(attr.size)
            node.resize(attr.size)
            self.tree.touch(node)
        for name in ("uid", "gid"):
            if getattr(attr, name) is not None:
                setattr(node, name, getattr(attr, name))
        if attr.mode is not None:
            node.mode = attr.mode & 0o7777
        for name in ("atime", "mtime"):
            wanted = getattr(attr, name)
            if wanted == nfs3.SERVER_TIME:
                setattr(node, name, self.tree.clock())
            elif wanted is not None:
                setattr(node, name, wanted[0] * SECOND + wanted[1])
        node.ctime = self.tree.clock()

    def _check_size(self, size):
        if size > self.file_limit:
            raise Refused(nfs3.FBIG)

    def access(self, args, _owner):
        """ACCESS"""
        node = self.node(args.fh)
        rights = DIRECTORY_RIGHTS if node.kind == nfs3.DIR else FILE_RIGHTS
        return {"attr": _attr(node), "access": args.access & rights}

    def fsstat(self, args, _owner):
        """FSSTAT"""
        node, files = self.node(args.fh), len(self.tree.nodes)
        free = self.file_limit
        return {"attr": _attr(node), "tbytes": 2 * free, "fbytes": free, "abytes": free,
                "tfiles": files + 100000, "ffiles": 100000, "afiles": 100000, "invarsec": 0}

    def fsinfo(self, args, _owner):
        """FSINFO"""
        node, most = self.node(args.fh), self.max_bytes
        return {"attr": _attr(node), "rtmax": most, "rtpref": most, "rtmult": BLOCK,
                "wtmax": most, "wtpref": most, "wtmult": BLOCK, "dtpref": min(most, 65536),
                "maxfilesize": self.file_limit, "time_delta": (0, 1),
                "properties": (nfs3.FSF_LINK | nfs3.FSF_SYMLINK | nfs3.FSF_HOMOGENEOUS
                               | nfs3.FSF_CANSETTIME)}

    def pathconf(self, args, _owner):
        """PATHCONF"""
        return {"attr": _attr(self.node(args.fh)), "linkmax": 32000, "name_max": NAME_LIMIT,
                "no_trunc": True, "chown_restricted": False, "case_insensitive": False,
                "case_preserving": True}

    # ---------------------------------------------------------------- content

    def read(self, args, _owner):
        """READ"""
        node = self.node(args.fh, nfs3.REG)
        data = node.read(args.offset, min(args.count, self.max_bytes))
        return {"attr": _attr(node), "count": len(data), "data": data,
                "eof": args.offset + len(data) >= node.size}

    def write(self, args, _owner):
        """WRITE"""
        node = self.node(args.fh, nfs3.REG)
        before = _before(node)
        if args.count != len(args.data):
            raise Refused(nfs3.INVAL)
        data = args.data[:self.max_bytes]
        self._check_size(args.offset + len(data))
        node.write(args.offset, data)
        self.tree.touch(node)
        return {"wcc": _wcc(node, before), "count": len(data), "committed": args.stable,
                "verf": self.verf}

    def commit(self, args, _owner):
        """COMMIT"""
        node = self.node(args.fh, nfs3.REG)
        return {"wcc": _wcc(node, _before(node)), "verf": self.verf}

    def readlink(self, args, _owner):
        """READLINK"""
        node = self.node(args.fh, nfs3.LNK)
        return {"attr": _attr(node), "path": node.path}

    # ---------------------------------------------------------------- names

    def lookup(self, args, _owner):
        """LOOKUP"""
        directory = self.directory(args.dir)
        if len(args.name) > NAME_LIMIT:
            raise Refused(nfs3.NAMETOOLONG)
        node = directory.find(args.name)
        if node is None:
            raise Refused(nfs3.NOENT)
        return {"fh": handle(node), "attr": _attr(node), "dir_attr": _attr(directory)}

    def create(self, args, owner):
        """CREATE"""
        how, directory = args.how, self.directory(args.dir)
        node, before = directory.find(args.name), _before(directory)
        if how.mode == nfs3.EXCLUSIVE:
            if node is None:
                node = self._new(directory, args.name, File, owner)
                node.verf = how.what
            elif getattr(node, "verf", None) != how.what:
                raise Refused(nfs3.EXIST)
        elif node is None:
            node = self._new(directory, args.name, File, owner, how.what)
        elif how.mode == nfs3.GUARDED or node.kind != nfs3.REG:
            raise Refused(nfs3.EXIST)
        else:
            self._set(node, nfs3.attributes(size=how.what.size))
        return self._made(node, directory, before)

    def _new(self, directory, name, kind, owner, attr=None, first=()):
        self.tree.check_new_name(name)
        if attr and attr.size is not None:
            self._check_size(attr.size)
        mode = 0o755 if kind is Directory else 0o644
        node = self.tree.add(kind, mode, owner, *first)
        try:
            if attr:
                self._set(node, attr)
            self.tree.put(directory, name, node)
        except Refused:
            del self.tree.nodes[node.number]
            raise
        return node

    @staticmethod
    def _made(node, directory, before):
        return {"fh": handle(node), "attr": _attr(node), "wcc": _wcc(directory, before)}

    def mkdir(self, args, owner):
        """MKDIR"""
        directory = self.directory(args.dir)
        before = _before(directory)
        node = self._new(directory, args.name, Directory, owner, args.attr, (None,))
        return self._made(node, directory, before)

    def symlink(self, args, owner):
        """SYMLINK"""
        directory = self.directory(args.dir)
        before = _before(directory)
        if len(args.path) > PATH_LIMIT:
            raise Refused(nfs3.NAMETOOLONG)
        node = self._new(directory, args.name, Link, owner, args.attr, (args.path,))
        return self._made(node, directory, before)

    def mknod(self, _args, _owner):
        """MKNOD: there are no devices here."""
        raise Refused(nfs3.NOTSUPP)

    def link(self, args, _owner):
        """LINK"""
        node, directory = self.node(args.fh), self.directory(args.dir)
        before = _before(directory)
        if node.kind == nfs3.DIR:
            raise Refused(nfs3.ISDIR)
        self.tree.put(directory, args.name, node)
        node.links += 1
        node.ctime = self.tree.clock()
        return {"attr": _attr(node), "wcc": _wcc(directory, before)}

    def remove(self, args, _owner):
        """REMOVE"""
        return self._remove(args, False)

    def rmdir(self, args, _owner):
        """RMDIR"""
        return self._remove(args, True)

    def _remove(self, args, of_directory):
        directory = self.directory(args.dir)
        before = _before(directory)
        self.tree.remove(directory, args.name, of_directory)
        return {"wcc": _wcc(directory, before)}

    def rename(self, args, _owner):
        """RENAME"""
        directory, to_directory = self.directory(args.dir), self.directory(args.to_dir)
        before, to_before = _before(directory), _before(to_directory)
        self.tree.rename(directory, args.name, to_directory, args.to_name)
        return {"wcc": _wcc(directory, before), "to_wcc": _wcc(to_directory, to_before)}

    def readdir(self, args, _owner):
        """READDIR"""
        def entry(cookie, name, node):
            return nfs3.ENTRY.values(node.number, name, cookie)
        return self._list(args, nfs3.ENTRY, entry, args.count, args.count)

    def readdirplus(self, args, _owner):
        """READDIRPLUS"""
        def entry(cookie, name, node):
            return nfs3.ENTRY_PLUS.values(node.number, name, cookie, _attr(node), handle(node))
        return self._list(args, nfs3.ENTRY_PLUS, entry, args.maxcount, args.dircount)

    def _list(self, args, shape, make, most, most_names):
        """As many entries as fit into `most` bytes of results, and `most_names` of names."""
        directory = self.directory(args.fh)
        if args.cookie and args.verf not in (nfs3.NO_VERIFIER, self.verf):
            raise Refused(nfs3.BAD_COOKIE)
        fields = {"attr": _attr(directory), "verf": self.verf, "entries": [], "eof": True}
        used = len(nfs3.READDIR.encode_result(**fields)) - 4  # the status is not counted
        used_names = 0
        for cookie, name, node in directory.after(args.cookie):
            entry = make(cookie, name, node)
            used += len(shape.pack(entry)) + 4
            used_names += ENTRY_BYTES + len(xdr.opaque(name))
            if used > min(most, self.max_bytes) or used_names > most_names:
                fields["eof"] = False
                break
            fields["entries"].append(entry)
        if not fields["entries"] and not fields["eof"]:
            raise Refused(nfs3.TOOSMALL)
        return fields

# SPDX-License-Identifier: BSD-3-Clause
"""NFS version 3 (RFC 1813): arguments and results of its procedures, for both ends.

A client uses the functions at the end, `read(fh, offset, count)` and the like, each of which gives
the bytes of the arguments, and `result(READ, data)`. A server uses `READ.args` and `READ.result`.
Names and paths are bytes; str is taken as well.
"""
from wire import xdr
from nfs.shapes import (BOOL, OPAQUE, REST, Result, Shape, Structure, U32, U64, VOID, chain, fixed,
                        limited, optional, whole)

PROGRAM, VERSION = 100003, 3

OK, PERM, NOENT, IO, ACCES, EXIST = 0, 1, 2, 5, 13, 17
NOTDIR, ISDIR, INVAL, FBIG, NOSPC, ROFS, MLINK = 20, 21, 22, 27, 28, 30, 31
NAMETOOLONG, NOTEMPTY, STALE = 63, 66, 70
BADHANDLE, NOT_SYNC, BAD_COOKIE, NOTSUPP, TOOSMALL = 10001, 10002, 10003, 10004, 10005

REG, DIR, LNK = 1, 2, 5
UNSTABLE, DATA_SYNC, FILE_SYNC = 0, 1, 2
UNCHECKED, GUARDED, EXCLUSIVE = 0, 1, 2
MAY_READ, MAY_LOOKUP, MAY_MODIFY, MAY_EXTEND, MAY_DELETE, MAY_EXECUTE = 1, 2, 4, 8, 16, 32
FSF_LINK, FSF_SYMLINK, FSF_HOMOGENEOUS, FSF_CANSETTIME = 1, 2, 8, 16

FH_LIMIT = 64
VERIFIER_BYTES = 8
NO_VERIFIER = bytes(VERIFIER_BYTES)
SERVER_TIME = "server"


def _enum(*known):
    def unpack(reader):
        value = reader.u32()
        if value not in known:
            raise xdr.XdrError(f"{value} is not among {known}")
        return value
    return Shape(xdr.u32, unpack)


def _text(value):
    return xdr.var(value.encode() if isinstance(value, str) else value)


def _pack_set_time(value):
    if value is None:
        return xdr.u32(0)
    return xdr.u32(1) if value == SERVER_TIME else xdr.u32(2) + TIME.pack(value)


def _unpack_set_time(reader):
    how = _enum(0, 1, 2).unpack(reader)
    return (None, SERVER_TIME)[how] if how < 2 else TIME.unpack(reader)


def _pack_how(value):
    rest = VERF if value.mode == EXCLUSIVE else SATTR
    return xdr.u32(value.mode) + rest.pack(value.what)


def _unpack_how(reader):
    mode = _enum(UNCHECKED, GUARDED, EXCLUSIVE).unpack(reader)
    return _HOW.values(mode, (VERF if mode == EXCLUSIVE else SATTR).unpack(reader))


def _pack_wcc(value):
    return b"".join(optional(shape).pack(getattr(value, name, None))
                    for name, shape in (("before", WCC_ATTR), ("after", ATTR)))


FH = limited(FH_LIMIT)
VERF = fixed(VERIFIER_BYTES)
TEXT = Shape(_text, lambda reader: reader.var())
TIME = Shape(lambda value: xdr.u32(value[0]) + xdr.u32(value[1]),
             lambda reader: (reader.u32(), reader.u32()))
SET_TIME = Shape(_pack_set_time, _unpack_set_time)
ATTR = Structure(type=U32, mode=U32, nlink=U32, uid=U32, gid=U32, size=U64, used=U64, rdev=U64,
                 fsid=U64, fileid=U64, atime=TIME, mtime=TIME, ctime=TIME)
WCC_ATTR = Structure(size=U64, mtime=TIME, ctime=TIME)
POST = optional(ATTR)
WCC = Shape(_pack_wcc, Structure(before=optional(WCC_ATTR), after=POST).unpack)
SATTR = Structure(mode=optional(U32), uid=optional(U32), gid=optional(U32), size=optional(U64),
                  atime=SET_TIME, mtime=SET_TIME)
_HOW = Structure(mode=U32, what=SATTR)
HOW = Shape(_pack_how, _unpack_how)
ENTRY = Structure(fileid=U64, name=TEXT, cookie=U64)
ENTRY_PLUS = Structure(fileid=U64, name=TEXT, cookie=U64, attr=POST, fh=optional(FH))

NOTHING = Structure()
ONLY_FH = Structure(fh=FH)
ONLY_POST = Structure(attr=POST)
ONLY_WCC = Structure(wcc=WCC)
PLACE = {"dir": FH, "name": TEXT}
MADE = Structure(fh=optional(FH), attr=POST, wcc=WCC)


class Procedure:
    """A procedure: its arguments, its results, and which field of them RDMA may move alone."""

    def __init__(self, number, name, args, ok, fail=ONLY_POST, eligible=()):
        self.number, self.name, self.args = number, name, args
        self.result = ok if ok is VOID else Result(ok, fail)
        self.eligible = eligible

    def __repr__(self):
        return self.name

    def decode_args(self, data):
        """The arguments as a namespace; XdrError if they are anything else."""
        return whole(self.args, data)

    def encode_result(self, status=OK, **fields):
        """The bytes of results; optional fields may be left out."""
        if self.result is VOID:
            return b""
        value = self.result.arm(status).values(**fields)
        value.status = status
        return self.result.pack(value)

    def args_payload(self, data):
        """(position, length) of the payload RDMA may move alone, or None.

        The payload itself may be missing: its length is what is looked at.
        """
        return self._payload(self.args, xdr.Reader(data)) if "args" in self.eligible else None

    def result_payload(self, data):
        """The same in the results; None in those of a failure."""
        if "result" not in self.eligible:
            return None
        reader = xdr.Reader(data)
        return self._payload(self.result.arm(reader.u32()), reader)

    @staticmethod
    def _payload(structure, reader):
        for name, shape in structure.fields.items():
            if name in ("data", "path"):
                length = reader.u32()
                return reader.at, length
            shape.unpack(reader)
        return None


NULL = Procedure(0, "NULL", NOTHING, VOID)
GETATTR = Procedure(1, "GETATTR", ONLY_FH, Structure(attr=ATTR), NOTHING)
SETATTR = Procedure(2, "SETATTR", Structure(fh=FH, attr=SATTR, guard=optional(TIME)),
                    ONLY_WCC, ONLY_WCC)
LOOKUP = Procedure(3, "LOOKUP", Structure(**PLACE), Structure(fh=FH, attr=POST, dir_attr=POST),
                   Structure(dir_attr=POST))
ACCESS = Procedure(4, "ACCESS", Structure(fh=FH, access=U32), Structure(attr=POST, access=U32))
READLINK = Procedure(5, "READLINK", ONLY_FH, Structure(attr=POST, path=TEXT), eligible=("result",))
READ = Procedure(6, "READ", Structure(fh=FH, offset=U64, count=U32),
                 Structure(attr=POST, count=U32, eof=BOOL, data=OPAQUE), eligible=("result",))
WRITE = Procedure(7, "WRITE", Structure(fh=FH, offset=U64, count=U32,
                                        stable=_enum(UNSTABLE, DATA_SYNC, FILE_SYNC), data=OPAQUE),
                  Structure(wcc=WCC, count=U32, committed=U32, verf=VERF), ONLY_WCC,
                  eligible=("args",))
CREATE = Procedure(8, "CREATE", Structure(**PLACE, how=HOW), MADE, ONLY_WCC)
MKDIR = Procedure(9, "MKDIR", Structure(**PLACE, attr=SATTR), MADE, ONLY_WCC)
SYMLINK = Procedure(10, "SYMLINK", Structure(**PLACE, attr=SATTR, path=TEXT), MADE, ONLY_WCC,
                    eligible=("args",))
MKNOD = Procedure(11, "MKNOD", Structure(**PLACE, what=REST), MADE, ONLY_WCC)
REMOVE = Procedure(12, "REMOVE", Structure(**PLACE), ONLY_WCC, ONLY_WCC)
RMDIR = Procedure(13, "RMDIR", Structure(**PLACE), ONLY_WCC, ONLY_WCC)
RENAME = Procedure(14, "RENAME", Structure(**PLACE, to_dir=FH, to_name=TEXT),
                   *[Structure(wcc=WCC, to_wcc=WCC)] * 2)
LINK = Procedure(15, "LINK", Structure(fh=FH, **PLACE), *[Structure(attr=POST, wcc=WCC)] * 2)
READDIR = Procedure(16, "READDIR", Structure(fh=FH, cookie=U64, verf=VERF, count=U32),
                    Structure(attr=POST, verf=VERF, entries=chain(ENTRY), eof=BOOL))
READDIRPLUS = Procedure(17, "READDIRPLUS", Structure(fh=FH, cookie=U64, verf=VERF, dircount=U32,
                                                     maxcount=U32),
                        Structure(attr=POST, verf=VERF, entries=chain(ENTRY_PLUS), eof=BOOL))
FSSTAT = Procedure(18, "FSSTAT", ONLY_FH, Structure(
    attr=POST, tbytes=U64, fbytes=U64, abytes=U64, tfiles=U64, ffiles=U64, afiles=U64,
    invarsec=U32))
FSINFO = Procedure(19, "FSINFO", ONLY_FH, Structure(
    attr=POST, rtmax=U32, rtpref=U32, rtmult=U32, wtmax=U32, wtpref=U32, wtmult=U32, dtpref=U32,
    maxfilesize=U64, time_delta=TIME, properties=U32))
PATHCONF = Procedure(20, "PATHCONF", ONLY_FH, Structure(
    attr=POST, linkmax=U32, name_max=U32, no_trunc=BOOL, chown_restricted=BOOL,
    case_insensitive=BOOL, case_preserving=BOOL))
COMMIT = Procedure(21, "COMMIT", Structure(fh=FH, offset=U64, count=U32),
                   Structure(wcc=WCC, verf=VERF), ONLY_WCC)

PROCEDURES = {each.number: each for each in (
    NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE, MKDIR, SYMLINK, MKNOD,
    REMOVE, RMDIR, RENAME, LINK, READDIR, READDIRPLUS, FSSTAT, FSINFO, PATHCONF, COMMIT)}


def result(procedure, data):
    """What a Reply says; `procedure` may be a number. XdrError if it is nothing of the kind."""
    return whole(PROCEDURES.get(procedure, procedure).result, data)


def attributes(**wanted):
    """The attributes to set: mode, uid, gid, size, atime, mtime."""
    return SATTR.values(**dict(dict.fromkeys(SATTR.fields), **wanted))


def _args(procedure, *values):
    return procedure.args.pack(procedure.args.values(*values))


def null():
    """NULL has no arguments."""
    return b""


def getattr_(fh):
    """Of GETATTR."""
    return _args(GETATTR, fh)


def setattr_(fh, attr, guard=None):
    """Of SETATTR; `attr` is of attributes()."""
    return _args(SETATTR, fh, attr, guard)


def lookup(directory, name):
    """Of LOOKUP."""
    return _args(LOOKUP, directory, name)


def access(fh, wanted=0x3f):
    """Of ACCESS."""
    return _args(ACCESS, fh, wanted)


def readlink(fh):
    """Of READLINK."""
    return _args(READLINK, fh)


def read(fh, offset, count):
    """Of READ."""
    return _args(READ, fh, offset, count)


def write(fh, offset, data, stable=UNSTABLE, count=None):
    """Of WRITE; `count` can be told wrong."""
    return _args(WRITE, fh, offset, len(data) if count is None else count, stable, data)


def create(directory, name, attr=None, mode=UNCHECKED, verf=NO_VERIFIER):
    """Of CREATE; an exclusive one takes `verf` for `attr`."""
    what = verf if mode == EXCLUSIVE else attr or attributes()
    return _args(CREATE, directory, name, _HOW.values(mode, what))


def mkdir(directory, name, attr=None):
    """Of MKDIR."""
    return _args(MKDIR, directory, name, attr or attributes())


def symlink(directory, name, path, attr=None):
    """Of SYMLINK."""
    return _args(SYMLINK, directory, name, attr or attributes(), path)


def remove(directory, name):
    """Of REMOVE."""
    return _args(REMOVE, directory, name)


def rmdir(directory, name):
    """Of RMDIR."""
    return _args(RMDIR, directory, name)


def rename(directory, name, to_directory, to_name):
    """Of RENAME."""
    return _args(RENAME, directory, name, to_directory, to_name)


def link(fh, directory, name):
    """Of LINK."""
    return _args(LINK, fh, directory, name)


def readdir(fh, cookie=0, verf=NO_VERIFIER, count=4096):
    """Of READDIR."""
    return _args(READDIR, fh, cookie, verf, count)


def readdirplus(fh, cookie=0, verf=NO_VERIFIER, dircount=4096, maxcount=32768):
    """Of READDIRPLUS."""
    return _args(READDIRPLUS, fh, cookie, verf, dircount, maxcount)


def fsstat(fh):
    """Of FSSTAT."""
    return _args(FSSTAT, fh)


def fsinfo(fh):
    """Of FSINFO."""
    return _args(FSINFO, fh)


def pathconf(fh):
    """Of PATHCONF."""
    return _args(PATHCONF, fh)


def commit(fh, offset=0, count=0):
    """Of COMMIT."""
    return _args(COMMIT, fh, offset, count)

# SPDX-License-Identifier: BSD-3-Clause
"""MOUNT version 3 (RFC 1813, appendix I): arguments and results, for both ends."""
from nfs.nfs3 import NOTHING, ONLY_FH, Procedure, TEXT
from nfs.shapes import Structure, U32, VOID, chain, counted, whole

PROGRAM, VERSION = 100005, 3
OK, NOENT, ACCES, NOTDIR, NAMETOOLONG = 0, 2, 13, 20, 63
AUTH_NONE, AUTH_SYS = 0, 1

PATH = Structure(path=TEXT)
MOUNTED = Structure(host=TEXT, path=TEXT)
EXPORTED = Structure(path=TEXT, groups=chain(TEXT))


class _Bare(Procedure):
    """A procedure whose results begin with no status."""

    def __init__(self, number, name, args, result_shape):
        super().__init__(number, name, args, VOID)
        self.result = result_shape

    def encode_result(self, **fields):
        """The bytes of the results."""
        return self.result.pack(self.result.values(**fields)) if fields else b""


NULL = _Bare(0, "NULL", NOTHING, VOID)
MNT = Procedure(1, "MNT", PATH, Structure(**ONLY_FH.fields, flavors=counted(U32)), NOTHING)
DUMP = _Bare(2, "DUMP", NOTHING, Structure(mounts=chain(MOUNTED)))
UMNT = _Bare(3, "UMNT", PATH, VOID)
UMNTALL = _Bare(4, "UMNTALL", NOTHING, VOID)
EXPORT = _Bare(5, "EXPORT", NOTHING, Structure(exports=chain(EXPORTED)))

PROCEDURES = {each.number: each for each in (NULL, MNT, DUMP, UMNT, UMNTALL, EXPORT)}


def result(procedure, data):
    """What a Reply says; `procedure` may be a number. XdrError if it is nothing of the kind."""
    return whole(PROCEDURES.get(procedure, procedure).result, data)


def mnt(path):
    """The arguments of MNT."""
    return TEXT.pack(path)


def umnt(path):
    """The arguments of UMNT."""
    return TEXT.pack(path)

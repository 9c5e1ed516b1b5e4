# SPDX-License-Identifier: BSD-3-Clause
"""The codec of NFSv3 and MOUNT: bytes written down by hand from RFC 1813, and round trips."""
import unittest

from nfs import mount3, nfs3
from wire import xdr

FH = b"handle12345"
FH_HEX = "0000000b 68616e646c653132333435 00"
ATTR = nfs3.ATTR.values(
    type=nfs3.REG, mode=0o644, nlink=1, uid=2, gid=3, size=4, used=5, rdev=0x600000007, fsid=8,
    fileid=9, atime=(10, 11), mtime=(12, 13), ctime=(14, 15))
ATTR_HEX = """00000001 000001a4 00000001 00000002 00000003 0000000000000004 0000000000000005
    00000006 00000007 0000000000000008 0000000000000009 0000000a 0000000b 0000000c 0000000d
    0000000e 0000000f"""
WCC = nfs3.WCC.unpack(xdr.Reader(bytes.fromhex(
    "00000001 0000000000000004 0000000c 0000000d 0000000e 0000000f 00000001" + ATTR_HEX)))
WCC_HEX = "00000001 0000000000000004 0000000c 0000000d 0000000e 0000000f 00000001" + ATTR_HEX
VERF = b"verifier"
VERF_HEX = "7665726966696572"
SATTR = nfs3.attributes(mode=0o755, size=7, atime=nfs3.SERVER_TIME, mtime=(16, 17))
SATTR_HEX = """00000001 000001ed 00000000 00000000 00000001 0000000000000007 00000001
    00000002 00000010 00000011"""
NO_SATTR_HEX = "00000000" * 6
NAME_HEX = "00000005 6e616d6531 000000"

ARGS = {
    nfs3.NULL: (nfs3.null(), ""),
    nfs3.GETATTR: (nfs3.getattr_(FH), FH_HEX),
    nfs3.SETATTR: (nfs3.setattr_(FH, SATTR, (18, 19)),
                   FH_HEX + SATTR_HEX + "00000001 00000012 00000013"),
    nfs3.LOOKUP: (nfs3.lookup(FH, "name1"), FH_HEX + NAME_HEX),
    nfs3.ACCESS: (nfs3.access(FH), FH_HEX + "0000003f"),
    nfs3.READLINK: (nfs3.readlink(FH), FH_HEX),
    nfs3.READ: (nfs3.read(FH, 1 << 32, 8192), FH_HEX + "0000000100000000 00002000"),
    nfs3.WRITE: (nfs3.write(FH, 5, b"abcde", nfs3.FILE_SYNC),
                 FH_HEX + "0000000000000005 00000005 00000002 00000005 6162636465 000000"),
    nfs3.CREATE: (nfs3.create(FH, "name1", verf=VERF, mode=nfs3.EXCLUSIVE),
                  FH_HEX + NAME_HEX + "00000002" + VERF_HEX),
    nfs3.MKDIR: (nfs3.mkdir(FH, "name1", SATTR), FH_HEX + NAME_HEX + SATTR_HEX),
    nfs3.SYMLINK: (nfs3.symlink(FH, "name1", b"to"),
                   FH_HEX + NAME_HEX + NO_SATTR_HEX + "00000002 746f0000"),
    nfs3.REMOVE: (nfs3.remove(FH, "name1"), FH_HEX + NAME_HEX),
    nfs3.RMDIR: (nfs3.rmdir(FH, "name1"), FH_HEX + NAME_HEX),
    nfs3.RENAME: (nfs3.rename(FH, "name1", b"", "name1"),
                  FH_HEX + NAME_HEX + "00000000" + NAME_HEX),
    nfs3.LINK: (nfs3.link(FH, b"", "name1"), FH_HEX + "00000000" + NAME_HEX),
    nfs3.READDIR: (nfs3.readdir(FH, 3, VERF, 512),
                   FH_HEX + "0000000000000003" + VERF_HEX + "00000200"),
    nfs3.READDIRPLUS: (nfs3.readdirplus(FH, 3, VERF, 512, 1024),
                       FH_HEX + "0000000000000003" + VERF_HEX + "00000200 00000400"),
    nfs3.FSSTAT: (nfs3.fsstat(FH), FH_HEX),
    nfs3.FSINFO: (nfs3.fsinfo(FH), FH_HEX),
    nfs3.PATHCONF: (nfs3.pathconf(FH), FH_HEX),
    nfs3.COMMIT: (nfs3.commit(FH, 6, 7), FH_HEX + "0000000000000006 00000007"),
}

ENTRY = nfs3.ENTRY.values(9, b"name1", 4)
ENTRY_PLUS = nfs3.ENTRY_PLUS.values(9, b"name1", 4, ATTR, FH)
ENTRY_HEX = "00000001 0000000000000009" + NAME_HEX + "0000000000000004"
POST_HEX = "00000001" + ATTR_HEX
MADE = {"fh": FH, "attr": ATTR, "wcc": WCC}
MADE_HEX = "00000000 00000001" + FH_HEX + POST_HEX + WCC_HEX

RESULTS = (
    (nfs3.NULL, {}, ""),
    (nfs3.GETATTR, {"attr": ATTR}, "00000000" + ATTR_HEX),
    (nfs3.GETATTR, {"status": nfs3.STALE}, "00000046"),
    (nfs3.SETATTR, {"wcc": WCC}, "00000000" + WCC_HEX),
    (nfs3.SETATTR, {"status": nfs3.NOT_SYNC}, "00002712 00000000 00000000"),
    (nfs3.LOOKUP, {"fh": FH, "attr": ATTR}, "00000000" + FH_HEX + POST_HEX + "00000000"),
    (nfs3.LOOKUP, {"status": nfs3.NOENT, "dir_attr": ATTR}, "00000002" + POST_HEX),
    (nfs3.ACCESS, {"attr": None, "access": 5}, "00000000 00000000 00000005"),
    (nfs3.READLINK, {"attr": ATTR, "path": b"to"}, "00000000" + POST_HEX + "00000002 746f0000"),
    (nfs3.READ, {"attr": ATTR, "count": 3, "eof": True, "data": b"abc"},
     "00000000" + POST_HEX + "00000003 00000001 00000003 61626300"),
    (nfs3.READ, {"status": nfs3.IO}, "00000005 00000000"),
    (nfs3.WRITE, {"wcc": WCC, "count": 3, "committed": nfs3.DATA_SYNC, "verf": VERF},
     "00000000" + WCC_HEX + "00000003 00000001" + VERF_HEX),
    (nfs3.CREATE, MADE, MADE_HEX),
    (nfs3.MKDIR, MADE, MADE_HEX),
    (nfs3.SYMLINK, MADE, MADE_HEX),
    (nfs3.MKNOD, {"status": nfs3.NOTSUPP}, "00002714 00000000 00000000"),
    (nfs3.REMOVE, {"wcc": WCC}, "00000000" + WCC_HEX),
    (nfs3.RMDIR, {"status": nfs3.NOTEMPTY, "wcc": WCC}, "00000042" + WCC_HEX),
    (nfs3.RENAME, {"wcc": WCC}, "00000000" + WCC_HEX + "00000000 00000000"),
    (nfs3.LINK, {"attr": ATTR, "wcc": WCC}, "00000000" + POST_HEX + WCC_HEX),
    (nfs3.READDIR, {"attr": ATTR, "verf": VERF, "entries": [ENTRY, ENTRY], "eof": False},
     "00000000" + POST_HEX + VERF_HEX + ENTRY_HEX * 2 + "00000000 00000000"),
    (nfs3.READDIRPLUS, {"attr": ATTR, "verf": VERF, "entries": [ENTRY_PLUS], "eof": True},
     "00000000" + POST_HEX + VERF_HEX + ENTRY_HEX + POST_HEX + "00000001" + FH_HEX
     + "00000000 00000001"),
    (nfs3.FSSTAT, {"tbytes": 1, "fbytes": 2, "abytes": 3, "tfiles": 4, "ffiles": 5, "afiles": 6,
                   "invarsec": 7},
     "00000000 00000000" + "".join("%016x" % n for n in range(1, 7)) + "00000007"),
    (nfs3.FSINFO, {"rtmax": 1, "rtpref": 2, "rtmult": 3, "wtmax": 4, "wtpref": 5, "wtmult": 6,
                   "dtpref": 7, "maxfilesize": 8, "time_delta": (9, 10), "properties": 27},
     "00000000 00000000" + "".join("%08x" % n for n in range(1, 8))
     + "0000000000000008 00000009 0000000a 0000001b"),
    (nfs3.PATHCONF, {"linkmax": 1, "name_max": 2, "no_trunc": True, "chown_restricted": False,
                     "case_insensitive": False, "case_preserving": True},
     "00000000 00000000 00000001 00000002 00000001 00000000 00000000 00000001"),
    (nfs3.COMMIT, {"wcc": WCC, "verf": VERF}, "00000000" + WCC_HEX + VERF_HEX),
)


class Nfs3(unittest.TestCase):
    """The codec of NFSv3."""

    def test_args_are_the_bytes_of_the_document(self):
        for procedure, (packed, expected) in ARGS.items():
            with self.subTest(procedure):
                self.assertEqual(packed.hex(), bytes.fromhex(expected).hex())

    def test_args_are_decoded_to_what_was_encoded(self):
        for procedure, (packed, _) in ARGS.items():
            with self.subTest(procedure):
                self.assertEqual(procedure.args.pack(procedure.decode_args(packed)), packed)

    def test_all_procedures_but_mknod_have_golden_args(self):
        self.assertEqual(set(ARGS) | {nfs3.MKNOD}, set(nfs3.PROCEDURES.values()))

    def test_results_are_the_bytes_of_the_document(self):
        for procedure, fields, expected in RESULTS:
            with self.subTest(procedure, fields=fields):
                packed = procedure.encode_result(**fields)
                self.assertEqual(packed.hex(), bytes.fromhex(expected).hex())
        self.assertEqual({row[0] for row in RESULTS}, set(nfs3.PROCEDURES.values()))

    def test_results_are_decoded_to_what_was_encoded(self):
        for procedure, fields, _ in RESULTS:
            with self.subTest(procedure, fields=fields):
                found = nfs3.result(procedure.number, procedure.encode_result(**fields))
                for name, value in fields.items():
                    self.assertEqual(getattr(found, name), value)

    def test_whatever_is_cut_or_longer_is_refused(self):
        for procedure, (packed, _) in ARGS.items():
            self.refuse_neighbours(packed, procedure.decode_args)
        for procedure, fields, _ in RESULTS:
            packed = procedure.encode_result(**fields)
            self.refuse_neighbours(packed, lambda data, by=procedure: nfs3.result(by, data))

    def refuse_neighbours(self, packed, decode):
        """All beginnings of bytes that decode are refused, and what is a word longer."""
        for size in range(len(packed)):
            with self.subTest(packed=packed.hex(), size=size), self.assertRaises(xdr.XdrError):
                decode(packed[:size])
        with self.assertRaises(xdr.XdrError):
            decode(packed + bytes(4))

    def test_a_handle_of_more_than_64_bytes_is_refused(self):
        nfs3.GETATTR.decode_args(nfs3.getattr_(bytes(64)))
        with self.assertRaises(xdr.XdrError):
            nfs3.GETATTR.decode_args(nfs3.getattr_(bytes(65)))

    def test_unknown_members_of_enums_are_refused(self):
        for procedure, data in ((nfs3.WRITE, nfs3.write(FH, 0, b"", stable=3)),
                                (nfs3.CREATE, nfs3.create(FH, b"x", mode=3)),
                                (nfs3.SETATTR, bytes.fromhex(FH_HEX + "00000000" * 4 + "00000003"
                                                             + "00000000" * 2))):
            with self.subTest(procedure), self.assertRaises(xdr.XdrError):
                procedure.decode_args(data)

    def test_a_count_can_be_told_wrong(self):
        args = nfs3.WRITE.decode_args(nfs3.write(FH, 0, b"abc", count=9))
        self.assertEqual((args.count, args.data), (9, b"abc"))

    def test_unknown_fields_are_a_mistake(self):
        with self.assertRaises(TypeError):
            nfs3.attributes(moode=1)


class Payloads(unittest.TestCase):
    """Where the bytes stand that RDMA may move alone."""

    def test_of_args(self):
        for procedure, data, payload in (
                (nfs3.WRITE, nfs3.write(FH, 0, b"abcde"), b"abcde"),
                (nfs3.SYMLINK, nfs3.symlink(FH, b"x", b"abcdef"), b"abcdef")):
            at, length = procedure.args_payload(data)
            self.assertEqual(data[at:at + length], payload)
            self.assertEqual(procedure.args_payload(data[:at]), (at, length))

    def test_of_results(self):
        for procedure, fields in (
                (nfs3.READ, {"attr": ATTR, "count": 5, "eof": False, "data": b"abcde"}),
                (nfs3.READLINK, {"path": b"abcde"})):
            data = procedure.encode_result(**fields)
            at, length = procedure.result_payload(data)
            self.assertEqual(data[at:at + length], b"abcde")
            self.assertEqual(procedure.result_payload(data[:at]), (at, length))

    def test_nothing_else_has_one(self):
        self.assertIsNone(nfs3.READ.result_payload(nfs3.READ.encode_result(nfs3.IO)))
        self.assertIsNone(nfs3.READ.args_payload(nfs3.read(FH, 0, 1)))
        self.assertIsNone(nfs3.WRITE.result_payload(nfs3.WRITE.encode_result(nfs3.IO)))
        self.assertIsNone(nfs3.READDIR.result_payload(nfs3.READDIR.encode_result(nfs3.IO)))


class Mount3(unittest.TestCase):
    """The codec of MOUNT."""

    def test_args_are_the_bytes_of_the_document(self):
        self.assertEqual(mount3.mnt("/ab").hex(), "000000032f616200")
        self.assertEqual(mount3.umnt(b"/ab").hex(), "000000032f616200")
        self.assertEqual(mount3.MNT.decode_args(mount3.mnt("/ab")).path, b"/ab")

    def test_results_are_the_bytes_of_the_document(self):
        group = mount3.EXPORTED.values(b"/ab", [b"x", b"y"])
        for procedure, fields, expected in (
                (mount3.NULL, {}, ""),
                (mount3.MNT, {"fh": FH, "flavors": [1, 6]},
                 "00000000" + FH_HEX + "00000002 00000001 00000006"),
                (mount3.MNT, {"status": mount3.NOENT}, "00000002"),
                (mount3.DUMP, {"mounts": []}, "00000000"),
                (mount3.UMNT, {}, ""),
                (mount3.EXPORT, {"exports": [group]},
                 "00000001 00000003 2f616200 00000001 00000001 78000000 00000001 00000001 79000000"
                 "00000000 00000000")):
            with self.subTest(procedure, fields=fields):
                packed = procedure.encode_result(**fields)
                self.assertEqual(packed.hex(), bytes.fromhex(expected).hex())
                found = mount3.result(procedure.number, packed)
                for name, value in fields.items():
                    self.assertEqual(getattr(found, name), value)


if __name__ == "__main__":
    unittest.main()

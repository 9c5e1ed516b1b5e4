# SPDX-License-Identifier: BSD-3-Clause
"""The pads of RDMA_MSGP, against bytes made by hand: draft-ietf-nfsv4-rpcrdma-03 section 3.5."""
import unittest

from nfs import nfs3, others, padding
from wire import header, rpc, xdr

FH = bytes(range(32))
BASE = 36                  # an RDMA_MSGP without chunks


def write(size):
    """A WRITE of so many bytes; its data begins at 96: 40 of RPC, 4 + 32, 8 + 4 + 4 + 4."""
    return rpc.call(7, nfs3.PROGRAM, 3, 7, nfs3.write(FH, 0, bytes([0xdd]) * size))


class Pads(unittest.TestCase):
    """Where they stand, and how many they are."""

    def test_the_data_of_a_write_begins_at_a_multiple(self):
        call = write(1024)
        found = padding.places(call)
        self.assertEqual(found, [(32, 0), (40, 0), (44, 32), (96, 1024)])
        for align, count in ((256, 124), (3, 0), (7, 1), (8, 4), (132, 0), (137, 5), (2, 0)):
            expected = call[:96] + bytes(count) + call[96:]
            made = padding.padded(call, found, align, 1024, BASE)
            self.assertEqual(made, expected)
            self.assertEqual(padding.plain(made, align, 1024, BASE), call)

    def test_the_threshold_itself_is_padded(self):
        call = write(1000)
        found = padding.places(call)
        for thresh, count in ((999, 124), (1000, 124), (1001, 0)):
            made = padding.padded(call, found, 256, thresh, BASE)
            self.assertEqual(len(made) - len(call), count)
            self.assertEqual(padding.plain(made, 256, thresh, BASE), call)

    def test_each_long_opaque_has_pads_of_its_own(self):
        call = write(100)
        made = padding.padded(call, padding.places(call), 64, 32, BASE)
        # the handle at 36 + 44 = 80 moves by 48 to 128; the data from 132 + 48 = 180 by 12 to 192
        expected = call[:44] + bytes(48) + call[44:96] + bytes(12) + call[96:]
        self.assertEqual(made, expected)
        self.assertEqual(padding.plain(made, 64, 32, BASE), call)

    def test_pads_may_hold_anything(self):
        call = write(1024)
        made = call[:96] + b'\xff' * 124 + call[96:]
        self.assertEqual(padding.plain(made, 256, 1024, BASE), call)

    def test_an_alignment_of_zero_or_one_is_none(self):
        call = write(1024)
        for align in (0, 1):
            self.assertEqual(padding.padded(call, padding.places(call), align, 4, BASE), call)
            self.assertEqual(padding.plain(call, align, 4, BASE), call)

    def test_data_in_a_read_chunk_has_none(self):
        call = write(1024)
        reduced = call[:96]
        message = header.Header(7, reads=[header.ReadSegment(96, 1, 1024, 0)], body=reduced)
        moved = padding.moved_by(message)
        found = padding.places(reduced, moved=moved)
        self.assertEqual(found, [(32, 0), (40, 0), (44, 32)])
        made = padding.padded(reduced, found, 64, 32, 60)
        self.assertEqual(made, call[:44] + bytes(24) + call[44:96])
        self.assertEqual(padding.plain(made, 64, 32, 60, moved=moved), reduced)

    def test_a_reply_is_walked_as_its_call_says(self):
        call = rpc.call(9, nfs3.PROGRAM, 3, 6, nfs3.read(FH, 0, 2000))
        result = nfs3.READ.encode_result(count=2000, eof=False, data=bytes(2000))
        reply = rpc.accepted(9, result)
        found = padding.places(reply, call)
        self.assertEqual(found, [(20, 0), (44, 2000)])
        made = padding.padded(reply, found, 512, 1024, BASE)
        self.assertEqual(made, reply[:44] + bytes(432) + reply[44:])
        self.assertEqual(padding.plain(made, 512, 1024, BASE, call), reply)

    def test_data_in_a_write_chunk_has_none(self):
        call = rpc.call(9, nfs3.PROGRAM, 3, 6, nfs3.read(FH, 0, 2000))
        result = nfs3.READ.encode_result(count=2000, eof=False, data=bytes(2000))
        reduced = rpc.accepted(9, result)[:-2000]
        message = header.Header(9, writes=[[header.Segment(1, 2000, 0)]], body=reduced)
        self.assertEqual(padding.places(reduced, call, padding.moved_by(message)), [(20, 0)])

    def test_what_is_not_known_is_said_so(self):
        echo = rpc.call(1, 0x20000099, 1, 1, xdr.var(bytes(2000)))
        with self.assertRaises(padding.Unknown):
            padding.plain(echo, 8, 1024, BASE)
        self.assertEqual(padding.plain(echo, 8, len(echo) + 1, BASE), echo)
        with self.assertRaises(ValueError):
            padding.plain(write(1024)[:-4], 8, 1024, BASE)


class Others(unittest.TestCase):
    """Calls of other programs."""

    def test_a_compound_has_four_opaques(self):
        args = others.compound_write(b'tag', FH, b'name', bytes(100))
        call = rpc.call(3, nfs3.PROGRAM, 4, 1, args)
        # tag 3+1, minor and count, PUTFH, 32, LOOKUP, 4, WRITE 16 + 8 + 4, 100
        self.assertEqual(padding.places(call)[2:], [(44, 3), (64, 32), (104, 4), (144, 100)])

    def test_setacl_has_its_handle(self):
        call = rpc.call(3, others.ACL_PROGRAM, 3, 2, others.setacl(FH, [(1, 0, 7), (4, 0, 5)]))
        self.assertEqual(padding.places(call)[2:], [(44, 32)])


if __name__ == '__main__':
    unittest.main()

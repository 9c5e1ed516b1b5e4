# SPDX-License-Identifier: BSD-3-Clause
"""Transport headers: their sizes and bytes, and what is none."""

import random
import unittest
from dataclasses import replace

import samples
from wire import header
from wire.header import Header, ReadSegment, Segment

EMPTY = bytes(12)


def hexed(h):
    """What a header is on the wire, in words."""
    return header.encode(h).hex(" ", 4)


class Golden(unittest.TestCase):
    """Bytes by the documents."""

    def test_how_long_each_is(self):
        """The fixed words, three empty lists, align and thresh, errors, RDMA_OPTIONAL."""
        for size, h in (
                (28, Header(1)), (28, Header(1, proc=header.NOMSG)), (28, Header(1, vers=2)),
                (36, Header(1, proc=header.MSGP)), (16, Header(1, vers=2, proc=header.MSGP)),
                (16, Header(1, proc=header.DONE)), (16, Header(1, vers=2, proc=header.DONE)),
                (20, Header(1, proc=header.ERROR, err=header.ERR_CHUNK)),
                (20, Header(1, vers=2, proc=header.ERROR, err=header.BAD_HEADER)),
                (20, Header(1, vers=2, proc=header.ERROR, err=header.INVAL_OPTION)),
                (28, Header(1, proc=header.ERROR, err=header.ERR_VERS)),
                (28, Header(1, vers=2, proc=header.ERROR, err=header.ERR_VERS)),
                (52, Header(1, proc=header.ERROR, err=99)),
                (24, Header(1, vers=2, proc=header.OPTIONAL, opttype=1)),
                (28, Header(1, vers=2, proc=header.OPTIONAL, opttype=1, optinfo=b"a"))):
            with self.subTest(h=h):
                self.assertEqual(len(header.encode(h)), size)

    def test_what_stands_in_front_of_a_body(self):
        """Lists count, the body does not."""
        for size, h in ((28, Header(1, body=b"body")),
                        (52, Header(1, reads=[ReadSegment(8, 1, 2, 3)], body=b"body"))):
            self.assertEqual(header.head_bytes(h), size)

    def test_how_much_a_list_adds(self):
        """Read segments 24 bytes, write segments 16 and 8 for their chunk."""
        read, seg = ReadSegment(0, 1, 2, 3), Segment(1, 2, 3)
        for count, h in ((24, Header(1, reads=[read])), (72, Header(1, reads=[read] * 3)),
                         (24, Header(1, writes=[[seg]])), (40, Header(1, writes=[[seg] * 2])),
                         (8, Header(1, writes=[[]])), (4, Header(1, reply=[])),
                         (20, Header(1, reply=[seg])), (52, Header(1, reply=[seg] * 3))):
            self.assertEqual(len(header.encode(h)), 28 + count)
        self.assertLessEqual(len(header.encode(Header(1, reads=[read] * 41))), 1024)
        self.assertGreater(len(header.encode(Header(1, reads=[read] * 42))), 1024)
        self.assertLessEqual(len(header.encode(Header(1, writes=[[seg] * 61]))), 1024)
        self.assertGreater(len(header.encode(Header(1, writes=[[seg] * 62]))), 1024)

    def test_the_words_of_a_call_with_all_lists(self):
        """Each field in its place."""
        h = Header(0x11111111, 1, 32, header.MSG, reads=[ReadSegment(0x44, 0xa1, 0xa2, 0xa3 << 32)],
                   writes=[[Segment(0xb1, 0xb2, 0xb3)]], reply=[Segment(0xc1, 0xc2, 0xc3)],
                   body=b"body")
        self.assertEqual(hexed(h), " ".join((
            "11111111 00000001 00000020 00000000",
            "00000001 00000044 000000a1 000000a2 000000a3 00000000 00000000",
            "00000001 00000001 000000b1 000000b2 00000000 000000b3 00000000",
            "00000001 00000001 000000c1 000000c2 00000000 000000c3",
            "626f6479")))

    def test_the_words_of_the_others(self):
        """RDMA_MSGP, RDMA_ERROR, RDMA_OPTIONAL."""
        self.assertEqual(hexed(Header(1, 1, 2, header.MSGP, align=8, thresh=1024)),
                         "00000001 00000001 00000002 00000002 00000008 00000400"
                         " 00000000 00000000 00000000")
        self.assertEqual(hexed(Header(1, 2, 3, header.ERROR, err=1, low=1, high=2)),
                         "00000001 00000002 00000003 00000004 00000001 00000001 00000002")
        self.assertEqual(hexed(Header(1, 2, 3, header.OPTIONAL, opttype=4, optinfo=b"abcde")),
                         "00000001 00000002 00000003 00000005 00000004 00000005"
                         " 61626364 65000000")


class Codec(unittest.TestCase):
    """Both ways."""

    def test_what_is_encoded_is_decoded(self):
        """Each kind, and thousands of random ones, with a body where one may be."""
        chance = random.Random(4)
        for h in [*samples.whole_headers(),
                  *(samples.random_header(chance, 1 + i % 2) for i in range(4000))]:
            for body in (b"", b"\0\0\0\1call"):
                h = replace(h, body=body)
                self.assertEqual(header.decode(header.encode(h)), h)

    def test_every_truncation_raises(self):
        """Of each kind; none has a shorter one within it."""
        for h in samples.whole_headers():
            data = header.encode(h)
            for size in range(len(data)):
                with self.subTest(h=h, size=size), self.assertRaises(header.HeaderError) as caught:
                    header.decode(data[:size])
                self.assertLessEqual(caught.exception.at, size)

    def test_no_kind_is_shorter_than_its_least(self):
        """And one of each is as long."""
        least = {}
        for h in samples.whole_headers():
            for short in (h, replace(h, reads=[], writes=[], reply=None)):
                key = h.vers, h.proc
                least[key] = min(least.get(key, 999), len(header.encode(short)))
        for (vers, proc), size in least.items():
            self.assertEqual(header.min_bytes(vers, proc), size)
        self.assertEqual(sum(map(len, header.MIN_BYTES.values())), len(least))

    def test_the_fixed_words_whatever_follows(self):
        """Of any version and proc."""
        words = bytes.fromhex("00000001 00000077 00000003 00000099")
        self.assertEqual(header.decode_fixed(words + b"junk"), (1, 0x77, 3, 0x99))
        for size in range(16):
            with self.assertRaises(header.HeaderError):
                header.decode_fixed(words[:size])


class Refuse(unittest.TestCase):
    """What is no header, though it can be sent."""

    def refuses(self, data, at):
        """Says where."""
        with self.assertRaises(header.HeaderError) as caught:
            header.decode(data)
        self.assertEqual(caught.exception.at, at)

    def test_procs_that_the_version_does_not_have(self):
        """RDMA_OPTIONAL in version one, and numbers beyond."""
        self.refuses(header.encode(Header(1, 1, 1, header.OPTIONAL, opttype=1)), 12)
        for vers in (1, 2):
            for proc in (6, 0xffffffff):
                self.refuses(header.encode(Header(1, vers, 1, proc, body=EMPTY)), 12)

    def test_versions_that_do_not_exist(self):
        """But ERR_VERS, which is taken in any (A4.2-1)."""
        for vers in (0, 3, 0xffffffff):
            for proc in range(6):
                self.refuses(header.encode(Header(1, vers, 1, proc, err=2)), 4)
            h = Header(1, vers, 1, header.ERROR, err=header.ERR_VERS, low=1, high=2)
            self.assertEqual(header.decode(header.encode(h)), h)

    def test_discriminators_that_are_neither(self):
        """Of each list, in its first place and behind an entry."""
        start = bytes.fromhex("00000001 00000001 00000001 00000000")
        no, two = bytes(4), b"\0\0\0\2"
        read, chunk = b"\0\0\0\1" + bytes(20), b"\0\0\0\1" + bytes(4)
        for good, at in ((b"", 16), (read, 40), (no, 20), (no + chunk, 28), (no + no, 24)):
            self.refuses(start + good + two + EMPTY, at)

    def test_more_segments_than_there_are(self):
        """By one, and beyond all bounds."""
        for count in (2, 0x0fffffff, 0x10000001, 0xffffffff):
            chunk = count.to_bytes(4, "big") + bytes(16)
            start = header.encode(Header(1))[:20]
            self.refuses(start + b"\0\0\0\1" + chunk + bytes(8), 24)
            self.refuses(start + bytes(4) + b"\0\0\0\1" + chunk, 28)

    def test_errors_that_the_version_does_not_have(self):
        """In version two; in version one any other number has eight words."""
        for code in (0, 4, 0xffffffff):
            self.refuses(header.encode(Header(1, 2, 1, header.ERROR, err=code)), 16)
        self.refuses(header.encode(Header(1, 1, 1, header.ERROR, err=3))[:48], 48)

    def test_optinfo_that_is_longer_than_the_message(self):
        """Or padded with something."""
        data = header.encode(Header(1, 2, 1, header.OPTIONAL, opttype=1, optinfo=b"abcdef"))
        self.refuses(data[:20] + b"\xff\xff\xff\xff" + data[24:], 24)
        self.refuses(data[:-1] + b"x", 30)


class Faults(unittest.TestCase):
    """What decodes, and is forbidden all the same."""

    def test_good_ones_have_none(self):
        """Segments may touch, and be empty anywhere."""
        for h in (Header(1, body=b"rpc"), Header(1, proc=header.NOMSG),
                  Header(1, vers=2, proc=header.MSGP), Header(1, proc=header.DONE),
                  Header(1, body=b"rpc", reads=[ReadSegment(8, 1, 100, 0)],
                         writes=[[Segment(1, 100, 100), Segment(1, 0, 50)]],
                         reply=[Segment(2, 100, 100), Segment(3, 1, (1 << 64) - 1)])):
            self.assertEqual(header.faults(h), [])

    def test_each_is_named(self):
        """One at a time."""
        read, seg = ReadSegment(8, 1, 100, 0), Segment(2, 1, 0)
        for h, words in (
                (Header(1), "no RPC message"),
                (Header(1, proc=header.MSGP), "no RPC message"),
                (Header(1, proc=header.NOMSG, body=b"rpc"), "3 bytes behind RDMA_NOMSG"),
                (Header(1, proc=header.DONE, body=b"x"), "1 bytes behind RDMA_DONE"),
                (Header(1, body=b"x", reads=[replace(read, position=6)]),
                 "read segment 0 at position 6"),
                (Header(1, body=b"x", reply=[Segment(1, 2, (1 << 64) - 1)]),
                 "reply chunk segment 0 wraps"),
                (Header(1, body=b"x", reads=[read], writes=[[seg, Segment(1, 1, 99)]]),
                 "write chunk 0 segment 1 overlaps read segment 0")):
            self.assertEqual(header.faults(h), [words])


class Describe(unittest.TestCase):
    """What a human reads."""

    def test_what_a_message_says(self):
        """Its kind, its words, its lists."""
        for h, line in (
                (Header(0x1234, 1, 32, reads=[ReadSegment(100, 1, 2, 3)], writes=[[]],
                        reply=[Segment(4, 5, 6)], body=b"four"),
                 "RDMA_MSG xid 00001234 v1 credit 32, reads [@100 00000001+0x3:2], write [], "
                 "reply [00000004+0x6:5], body 4 bytes"),
                (Header(1, 1, 2, header.MSGP, align=8, thresh=1024),
                 "RDMA_MSGP xid 00000001 v1 credit 2, align 8 thresh 1024"),
                (Header(1, 2, 2, header.ERROR, err=1, low=1, high=2),
                 "RDMA_ERROR xid 00000001 v2 credit 2, ERR_VERS 1..2"),
                (Header(1, 1, 2, header.ERROR, err=2),
                 "RDMA_ERROR xid 00000001 v1 credit 2, ERR_CHUNK"),
                (Header(1, 2, 2, header.ERROR, err=2),
                 "RDMA_ERROR xid 00000001 v2 credit 2, BAD_HEADER"),
                (Header(1, 1, 2, header.ERROR, err=3),
                 "RDMA_ERROR xid 00000001 v1 credit 2, error 3"),
                (Header(1, 2, 2, header.OPTIONAL, opttype=1, optinfo=b"\1\2"),
                 "RDMA_OPTIONAL xid 00000001 v2 credit 2, opttype 1 optinfo 0102")):
            self.assertEqual(header.describe(header.encode(h)), line)

    def test_where_it_ceases_to_say_anything(self):
        """In the fixed words, or behind them."""
        self.assertEqual(header.describe(b"\1\2"), "2 bytes: 0102")
        self.assertEqual(header.describe(header.encode(Header(1))[:20]),
                         "RDMA_MSG xid 00000001 v1 credit 1, 20 bytes: "
                         "4 bytes needed, 0 left at byte 20")
        self.assertEqual(header.describe(header.encode(Header(1, 1, 1, 9))),
                         "proc 9 xid 00000001 v1 credit 1, 16 bytes: "
                         "proc 9 in version 1 at byte 12")

    def test_rows_of_hex(self):
        """With offsets; no more than wanted."""
        self.assertEqual(header.dump(bytes(range(22))),
                         "0000  00010203 04050607 08090a0b 0c0d0e0f\n0010  10111213 1415")
        self.assertEqual(header.dump(bytes(30), 20),
                         "0000  00000000 00000000 00000000 00000000\n0010  00000000\n"
                         "      and 10 bytes more")

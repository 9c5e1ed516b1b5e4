# SPDX-License-Identifier: BSD-3-Clause
"""DDP and RDMAP: the headers of every message, and what is none."""

import unittest
from dataclasses import replace

from wire import ddp

WRITE = ddp.Segment(True, True, ddp.WRITE, stag=0x11223344, to=0x0102030405060708, payload=b"data")
SEND = ddp.Segment(False, True, ddp.SEND, msn=5, mo=6, payload=b"data")
READ = ddp.ReadRequest(0xca15cf01, 0xff24d5fa52c05000, 262144, 0x01020304, 0x1000)


class Headers(unittest.TestCase):
    """The bytes of RFC 5040 and 5041."""

    def test_the_first_two_bytes_of_each_message(self):
        """Version one of both, tagged or not, last or not."""
        expected = {ddp.WRITE: "c140", ddp.READ_REQUEST: "4141", ddp.READ_RESPONSE: "c142",
                    ddp.SEND: "4143", ddp.SEND_INV: "4144", ddp.SEND_SE: "4145",
                    ddp.SEND_SE_INV: "4146", ddp.TERMINATE: "4147"}
        for opcode, start in expected.items():
            tagged = opcode in ddp.TAGGED
            segment = ddp.Segment(tagged, True, opcode, qn=0 if tagged else ddp.queue_of(opcode))
            self.assertEqual(ddp.encode(segment)[:2].hex(), start)
            self.assertEqual(ddp.decode(ddp.encode(segment)), segment)
        self.assertEqual(ddp.encode(replace(WRITE, last=False))[:2].hex(), "8140")

    def test_where_the_fields_are(self):
        """Tagged and untagged."""
        self.assertEqual(ddp.encode(WRITE)[2:].hex(), "112233440102030405060708" + b"data".hex())
        self.assertEqual(ddp.encode(replace(SEND, opcode=ddp.SEND_INV, stag=9))[2:18].hex(),
                         "00000009" "00000000" "00000005" "00000006")
        self.assertEqual(READ.encode().hex(), "ca15cf01" "ff24d5fa52c05000" "00040000"
                                              "01020304" "0000000000001000")

    def test_what_is_encoded_is_decoded(self):
        """Segments and Read Requests."""
        for segment in (WRITE, SEND, replace(SEND, last=False, payload=b"")):
            self.assertEqual(ddp.decode(ddp.encode(segment)), segment)
        self.assertEqual(ddp.ReadRequest.decode(READ.encode()), READ)


class Refuse(unittest.TestCase):
    """What is no segment."""

    def test_every_truncation_of_a_header(self):
        """The payload may be of any length, but a Read Request's."""
        for segment, size in ((WRITE, ddp.TAGGED_BYTES), (SEND, ddp.UNTAGGED_BYTES)):
            for short in range(size):
                with self.assertRaises(ddp.DdpError):
                    ddp.decode(ddp.encode(segment)[:short])
            ddp.decode(ddp.encode(segment)[:size])
        for payload in (READ.encode()[:-1], READ.encode() + b"x", b""):
            with self.assertRaises(ddp.DdpError):
                ddp.ReadRequest.decode(payload)

    def test_versions_opcodes_and_queues_that_do_not_exist(self):
        """Each can be encoded all the same."""
        for wrong in (replace(SEND, ddp_version=0), replace(SEND, ddp_version=2),
                      replace(SEND, rdmap_version=0), replace(WRITE, rdmap_version=2),
                      replace(SEND, opcode=8), replace(SEND, opcode=15), replace(SEND, qn=1),
                      replace(SEND, opcode=ddp.READ_REQUEST), replace(SEND, opcode=ddp.WRITE),
                      replace(WRITE, opcode=ddp.SEND), replace(SEND, qn=3)):
            with self.subTest(wrong=wrong), self.assertRaises(ddp.DdpError):
                ddp.decode(ddp.encode(wrong))


    def test_what_is_said_of_each(self):
        """The layer, type and code that RFC 5040 and 5041 have for it."""
        for wrong, said in ((replace(SEND, ddp_version=2), (0x12, 6)),
                            (replace(WRITE, ddp_version=2), (0x11, 4)),
                            (replace(SEND, rdmap_version=2), (0x02, 5)),
                            (replace(SEND, opcode=8), (0x02, 6)),
                            (replace(SEND, opcode=ddp.WRITE), (0x02, 6)),
                            (replace(WRITE, opcode=ddp.SEND), (0x02, 6)),
                            (replace(SEND, qn=3), (0x12, 1))):
            with self.subTest(wrong=wrong), self.assertRaises(ddp.DdpError) as raised:
                ddp.decode(ddp.encode(wrong))
            self.assertEqual(raised.exception.terminate, said)
        with self.assertRaises(ddp.DdpError) as raised:
            ddp.decode(b"\x41\x43")
        self.assertIsNone(raised.exception.terminate)


class Terminate(unittest.TestCase):
    """What a Terminate says."""

    def test_its_code_in_either_order(self):
        """Layer and type are in one byte, as the RFC has it."""
        for sent, code in (("20020000", (0x20, 2)), ("02020000", (0x20, 2)),
                           ("1205c000", (0x12, 5)), ("21020300", (0x12, 2)),
                           ("02050000", (0x02, 5)), ("99770000", (0x99, 0x77))):
            self.assertEqual(ddp.terminate_code(bytes.fromhex(sent)), code, sent)
        self.assertIsNone(ddp.terminate_code(b"\x20\x02\x00"))

    def test_in_the_order_of_the_rfc(self):
        """Its layer, type and code as words."""
        said = ddp.terminate_text(ddp.encode_terminate(2, 0, 2))
        self.assertEqual(said, "MPA: CRC error (2/0/2; 20020000)")
        said = ddp.terminate_text(ddp.encode_terminate(1, 2, 5, bits=6, header=bytes(20)))
        self.assertEqual(said, "DDP untagged buffer: message too long for its buffer "
                               "(1/2/5; 1205c000)")

    def test_in_the_order_of_siw(self):
        """The halves of the first byte, and the bits, are the other way round."""
        said = ddp.terminate_text(bytes.fromhex("02020000"))
        self.assertEqual(said, "MPA: CRC error (2/0/2; 02020000, halves swapped)")
        said = ddp.terminate_text(bytes.fromhex("21020300"))
        self.assertEqual(said, "DDP untagged buffer: invalid MSN: no buffer "
                               "(1/2/2; 21020300, halves swapped)")

    def test_what_nobody_knows_is_shown_as_it_is(self):
        """Or what is too short."""
        self.assertEqual(ddp.terminate_text(bytes.fromhex("99770000")),
                         "unknown (9/9/119; 99770000)")
        self.assertEqual(ddp.terminate_text(b"\x20"), "Terminate of 1 bytes: 20")

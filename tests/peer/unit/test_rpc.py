# SPDX-License-Identifier: BSD-3-Clause
"""RPC messages, and records of them on a stream."""

import unittest

from wire import record, rpc, xdr

SYS = rpc.auth_sys(uid=1, gid=2, gids=(3, 4), machine="host", stamp=5)


class Messages(unittest.TestCase):
    """Calls and Replies."""

    def test_the_words_of_a_call(self):
        """Of NULL, and of one with credential and arguments."""
        self.assertEqual(rpc.call(7, 100003, 3, 0).hex(" ", 4),
                         "00000007 00000000 00000002 000186a3 00000003 00000000"
                         " 00000000 00000000 00000000 00000000")
        self.assertEqual(rpc.call(7, 100003, 3, 1, b"args", SYS)[24:].hex(" ", 4),
                         "00000001 00000020 00000005 00000004 686f7374 00000001 00000002"
                         " 00000002 00000003 00000004 00000000 00000000 61726773")

    def test_the_words_of_replies(self):
        """Accepted and denied."""
        self.assertEqual(rpc.accepted(7, b"data").hex(" ", 4),
                         "00000007 00000001 00000000 00000000 00000000 00000000 64617461")
        self.assertEqual(rpc.accepted(7, stat=rpc.PROG_MISMATCH, low=2, high=4)[20:].hex(" ", 4),
                         "00000002 00000002 00000004")
        self.assertEqual(rpc.denied(7).hex(" ", 4),
                         "00000007 00000001 00000001 00000000 00000002 00000002")
        self.assertEqual(rpc.denied(7, rpc.AUTH_TOOWEAK).hex(" ", 4),
                         "00000007 00000001 00000001 00000001 00000005")

    def test_what_a_call_says(self):
        """Each field."""
        message = rpc.decode(rpc.call(7, 1, 2, 3, b"args", SYS, rpc.Auth(6, b"verf")))
        self.assertEqual(message, rpc.Message(7, rpc.CALL, 2, 1, 2, 3, SYS, rpc.Auth(6, b"verf"),
                                              b"args"))

    def test_what_a_reply_says(self):
        """Of each kind."""
        for stat in range(6):
            body = b"data" if stat == rpc.SUCCESS else b""
            low = 2 if stat == rpc.PROG_MISMATCH else 0
            message = rpc.decode(rpc.accepted(7, body, stat, low, low))
            self.assertEqual(message, rpc.Message(7, rpc.REPLY, stat=rpc.ACCEPTED, low=low,
                                                  high=low, accept_stat=stat, result=body))
        self.assertEqual(rpc.decode(rpc.denied(7, low=2, high=3)),
                         rpc.Message(7, rpc.REPLY, stat=rpc.DENIED, reject_stat=rpc.RPC_MISMATCH,
                                     low=2, high=3))
        self.assertEqual(rpc.decode(rpc.denied(7, rpc.AUTH_BADCRED)),
                         rpc.Message(7, rpc.REPLY, stat=rpc.DENIED, reject_stat=rpc.AUTH_ERROR,
                                     auth_stat=rpc.AUTH_BADCRED))

    def test_what_a_message_is_told_without_decoding(self):
        """Its XID and its kind; what is cut short is of no kind."""
        call, reply = rpc.call(7, 1, 2, 3), rpc.accepted(0xfffffff0)
        self.assertEqual((rpc.xid_of(call), rpc.is_call(call), rpc.is_reply(call)), (7, True, False))
        self.assertEqual((rpc.xid_of(reply), rpc.is_call(reply), rpc.is_reply(reply)),
                         (0xfffffff0, False, True))
        self.assertFalse(rpc.is_call(call[:7]) or rpc.is_reply(reply[:7]))

    def test_what_has_a_result(self):
        """An accepted Reply without an error, alone."""
        self.assertTrue(rpc.decode(rpc.accepted(7)).succeeded)
        for message in (rpc.accepted(7, stat=rpc.GARBAGE_ARGS), rpc.denied(7), rpc.call(7, 1, 2, 3)):
            self.assertFalse(rpc.decode(message).succeeded)

    def test_every_truncation_raises(self):
        """Of whatever is before arguments and results."""
        for data in (rpc.call(7, 1, 2, 3, cred=SYS), rpc.accepted(7),
                     rpc.accepted(7, stat=rpc.PROG_MISMATCH), rpc.denied(7), rpc.denied(7, 1)):
            for size in range(len(data)):
                with self.subTest(size=size), self.assertRaises(rpc.RpcError):
                    rpc.decode(data[:size])

    def test_numbers_that_do_not_exist(self):
        """Of types, versions and verdicts; and bytes where there are none."""
        start = xdr.u32(7) + xdr.u32(rpc.REPLY)
        for wrong in (xdr.u32(7) + xdr.u32(2) + bytes(40), start + xdr.u32(2) + bytes(40),
                      rpc.call(7, 1, 2, 3, rpcvers=3), rpc.call(7, 1, 2, 3, rpcvers=0),
                      rpc.accepted(7, stat=6), start + xdr.u32(1) + xdr.u32(2),
                      rpc.accepted(7, b"data", rpc.SYSTEM_ERR), rpc.denied(7) + bytes(4)):
            with self.subTest(wrong=wrong), self.assertRaises(rpc.RpcError):
                rpc.decode(wrong)

    def test_credentials_to_the_bound(self):
        """Of 400 bytes."""
        rpc.decode(rpc.call(7, 1, 2, 3, cred=rpc.Auth(6, bytes(400))))
        for cred, verf in ((401, 0), (0, 401)):
            with self.assertRaises(rpc.RpcError):
                rpc.decode(rpc.call(7, 1, 2, 3, b"", rpc.Auth(6, bytes(cred)),
                                    rpc.Auth(6, bytes(verf))))


class Records(unittest.TestCase):
    """Record marking."""

    def test_the_mark(self):
        """Of a record in one piece, in several, and of one without a byte."""
        self.assertEqual(record.encode(b"abc").hex(), "80000003616263")
        self.assertEqual(record.encode(b"abc", 2).hex(), "00000002616280000001" "63")
        self.assertEqual(record.encode(b"abcd", 2).hex(), "00000002616280000002" "6364")
        self.assertEqual(record.encode(b"").hex(), "80000000")

    def test_messages_however_they_come(self):
        """In one piece, byte by byte, two at once, in any fragments."""
        messages = [b"first", b"", b"the second"]
        for fragment in (None, 1, 3, 100):
            data = b"".join(record.encode(msg, fragment) for msg in messages)
            self.assertEqual(record.Decoder().feed(data), messages)
            decoder = record.Decoder()
            self.assertEqual([msg for at in range(len(data))
                              for msg in decoder.feed(data[at:at + 1])], messages)
            self.assertEqual(decoder.partial, 0)

    def test_a_message_that_is_not_whole(self):
        """Is kept until it is."""
        decoder = record.Decoder()
        self.assertEqual(decoder.feed(record.encode(b"abcdef", 4)[:9]), [])
        self.assertEqual(decoder.partial, 5)
        self.assertEqual(decoder.feed(record.encode(b"abcdef", 4)[9:]), [b"abcdef"])

    def test_no_more_than_the_limit(self):
        """By its mark alone, or by fragments that add up."""
        self.assertEqual(record.Decoder(4).feed(record.encode(b"abcd", 2)), [b"abcd"])
        for data in (b"\x80\0\0\5", b"\x7f\xff\xff\xff", record.encode(b"abcde", 3)):
            with self.assertRaises(record.RecordError):
                record.Decoder(4).feed(data)

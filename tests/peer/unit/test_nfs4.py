# SPDX-License-Identifier: BSD-3-Clause
"""COMPOUNDs of NFSv4.1, and which bytes of them may be moved to chunks."""
import unittest
from types import SimpleNamespace

from nfs import binding, nfs4
from wire import rpc, xdr

FH = b'a handle'
SESSION = bytes(range(16))
SEQUENCE = nfs4.op(nfs4.SEQUENCE, session=SESSION, sequence=7, slot=2, highest=9, cache=False)
SEQUENCED = SimpleNamespace(session=SESSION, sequence=7, slot=2, highest=9, target=9, status=0)


def call(*operations, minor=nfs4.MINOR, cred=rpc.AUTH_NONE):
    """A Call with these operations."""
    args = xdr.var(b'') + xdr.u32(minor) + nfs4.compound(*operations)[8:]
    return rpc.call(1, nfs4.PROGRAM, nfs4.VERSION, nfs4.COMPOUND, args, cred=cred)


class Words(unittest.TestCase):
    """Of RFC 8881."""

    def test_a_sequence(self):
        """Its operation number, and the fields in their order."""
        self.assertEqual(SEQUENCE.hex(), '00000035' + SESSION.hex() + '00000007' '00000002' '00000009' '00000000')
        self.assertEqual(nfs4.compound(SEQUENCE)[:12].hex(), '00000000' '00000001' '00000001')

    def test_what_is_encoded_is_decoded(self):
        """Arguments and results; each truncation is none."""
        args = nfs4.compound(SEQUENCE, nfs4.op(nfs4.PUTFH, fh=FH),
                             nfs4.op(nfs4.READ, stateid=nfs4.ANONYMOUS, offset=1 << 40, count=5))
        minor, found = nfs4.decode_args(args)
        self.assertEqual((minor, [number for number, _values in found]), (1, [53, 22, 25]))
        self.assertEqual((found[1][1].fh, found[2][1].offset), (FH, 1 << 40))
        good = nfs4.encode_results(0, [(nfs4.SEQUENCE, 0, SEQUENCED), (nfs4.PUTFH, 0, SimpleNamespace()),
                                       (nfs4.READ, 0, SimpleNamespace(eof=True, data=b'12345'))])
        status, results = nfs4.results(good)
        self.assertEqual((status, results[2][2].data), (0, b'12345'))
        for decode, data in ((nfs4.decode_args, args), (nfs4.results, good)):
            for size in range(0, len(data), 4):
                with self.assertRaises(xdr.XdrError):
                    decode(data[:size])

    def test_what_fails_has_no_result(self):
        """It is the last one."""
        data = nfs4.encode_results(2, [(nfs4.SEQUENCE, 0, SEQUENCED), (nfs4.LOOKUP, 2, SimpleNamespace())])
        self.assertEqual(nfs4.results(data)[1][1], (nfs4.LOOKUP, 2, None))
        self.assertIsNone(nfs4.result_payload(data))


class Binding(unittest.TestCase):
    """RFC 8267 section 6.1."""

    def test_the_data_of_a_write(self):
        """With and without them; of minor version zero, of a Call by RPCSEC_GSS and of others nothing."""
        for size in (4, 1001):
            write = nfs4.op(nfs4.WRITE, stateid=nfs4.ANONYMOUS, offset=0, stable=2, data=bytes(size))
            whole = call(SEQUENCE, nfs4.op(nfs4.PUTFH, fh=FH), write)
            place = len(whole) - size - -size % 4
            self.assertEqual(binding.call_payload(whole), (place, size))
            self.assertEqual(binding.call_payload(whole[:place]), (place, size))
            self.assertIsNone(binding.call_payload(whole[:place - 8]))
        self.assertIsNone(binding.call_payload(call(write, minor=0)))
        self.assertIsNone(binding.call_payload(call(SEQUENCE, write, cred=rpc.Auth(6, bytes(20)))))
        self.assertIsNone(binding.call_payload(call(SEQUENCE)))

    def test_the_data_of_a_read(self):
        """And how long its Reply can get."""
        asked = call(SEQUENCE, nfs4.op(nfs4.READ, stateid=nfs4.ANONYMOUS, offset=0, count=7))
        result = nfs4.encode_results(0, [(nfs4.SEQUENCE, 0, SEQUENCED),
                                         (nfs4.READ, 0, SimpleNamespace(eof=True, data=b'1234567'))])
        reply = rpc.accepted(1, result)
        self.assertEqual(binding.reply_payload(asked, reply), (len(reply) - 8, 7))
        self.assertEqual(binding.reply_payload(asked, reply[:-8]), (len(reply) - 8, 7))
        self.assertIsNone(binding.reply_payload(asked, rpc.accepted(1, stat=rpc.SYSTEM_ERR)))
        self.assertGreater(binding.reply_limit(asked), len(reply))


if __name__ == '__main__':
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""Our codecs held against code that rpcgen made of the documents' XDR (tests/unit/rpcgen_filter).

Both must take the same bytes, read the same values in them, and make the same bytes of those. XDR
lets rpcgen's decoders pass a few things that its encoders never make, as a bool of two: here bytes
are only taken if the value that they have encodes to them again.
"""

import os
import random
import subprocess
import unittest

import samples
from wire import ccp, header, xdr
from wire import characteristics as ch

ROUNDS = 4000
FILTER = os.path.join(os.environ.get("builddir", "build"), "tests/unit/rpcgen_filter")


class Filter:
    """rpcgen's code, asked a message at a time."""

    def __init__(self):
        self.process = subprocess.Popen([FILTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, kind, data):
        """(what it is encoded to again, the words of the value), or None."""
        self.process.stdin.write(f"{kind} {data.hex()}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise AssertionError(f"no answer about {kind} {data.hex()}")
        return None if answer == ["no"] else (bytes.fromhex(answer[0]), " ".join(answer[1:]))

    def close(self):
        """Its status."""
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


def words(*numbers):
    """As the filter shows numbers."""
    return " ".join(map(str, numbers))


def _segment_numbers(seg):
    return [seg.handle, seg.length, seg.offset]


def _chunk_numbers(chunk):
    return [len(chunk), *(number for seg in chunk for number in _segment_numbers(seg))]


def _list_numbers(h):
    numbers = [number for seg in h.reads
               for number in (1, seg.position, *_segment_numbers(seg))] + [0]
    for chunk in h.writes:
        numbers += [1, *_chunk_numbers(chunk)]
    return numbers + ([0, 0] if h.reply is None else [0, 1, *_chunk_numbers(h.reply)])


def _error_numbers(h):
    if h.err == header.ERR_VERS:
        return [h.err, h.low, h.high]
    return [h.err, *h.extra] if h.vers == 1 and h.err != header.ERR_CHUNK else [h.err]


def header_words(h):
    """What a header says."""
    numbers = [h.xid, h.vers, h.credit, h.proc]
    if h.proc == header.MSGP and h.vers == 1:
        numbers += [h.align, h.thresh]
    if h.proc in (header.MSG, header.NOMSG) or h.proc == header.MSGP and h.vers == 1:
        numbers += _list_numbers(h)
    elif h.proc == header.ERROR:
        numbers += _error_numbers(h)
    elif h.proc == header.OPTIONAL:
        return words(*numbers, h.opttype, opaque_words(h.optinfo))
    return words(*numbers)


def opaque_words(data):
    """As the filter shows opaque data."""
    return f"{len(data)} {data.hex()}".rstrip()


def value_words(value):
    """What an (id, bytes) says."""
    return words(value[0], opaque_words(value[1]))


def spec_words(values):
    """What a list of them says."""
    return words(len(values), *map(value_words, values))


def subset_words(members):
    """What a subset says in as few words as it takes."""
    data = ch.subset_bytes(members)
    return words(*(int.from_bytes(data[at:at + 4], "big") for at in range(0, len(data), 4)))


class SecondOpinion(unittest.TestCase):
    """The filter beside the cases."""

    def setUp(self):
        """A filter and a seed for each."""
        self.filter = Filter()
        self.chance = random.Random(6)

    def tearDown(self):
        """The filter was well to the end."""
        self.assertEqual(self.filter.close(), 0)

    def same(self, kind, data, said):
        """Takes them, makes them again, and says so."""
        self.assertEqual(self.filter.ask(kind, data), (data, said))

    def alike(self, kind, data, decode):
        """Whether both take the bytes, which must be the same; `decode` gives (length, words)."""
        answer = self.filter.ask(kind, data)
        if answer and answer[0] != data[:len(answer[0])]:
            answer = None
        try:
            ours = decode(data)
        except (header.HeaderError, xdr.XdrError):
            ours = None
        self.assertEqual(ours, answer and (len(answer[0]), answer[1]), data.hex())
        return ours is not None

    def mostly(self, taken, refused):
        """There were enough of both for the comparison to mean something."""
        self.assertGreater(min(taken, refused), ROUNDS // 20)


class Headers(SecondOpinion):
    """Both versions."""

    @staticmethod
    def decode(data):
        """How long a header is, and what it says."""
        h = header.decode(data)
        return len(data) - len(h.body), header_words(h)

    def test_they_read_in_ours_what_we_said(self):
        """And make the same bytes of it."""
        for h in [*samples.whole_headers(),
                  *(samples.random_header(self.chance, 1 + i % 2) for i in range(ROUNDS))]:
            data = header.encode(h)
            self.same(f"v{h.vers}", data, header_words(h))
            self.assertEqual(header.encode(header.decode(data)), data)

    def test_both_take_the_same_of_damaged_ones(self):
        """The version stays, which XDR does not look at."""
        verdicts = [0, 0]
        for i in range(ROUNDS):
            vers = 1 + i % 2
            data = header.encode(samples.random_header(self.chance, vers))
            data = samples.damaged(self.chance, data + self.chance.randbytes(i % 9))
            data = data[:4] + vers.to_bytes(4, "big")[:max(len(data) - 4, 0)] + data[8:]
            verdicts[self.alike(f"v{vers}", data, self.decode)] += 1
        self.mostly(*verdicts)

    def test_both_take_the_same_of_every_word_at_a_bound(self):
        """Each word of each kind of header, in turn."""
        verdicts = [0, 0]
        for h in samples.whole_headers():
            data = header.encode(h)
            for at in range(8, len(data), 4):
                for edge in samples.EDGES:
                    wrong = data[:at] + edge.to_bytes(4, "big") + data[at + 4:]
                    verdicts[self.alike(f"v{h.vers}", wrong, self.decode)] += 1
        self.mostly(*verdicts)


class Characteristics(SecondOpinion):
    """The four operations."""

    def random_operation(self):
        """(kind, bytes)."""
        chance = self.chance
        values = samples.values(chance)
        nochg = samples.subset(chance, len(values) + 1)
        parts = [samples.subset(chance) for _ in range(3)]
        return chance.choice((("init", ch.encode_init(values, nochg)),
                              ("req", ch.encode_req(values)), ("resp", ch.encode_resp(*parts)),
                              ("upd", ch.encode_upd(samples.value(chance), chance.random() < 0.5))))

    @staticmethod
    def said(kind, data):
        """What an operation says; a subset in as few words as it takes."""
        if kind == "init":
            values, nochg = ch.decode_init(data)
            return words(ch.INIT_XCHAR, spec_words(values), subset_words(nochg))
        if kind == "req":
            return words(ch.REQ_XCHAR, spec_words(ch.decode_req(data)))
        if kind == "resp":
            return words(ch.RESP_XCHAR, *map(subset_words, ch.decode_resp(data)))
        value, pendclr = ch.decode_upd(data)
        return words(ch.UPD_XCHAR, value_words(value), int(pendclr))

    def taken(self, kind, data):
        """Whether we take it."""
        try:
            self.said(kind, data)
        except xdr.XdrError:
            return False
        return True

    def both_take(self, kind, data):
        """Whether they do: all of it, with nothing behind."""
        answer = self.filter.ask(kind, data)
        self.assertEqual(self.taken(kind, data), answer is not None and answer[0] == data,
                         f"{kind} {data.hex()}")
        return self.taken(kind, data)

    def test_they_read_in_ours_what_we_said(self):
        """Of those without a malformed value; the others neither takes."""
        verdicts = [0, 0]
        for _ in range(ROUNDS):
            kind, data = self.random_operation()
            if self.both_take(kind, data):
                self.same(kind, data, self.said(kind, data))
                verdicts[1] += 1
            else:
                verdicts[0] += 1
        self.mostly(*verdicts)

    def test_both_take_the_same_of_damaged_ones(self):
        """Bits turned, cut off, or with something behind."""
        verdicts = [0, 0]
        for i in range(2 * ROUNDS):
            kind, data = self.random_operation()
            data = samples.damaged(self.chance, data) + bytes(i % 7 // 6 * 4)
            verdicts[self.both_take(kind, data)] += 1
        self.mostly(*verdicts)

    def test_both_take_the_same_of_each_value(self):
        """Of known ids and unknown ones, of any length, at the bounds."""
        for ident in (0, 1, 2, 3, 4, 0xffffff00):
            for edge in samples.EDGES:
                for size in range(9):
                    data = edge.to_bytes(4, "big") + bytes(4)
                    self.both_take("upd", ch.encode_upd((ident, data[:size])))


class Configuration(SecondOpinion):
    """CONF_RDMA, its program and its structures."""

    def test_both_say_the_same(self):
        """Of random ones, and take as many bytes."""
        procedure = ccp.PROGRAM, ccp.VERSION, ccp.CONF_RDMA
        for _ in range(ROUNDS // 10):
            numbers = [samples.number(self.chance) for _ in range(3)]
            said = words(*procedure, *numbers)
            args, results = ccp.Args(*numbers), ccp.Results(*numbers)
            self.same("conf_args", ccp.encode_args(args), said)
            self.same("conf_results", ccp.encode_results(results), said)
        for size in range(12):
            self.assertIsNone(self.filter.ask("conf_args", bytes(size)))
            self.assertIsNone(self.filter.ask("conf_results", bytes(size)))

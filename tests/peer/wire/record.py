# SPDX-License-Identifier: BSD-3-Clause
"""Record marking: RPC messages on a stream of bytes (RFC 5531 section 11)."""

LAST = 0x80000000
LIMIT_BYTES = 8 << 20


class RecordError(ValueError):
    """A record is longer than is taken here."""


def encode(msg, fragment=None):
    """A record of the message, in fragments of at most `fragment` bytes."""
    size = fragment or max(len(msg), 1)
    pieces = [msg[at:at + size] for at in range(0, len(msg), size)] or [b""]
    marks = [len(piece) for piece in pieces]
    marks[-1] |= LAST
    return b"".join(mark.to_bytes(4, "big") + piece for mark, piece in zip(marks, pieces))


class Decoder:
    """Makes messages of the bytes of a stream, however they come."""

    def __init__(self, limit=LIMIT_BYTES):
        self.limit = limit
        self._input = bytearray()
        self._record = bytearray()

    @property
    def partial(self):
        """How many bytes of a message are here that is not whole."""
        return len(self._input) + len(self._record)

    def feed(self, data):
        """The messages that end in the data, in their order."""
        self._input += data
        messages = []
        while len(self._input) >= 4:
            mark = int.from_bytes(self._input[:4], "big")
            size = mark & ~LAST
            if len(self._record) + size > self.limit:
                raise RecordError(f"a record of more than {self.limit} bytes")
            if len(self._input) < 4 + size:
                break
            self._record += self._input[4:4 + size]
            del self._input[:4 + size]
            if mark & LAST:
                messages.append(bytes(self._record))
                self._record.clear()
        return messages

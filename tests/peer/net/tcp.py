# SPDX-License-Identifier: BSD-3-Clause
"""ONC RPC over TCP (RFC 5531 section 11): connections of records, and a server of them."""
import collections

from net import stream
from wire import record, rpc


class RecordConn:
    """One connection. Received messages are in .messages, or passed to .taken if that is set."""

    def __init__(self, loop, sock, tap=None):
        self.loop = loop
        self.messages = collections.deque()
        self.taken = None
        self.ended = None
        self._decoder = record.Decoder()
        self._stream = stream.Stream(loop, sock, self, tap)

    def received(self, data):
        """Handles received bytes of the stream."""
        try:
            messages = self._decoder.feed(data)
        except record.RecordError as error:
            self.ended = str(error)
            self.close()
            return
        for message in messages:
            if self.taken:
                self.taken(message)
            else:
                self.messages.append(message)

    def stream_ended(self, why):
        """Handles the end of the stream."""
        self.ended = why

    def send(self, message):
        """Sends one message as a record."""
        self._stream.send(record.encode(message))

    def next(self, what='a message over TCP', seconds=None):
        """Waits for a message."""
        self.loop.until(lambda: self.messages or self.ended, what, seconds)
        if not self.messages:
            raise ConnectionError(f'the TCP connection ended ({self.ended}) instead of {what}')
        return self.messages.popleft()

    def close(self):
        """Closes it."""
        self._stream.close()


class RecordServer:
    """Answers Calls by answer(message) -> bytes or None; keeps its connections."""

    def __init__(self, loop, answer, address=('127.0.0.1', 0)):
        self.loop = loop
        self.answer = answer
        self.conns = []
        self.reverse_replies = collections.deque()
        self._listener = stream.Listener(loop, self._accepted, address)
        self.address = self._listener.address

    def _accepted(self, sock, _peer):
        conn = RecordConn(self.loop, sock)
        conn.taken = lambda message: self._taken(conn, message)
        self.conns.append(conn)

    def _taken(self, conn, message):
        if rpc.is_reply(message):
            self.reverse_replies.append(message)
            return
        reply = self.answer(message)
        if reply is not None:
            conn.send(reply)

    def close(self):
        """Closes the listener and all connections."""
        self._listener.close()
        for conn in self.conns:
            conn.close()

# SPDX-License-Identifier: BSD-3-Clause
"""The Hand: a connection that a scenario controls. It can send any bytes, and sees all received ones."""
import dataclasses
import itertools
import struct

from scene.scenario import Wrong
from wire import chunks, header, rpc, xdr

_xids = itertools.count(0x70000001, 0x101)


def new_xid():
    """Returns an unused XID."""
    return next(_xids) & 0xffffffff


def is_rpc_error(message):
    """Returns whether an RPC message reports that a Call was not executed."""
    try:
        reply = rpc.decode(message)
    except (rpc.RpcError, xdr.XdrError):
        return False
    return reply.type == rpc.REPLY and not reply.succeeded


def is_own_null(data):
    """Returns whether a Send has a NULL Call of the daemon itself: of NFS, with XID 1, which no scenario uses.

    A proxy asks a server so that has closed on a client's Call.
    """
    if len(data) < 40:
        return False
    words = struct.unpack('>10I', data[-40:])
    return words[:4] == (1, 0, 2, 100003) and not any(words[5:])


@dataclasses.dataclass
class Got:
    """A received Send: its bytes and, if it decodes, its header."""
    data: bytes
    invalidated: int
    header: header.Header
    long: bytes = b''       # what has been written into the reply chunk

    @property
    def body(self):
        """Returns the RPC message after the header, or in the Reply chunk."""
        return self.long or self.header.body

    def write_chunk(self):
        """Returns the segments of the first Write chunk; raises Wrong without one."""
        return self._there('write chunk', next(iter(self.header.writes), None))

    def reply_chunk(self):
        """Returns the segments of the Reply chunk; raises Wrong without one."""
        return self._there('reply chunk', self.header.reply)

    def read_list(self):
        """Returns the entries of the Read list; raises Wrong without one."""
        return self._there('read list', self.header.reads)

    def _there(self, what, part):
        if not part:
            raise Wrong(f'no {what} is in: {header.describe(self.data)}')
        return part


def is_error(got):
    """Returns whether an answer is ERR_CHUNK or an RPC error."""
    if got.header.proc == header.ERROR:
        return got.header.err == header.ERR_CHUNK
    return got.header.proc == header.MSG and is_rpc_error(got.body)


class Hand:
    """Either end of a connection, which does nothing by itself."""

    def __init__(self, conn, trace, accept_next=None):
        """accept_next: accepts the next connection if this one starts with a NULL Call of the daemon itself."""
        self.conn = conn
        self.accept_next = accept_next
        self.loop = conn.loop
        self.trace = trace

    # ------------------------------------------------------------ sending

    def send(self, message, invalidate=None):
        """Sends a header.Header, or bytes."""
        data = message if isinstance(message, (bytes, bytearray)) else header.encode(message)
        self.trace.sent(data)
        self.conn.send(bytes(data), invalidate)
        return message

    def call(self, call, **fields):
        """Sends an RPC Call inline, with changed fields of the header. Returns the header."""
        xid = rpc.xid_of(call)
        fields.setdefault('body', call)
        message = header.Header(fields.pop('xid', xid), credit=fields.pop('credit', 16), **fields)
        return self.send(message)

    # ------------------------------------------------------------ receiving

    def next(self, what='a Send', seconds=None):
        """Waits for the next Send, which must decode; raises Wrong if the connection closes."""
        got = self.next_bytes(what, seconds)
        try:
            got.header = header.decode(got.data)
        except header.HeaderError as error:
            raise Wrong(f'{what} came and does not decode: {error}') from error
        return got

    def next_bytes(self, what='a Send', seconds=None):
        """Waits for the next Send, which need not decode."""
        self.loop.until(lambda: self.conn.sends or self.conn.ended, what, seconds)
        if not self.conn.sends:
            ended = self.conn.terminated.text if self.conn.terminated else self.conn.ended
            raise Wrong(f'the connection ended ({ended}) instead of {what}')
        sent = self.conn.sends.popleft()
        self.trace.came(sent.data)
        got = Got(sent.data, sent.invalidated, None)
        if self.accept_next and is_own_null(sent.data):
            got.header = header.decode(sent.data)
            self.answer_null(got)
            self.conn = self.accept_next()
            return self.next_bytes(what, seconds)
        self.accept_next = None
        return got

    def reply(self, xid, what='the Reply'):
        """Returns the next Send, which must be an answer to this XID."""
        got = self.next(what)
        if got.header.xid != xid:
            raise Wrong(f'an answer to XID {got.header.xid:#010x} instead of {xid:#010x}')
        return got

    def ask(self, call, **fields):
        """Sends a Call inline and waits for the answer."""
        sent = self.call(call, **fields)
        return self.reply(sent.xid)

    def refused(self, xid, what):
        """Checks that the next Send is ERR_CHUNK for this XID."""
        got = self.reply(xid, f'ERR_CHUNK for {what}')
        if got.header.proc != header.ERROR or got.header.err != header.ERR_CHUNK:
            raise Wrong(f'{what} is not answered with ERR_CHUNK but: {header.describe(got.data)}')
        return got

    def not_executed(self, xid, what):
        """Checks that the next Send for this XID is ERR_CHUNK, or an RPC error such as GARBAGE_ARGS."""
        got = self.reply(xid, f'an error for {what}')
        if not is_error(got):
            raise Wrong(f'{what} is served: {header.describe(got.data)}')
        return got

    def result(self, xid, what='the Call'):
        """Returns the next Send, which must be a Reply for this XID with a result, inline or in the Reply chunk."""
        got = self.reply(xid, f'the Reply to {what}')
        if got.header.proc == header.NOMSG and got.header.reply:
            got.long = b''.join(self.written(segment) for segment in got.header.reply)
        elif got.header.proc != header.MSG:
            raise Wrong(f'{what} has no result but: {header.describe(got.data)}')
        if is_rpc_error(got.body):
            raise Wrong(f'{what} has no result but: {header.describe(got.data)}')
        return got

    def written(self, segment):
        """Returns the contents of our segment, up to the length that the other end reports."""
        key = self.conn.keys.get(segment.handle)
        if key is None or not key.covers(segment.offset, segment.length):
            raise Wrong(f'nothing of ours is at {segment}')
        begin = segment.offset - key.to
        return bytes(key.memory[begin:begin + segment.length])

    def quiet(self):
        """Checks that no other message has come."""
        if self.conn.sends:
            got = self.next_bytes()
            raise Wrong(f'unasked for: {header.describe(got.data)}')

    def ends(self, what='the end of the connection', seconds=None):
        """Waits until the connection closes."""
        self.loop.until(lambda: self.conn.ended, what, seconds)
        return self.conn.ended

    def barrier(self, null):
        """Makes a NULL Call, to check that earlier messages were handled without an effect."""
        return self.ask(null)

    # ------------------------------------------------------------ memory

    def lend(self, memory, readable=False, writable=False):
        """Exposes memory. Returns the key and its segment."""
        key = self.conn.expose(memory, readable, writable)
        return key, header.Segment(key.stag, len(key.memory), key.to)

    def read_chunk(self, position, data, pieces=1):
        """Returns Read segments with data at a position."""
        size = max(4, -(-len(data) // pieces))
        result = []
        for at in range(0, len(data), size):
            key, segment = self.lend(data[at:at + size], readable=True)
            result.append(header.ReadSegment(position, key.stag, segment.length, key.to))
        return result

    def lend_pieces(self, *sizes):
        """Exposes a writable key for each size. Returns the keys and their segments."""
        lent = [self.lend(size, writable=True) for size in sizes]
        return [key for key, _segment in lent], [segment for _key, segment in lent]

    def is_dead(self, segment):
        """Returns whether a Read of the peer's memory causes a Terminate, which closes the connection."""
        self.conn.read(segment.handle, segment.offset, min(4, segment.length) or 4)
        self.loop.until(lambda: self.conn.ended or not self.conn.reads, 'the end of a Read')
        return bool(self.conn.ended and self.conn.terminated)

    def pull(self, handle, offset, length):
        """Reads the peer's memory, which must be valid. All earlier messages of the peer have come then."""
        read = self.conn.read(handle, offset, length)
        self.loop.until(lambda: read.finished or self.conn.ended, 'the data of a Read')
        if not read.finished:
            raise Wrong(f'the Read of {length} bytes at {offset:#x} of {handle:#010x} fails: '
                        f'{self.conn.terminated or self.conn.ended}')
        return bytes(read.data)

    # ------------------------------------------------------------ answering Calls

    def message_of(self, got):
        """Returns the RPC message of a Call, with its chunks read."""
        message, pulled = got.header, {}
        for entry in message.reads:
            data = self.pull(entry.handle, entry.offset, entry.length)
            pulled.setdefault(entry.position, bytearray()).extend(data)
        whole = chunks.joined(message, pulled)
        if whole is None:
            raise Wrong('the read chunks make no message')
        return whole

    def answer(self, got, reply, /, credit=16, invalidate=None, **fields):
        """Answers a Call inline."""
        fields.setdefault('body', reply)
        message = header.Header(got.header.xid, vers=fields.pop('vers', got.header.vers),
                                credit=credit, **fields)
        return self.send(message, invalidate)

    def answer_long(self, got, message, credit=16):
        """Answers a Call in its Reply chunk, which must exist."""
        if not got.header.reply:
            raise Wrong('no reply chunk is offered for a Reply that may be long')
        return self.answer(got, b'', credit, proc=header.NOMSG,
                           reply=self.fill(got.header.reply, message))

    def fill(self, segments, data):
        """Writes data into segments of the peer in order. Returns the segments with the written lengths."""
        result = []
        for segment, part in chunks.spread(segments, data):
            if part:
                self.conn.write(segment.handle, segment.offset, part)
            result.append(segment)
        short = len(data) - sum(segment.length for segment in result)
        if short:
            raise Wrong(f'what is offered is {short} bytes too short for the Reply')
        return result

    def answer_null(self, got, credit=16):
        """Answers any Call with an empty result."""
        return self.answer(got, rpc.accepted(got.header.xid, b''), credit)

# SPDX-License-Identifier: BSD-3-Clause
"""The requester of an end: Calls wait for a credit, expose memory, and get their Replies."""
import collections
import dataclasses

from nfs import binding
from wire import header, rpc

UNKNOWN_REPLY_BYTES = 1 << 20
PLAIN_BYTES = header.min_bytes(1, header.MSG)     # of a header without chunks, in either version


@dataclasses.dataclass
class Pending:
    """One Call of this end. Finally .reply has its Reply, or .error the error."""
    xid: int
    call: bytes
    done: object = None
    reply: bytes = None
    error: header.Header = None
    lent: list = dataclasses.field(default_factory=list)
    landing: object = None     # the key of the reply chunk
    payload: object = None     # the key of the write chunk
    sent: header.Header = None
    counts_on: int = 0         # the longest inline Reply that may come where no chunk is offered

    @property
    def over(self):
        """Returns whether it was answered."""
        return self.reply is not None or self.error is not None


class Caller:
    """The methods of an end that make Calls."""

    def __init__(self):
        self.granted = 1           # until the first Reply: RFC 8166 section 3.3.3
        self.queue = collections.deque()
        self.pending = {}

    # ------------------------------------------------------------ calling

    def call(self, call, done=None):
        """Makes a Call as soon as there is a credit. done(pending) gets the answer."""
        pending = Pending(rpc.xid_of(call), call, done)
        self.queue.append(pending)
        self.send_more()
        if not self.connector:
            self.conn.loop.after(self.options.reverse_timeout_s, lambda: self.late(pending))
        return pending

    def may_send(self):
        """Returns whether a credit is available: A3.3-4."""
        return (self.conn.open and self.may_call()
                and len(self.pending) + self.held() < min(self.granted, max(1, self.ask())))

    def send_more(self):
        """Sends waiting Calls, as far as credits permit."""
        while self.queue and self.may_send():
            pending = self.queue.popleft()
            self.started = True
            pending.sent = self.planned(pending)
            if not self.carries(pending.sent):
                self.fail(pending)
                continue
            self.pending[pending.xid] = pending
            self.put(pending.sent)
            self.watch_sizes(pending, self.most_of(pending))

    def carries(self, message):
        """Returns whether the peer can receive it; a reverse Call has only its receive: X-4."""
        return len(header.encode(message)) <= self.send_limit()

    def fail(self, pending):
        """Answers a Call that gets no Reply of the peer by SYSTEM_ERR."""
        pending.reply = rpc.accepted(pending.xid, stat=rpc.SYSTEM_ERR)
        if pending.done:
            pending.done(pending)

    def late(self, pending):
        """Fails a reverse Call without an answer. If it was sent, its credit stays in use: D4.2-2."""
        if pending.over:
            return
        if pending in self.queue:
            self.queue.remove(pending)
        self.fail(pending)

    def ask(self):
        """Returns the credits that each Call requests: A3.3-1."""
        return self.options.credits

    def call_version(self):
        """Returns the version of Calls."""
        return self.version or self.assumed or 1

    def planned(self, pending):
        """Returns the message of a Call, with the memory that it exposes."""
        message = header.Header(pending.xid, vers=self.call_version(), credit=self.ask(),
                                proc=header.MSG, body=pending.call)
        if not self.has_chunks():
            return message                       # a reverse Call has none: D2.5-1
        self.offer_room(pending, message)
        if len(header.encode(message)) > self.send_limit():
            self.move(pending, message)
        return message

    def has_chunks(self):
        """Returns whether Calls of this end use chunks."""
        return self.connector or self.reverse_has_chunks()

    @staticmethod
    def most_of(pending):
        """Returns the length of the longest Reply of a Call."""
        most = binding.reply_limit(pending.call)
        return UNKNOWN_REPLY_BYTES if most is None else most

    def offer_room(self, pending, message):
        """Adds a Write chunk or a Reply chunk if the Reply may not fit inline."""
        most = self.most_of(pending)
        payload = binding.result_limit(pending.call) if self.options.ddp == 'nfs' else None
        if most + PLAIN_BYTES <= self.receive_limit():
            pending.counts_on = most + PLAIN_BYTES
            return
        if payload is not None:
            pending.payload = self.lend(pending, payload, writable=True)
            message.writes = [[self.segment(pending.payload)]]
        else:
            pending.landing = self.lend(pending, most, writable=True)
            message.reply = [self.segment(pending.landing)]

    def move(self, pending, message):
        """Moves data that do not fit inline to chunks: A3.4-3, A5.1-1."""
        place = binding.call_payload(pending.call) if self.options.ddp == 'nfs' else None
        if place is not None:
            at, size = place
            key = self.lend(pending, pending.call[at:at + size], readable=True)
            message.reads = [header.ReadSegment(at, key.stag, size, key.to)]
            message.body = pending.call[:at] + pending.call[at + size + -size % 4:]
            if len(header.encode(message)) <= self.send_limit():
                return
        key = self.lend(pending, pending.call, readable=True)
        message.proc, message.body = header.NOMSG, b''
        message.reads = [header.ReadSegment(0, key.stag, len(pending.call), key.to)]

    def lend(self, pending, memory, readable=False, writable=False):
        """Exposes memory of this RPC to the peer until the answer: A2-1."""
        key = self.conn.expose(memory, readable, writable)
        pending.lent.append(key)
        return key

    @staticmethod
    def segment(key):
        """Returns a segment for a whole key."""
        return header.Segment(key.stag, len(key.memory), key.to)

    # ------------------------------------------------------------ being answered

    def take_reply(self, message, _invalidated):
        """Handles a Reply whose header decodes."""
        pending = self.pending.get(message.xid)
        if pending is None:
            self.dropped += 1
            return
        reply = self.reply_of(pending, message)
        if reply is None:
            self.dropped += 1
            return
        self.version = message.vers
        self.take_grant(message.credit)
        if pending.over:
            self.take_late(pending)
        else:
            self.over(pending, reply=reply)

    def take_late(self, pending):
        """Handles a late Reply to a failed Call: it releases the credit: D4.2-2."""
        del self.pending[pending.xid]
        self.dropped += 1
        self.send_more()

    def take_grant(self, credit):
        """Takes the grant of a Reply; zero counts as one: A3.3-2, A3.3-3."""
        self.granted = max(1, credit)

    def reply_of(self, pending, message):
        """Returns the RPC message of a Reply, or None if it violates the protocol."""
        offered = pending.sent
        if message.reads or not self.within(message.writes, offered.writes):
            return None
        if not self.within([message.reply or []], [offered.reply or []]):
            return None
        if not self.was_written(message.writes + [message.reply or []]):
            return None
        landed = sum(s.length for s in message.reply or [])
        if message.proc == header.NOMSG:
            if not landed:
                return None
            body = bytes(pending.landing.memory[:landed])
        elif landed:
            return None                          # inline and in the chunk, too: A5.2-4
        else:
            body = message.body
        if body[:4] != message.xid.to_bytes(4, 'big'):
            return None
        size = sum(s.length for chunk in message.writes for s in chunk)
        if size:
            return self.filled(pending, body, size)
        return None if self.is_unreduced(pending, body) else body

    @staticmethod
    def is_unreduced(pending, body):
        """Returns whether data with an offered Write chunk came inline: A3.7-1."""
        place = binding.reply_payload(pending.call, body) if pending.payload else None
        return place is not None and place[1] > 0

    def filled(self, pending, body, size):
        """Returns the Reply with the written data inserted, if the lengths agree: A3.4-4, A-D5."""
        place = binding.reply_payload(pending.call, body)
        if place is None or size not in (place[1], place[1] + -place[1] % 4):
            return None
        return binding.filled(pending.call, body, bytes(pending.payload.memory[:place[1]]))

    @staticmethod
    def within(returned, offered):
        """Returns whether a returned list matches the offered one, and is not longer: A3.7-4."""
        if not any(returned):
            return True
        if [len(chunk) for chunk in returned] != [len(chunk) for chunk in offered]:
            return False
        return all(
            got.handle == own.handle and got.offset == own.offset and got.length <= own.length
            for r, o in zip(returned, offered) for got, own in zip(r, o))

    def was_written(self, returned):
        """Returns whether the peer has written all chunk data that it claims: X-18."""
        return all(0 not in self.conn.keys[s.handle].written[:s.length]
                   for chunk in returned for s in chunk if s.length)

    def take_error(self, data):
        """Handles an RDMA_ERROR of any version: A4.2-1, A4.2-4."""
        try:
            error = header.decode(data)
        except header.HeaderError:
            xid, version, credit, _proc = header.decode_fixed(data)
            error = header.Header(xid, vers=version, credit=credit, proc=header.ERROR)
        if error.err == header.ERR_VERS and self.take_err_vers(error):
            return
        if error.vers == 2:
            self.heard_two()
        pending = self.pending.get(error.xid)
        if self.operation_failed(error):
            self.send_more()
        elif pending is None:
            self.dropped += 1
        else:
            self.take_grant_of_error(error.credit)
            self.over(pending, error=error)

    def take_grant_of_error(self, credit):
        """Takes a grant only if it is smaller: RFC 8166 section 3.3.1."""
        if 0 < credit < self.granted:
            self.take_grant(credit)

    def over(self, pending, reply=None, error=None):
        """Ends an RPC, and invalidates its memory."""
        del self.pending[pending.xid]
        self.give_back(pending)
        self.one_answered()
        pending.reply, pending.error = reply, error
        if pending.done:
            pending.done(pending)
        self.send_more()
        self.tell_more()

    def give_back(self, pending):
        """Invalidates the memory of an RPC."""
        for key in pending.lent:
            self.conn.withdraw(key)
        pending.lent.clear()

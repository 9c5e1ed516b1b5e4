# SPDX-License-Identifier: BSD-3-Clause
"""The responder of an end: collects Calls with their chunks, has them executed, and sends their Replies."""
import collections
import dataclasses

from nfs import binding
from wire import chunks, header, rpc


@dataclasses.dataclass
class Work:
    """One Call of the peer, until its Reply was sent."""
    message: header.Header
    chunks: dict = dataclasses.field(default_factory=dict)   # position: bytearray
    reads: int = 0
    call: bytes = b''


class Answerer:
    """The methods of an end that handle Calls."""

    def __init__(self):
        self.works = {}
        self.version_refused = 1   # of the last Call in one that is not spoken
        self.reads_queued = collections.deque()
        self.reads_under_way = 0

    # ------------------------------------------------------------ refusing

    def refuse_version(self, xid):
        """Refuses a Call in an unsupported version; the answer has the same version: A4.2-1."""
        low, high = self.version_range()
        self.put(header.Header(xid, vers=self.version_refused, credit=self.grant(0), proc=header.ERROR,
                               err=header.ERR_VERS, low=low, high=high))

    def refuse_header(self, xid, version, _why):
        """Refuses a Call with an invalid header: A4.2-2."""
        self.put(header.Header(xid, vers=version, credit=self.grant(0), proc=header.ERROR,
                               err=header.ERR_CHUNK))

    def refuse(self, work, why):
        """Refuses a Call that cannot be executed, or whose Reply cannot use chunks."""
        self.works.pop(work.message.xid, None)
        self.refuse_header(work.message.xid, work.message.vers, why)

    # ------------------------------------------------------------ taking a Call

    def take_call(self, message):
        """Handles a Call whose header decodes."""
        work = Work(message)
        why = self.call_flaw(message)
        if why:
            self.refuse(work, why)
            return
        self.works[message.xid] = work
        self.pull(work)

    def pull(self, work):
        """Reads all chunks of a message."""
        for entry in work.message.reads:
            work.chunks.setdefault(entry.position, bytearray())
            self.reads_queued.append((work, entry))
            work.reads += 1
        self.pull_more()
        if not work.reads:
            self.call_is_here(work)

    def call_flaw(self, message):
        """Returns the error of a header that decodes, or None."""
        positions = {entry.position for entry in message.reads}
        chunks = message.reads or message.writes or message.reply
        if chunks and self.connector and not self.takes_reverse_chunks(message):
            return 'a reverse Call with chunks'                             # RFC 8167 section 5.3
        if any('wraps' in fault or 'overlaps' in fault for fault in header.faults(message)):
            return 'segments that no memory has'                            # A4.3-2
        if any(position % 4 for position in positions):
            return 'a read chunk at no XDR position'                        # A3.4-1
        if message.proc == header.NOMSG:
            return None if 0 in positions else 'no chunk at position zero'  # A5.1-2
        if 0 in positions:
            return 'a position-zero chunk beside an RPC message'            # A-D8
        if message.body[:4] != message.xid.to_bytes(4, 'big'):
            return 'two XIDs'
        return None

    def takes_reverse_chunks(self, message):
        """Returns whether a reverse Call may have chunks: X-16."""
        return message.vers == 2 and self.options.reverse_chunks

    def read_depth(self):
        """Returns the limit of concurrent RDMA Reads: A3.3-10."""
        return self.conn.peer.ird or 1

    def pull_more(self):
        """Issues waiting Reads in their order, up to the limit."""
        while self.reads_queued and self.reads_under_way < self.read_depth():
            work, entry = self.reads_queued.popleft()
            self.reads_under_way += 1
            self.conn.read(entry.handle, entry.offset, entry.length,
                           lambda data, work=work, entry=entry: self.pulled(work, entry, data))

    def pulled(self, work, entry, data):
        """Handles a completed Read; Reads complete in the order of their requests."""
        self.reads_under_way -= 1
        work.chunks[entry.position] += data
        work.reads -= 1
        self.pull_more()
        if not work.reads:
            self.call_is_here(work)

    @staticmethod
    def joined(message, pulled):
        """Returns the RPC message with its chunks at their positions."""
        return chunks.joined(message, pulled)

    def call_is_here(self, work):
        """Executes a Call that is complete."""
        call = self.joined(work.message, work.chunks)
        if call is None or len(call) < header.MIN_CALL_BYTES or call[:4] != work.message.xid.to_bytes(4, 'big'):
            self.refuse(work, 'the chunks make no message')
            return
        work.call = call
        self.settled_by_call(work.message)
        if self.misplaced(work):
            self.refuse(work, 'a chunk where no data may be moved')
            return
        reply = self.garbage(work) or self.own_reply(work) or self.answer(call)
        if reply is not None:
            self.reply_is_here(work, reply)

    def misplaced(self, work):
        """Returns whether a Read chunk is at a position that is not DDP-eligible: A3.4-4."""
        places = binding.movable(work.call)
        return places is not None and self.options.strict_chunks and bool(set(work.chunks) - places - {0})

    def garbage(self, work):
        """Returns GARBAGE_ARGS for a payload whose chunk has another length: A3.4-4."""
        place = binding.call_payload(work.call)
        if place is None or place[0] not in work.chunks:
            return None
        length = len(work.chunks[place[0]])
        if length in (place[1], place[1] + -place[1] % 4):
            return None
        return rpc.accepted(work.message.xid, b'', stat=rpc.GARBAGE_ARGS)

    def own_reply(self, _work):
        """Returns the Reply to a Call that this end itself answers, or None."""
        return None

    # ------------------------------------------------------------ answering

    def grant(self, _asked):
        """Returns the credits that each answer grants: A3.3-3."""
        return self.options.credits

    def answered(self, xid, reply):
        """Sends a Reply that was held back."""
        self.reply_is_here(self.works[xid], reply)

    def reply_is_here(self, work, reply):
        """Chooses the form of the Reply, and sends it."""
        message = work.message
        writes, body = self.reduced(work, reply)
        out = header.Header(message.xid, vers=message.vers, credit=self.grant(message.credit),
                            proc=header.MSG, writes=writes, reply=self.unused_reply(message),
                            body=body)
        if len(header.encode(out)) > self.send_limit():
            if not self.into_reply_chunk(message, out):
                self.no_room(work, out)
                return
        self.works.pop(message.xid, None)
        self.put(self.dressed(out, work.call), self.key_to_invalidate(message))

    def dressed(self, message, _call):
        """Returns an inline Call or Reply in the form in which it is sent."""
        return message

    def no_room(self, work, _out):
        """Handles a Reply that fits neither inline nor in a chunk: A5.2-3."""
        self.refuse(work, 'the Reply fits nowhere')

    def unused_reply(self, message):
        """Returns an unused Reply chunk as it is sent back: A5.2-4. The draft does not require that."""
        if message.reply is None or self.in_draft03():
            return None
        return [dataclasses.replace(s, length=0) for s in message.reply]

    def reduced(self, work, reply):
        """Returns the Write list to send back, and the Reply without written data: A3.7-1, -2."""
        message = work.message
        if not message.writes:
            return [], reply
        payload = binding.reply_payload(work.call, reply)
        writes = [[dataclasses.replace(s, length=0) for s in chunk] for chunk in message.writes]
        room = sum(s.length for s in message.writes[0])
        if payload is None or room == 0 or payload[1] > room:
            return writes, reply
        at, size = payload
        writes[0] = self.written(message.writes[0], reply[at:at + size])
        return writes, reply[:at] + reply[at + size + -size % 4:]

    def written(self, segments, data):
        """Writes data into segments in order. Returns them with the written lengths."""
        result = []
        for segment, part in chunks.spread(segments, data):
            if part:
                self.conn.write(segment.handle, segment.offset, part)
            result.append(segment)
        return result

    def into_reply_chunk(self, message, out):
        """Writes the body into the Reply chunk if it fits: A5.2-2."""
        if message.reply is None or sum(s.length for s in message.reply) < len(out.body):
            return False
        out.reply = self.written(message.reply, out.body)
        out.proc, out.body = header.NOMSG, b''
        return True

    def may_invalidate(self, message):
        """Returns whether the peer's keys may be invalidated: C5.1-1, X-6."""
        if message.vers == 2:
            return self.may_invalidate_two()
        return self.options.invalidate and self.peer_data().invalidate

    def key_to_invalidate(self, message):
        """Returns a key of that Call to invalidate, if both ends permit it: C5.1-1."""
        if not self.may_invalidate(message):
            return None
        keys = {s.handle for chunk in message.writes for s in chunk}
        keys |= {s.handle for s in message.reads} | {s.handle for s in message.reply or []}
        return keys.pop() if len(keys) == 1 else None

# SPDX-License-Identifier: BSD-3-Clause
"""An iWARP connection: MPA (RFC 5044, 6581), DDP (RFC 5041), RDMAP (RFC 5040).

It keeps to the documents in what it does by itself (answering Reads, placing Writes, ending with a
Terminate what breaks them), notes everything that came in .events, and sends any bytes when told to.
"""
import collections
import dataclasses
import secrets

from net import stream
from net.events import Ended, Read, Sent, Terminated, Written
from net.startup import Start, Startup
from wire import ddp, mpa

SEND_QUEUE, READ_QUEUE, TERMINATE_QUEUE = 0, 1, 2
FPDU_PAYLOAD = 8192
MOST_SENDS = 2000             # that wait, and how long one may be: nobody comes near who means it
MOST_SEND_BYTES = 1 << 20
NUDGES_S = (0.02, 0.1, 1.0)  # Linux' siw may leave the first FPDU unread until another one comes


@dataclasses.dataclass
class Key:
    """Memory that the peer may use. Offsets count from .to, like addresses of verbs."""
    stag: int
    to: int
    memory: bytearray
    readable: bool
    writable: bool
    dead: bool = False
    written: bytearray = dataclasses.field(init=False)      # 1 for each byte that the peer has written

    def __post_init__(self):
        self.written = bytearray(len(self.memory))

    def covers(self, to, size):
        """Returns whether it contains this range."""
        return self.to <= to and to + size <= self.to + len(self.memory)


class Conn(Startup):
    """One end of an iWARP connection."""

    def __init__(self, loop, sock, initiator, start=None, tap=None, nudge=False):
        self.loop = loop
        super().__init__(initiator, start or Start())
        self.ended = None
        self.terminated = None
        self.events = []
        self.sends = collections.deque()
        self.on_send = None           # takes each Sent; without it they wait in .sends
        self.on_end = None
        self.hold_reads = False       # the peer's Reads wait for answer_reads()
        self.reads_waiting = collections.deque()
        self.reads_most = 0           # of the peer's, under way at once
        self.reads = collections.deque()  # ours, under way
        self.keys = {}
        self.flaws = []               # what the peer did against RDMA's own rules
        self._in = bytearray()
        self._send_in = bytearray()
        self._send_begun = False
        self._msn_out = {SEND_QUEUE: 0, READ_QUEUE: 0, TERMINATE_QUEUE: 0}
        self._msn_in = {SEND_QUEUE: 0, READ_QUEUE: 0, TERMINATE_QUEUE: 0}
        self._nudges = list(NUDGES_S) if nudge else []
        self._heard = False
        self._stream = stream.Stream(loop, sock, self, tap)
        if initiator:
            self._stream.send(self.frame(reply=False))

    # ------------------------------------------------------------ sending

    def raw(self, data):
        """Sends unchanged bytes."""
        self._stream.send(data)

    def fpdu(self, ulpdu, spoil=False):
        """Sends one FPDU, on request with a wrong CRC."""
        self._stream.send(mpa.encode_fpdu(ulpdu, crc=self.crc, spoil=spoil))

    def _segments(self, data, make):
        at = 0
        while True:
            part = bytes(data[at:at + FPDU_PAYLOAD])
            last = at + len(part) >= len(data)
            self.fpdu(ddp.encode(make(at, part, last)))
            at += len(part)
            if last:
                return

    def send(self, data, invalidate=None):
        """Sends a Send, or a Send with Invalidate of one of the peer's keys."""
        opcode = ddp.SEND if invalidate is None else ddp.SEND_INV
        msn = self.next_number(SEND_QUEUE)
        self._segments(data, lambda at, part, last: ddp.Segment(
            False, last, opcode, stag=invalidate or 0, qn=SEND_QUEUE, msn=msn, mo=at,
            payload=part))
        if self._nudges and not self._heard:
            self._nudge_later()

    def next_number(self, queue):
        """Returns the next message number of a queue, and counts it as used."""
        if queue not in self._msn_out:
            return 1
        self._msn_out[queue] += 1
        return self._msn_out[queue]

    def _nudge_later(self):
        def nudge():
            if not self._heard and self.ended is None:
                self.write(0, 0, b'')
                self._nudge_later()
        if self._nudges:
            self.loop.after(self._nudges.pop(0), nudge)

    def write(self, stag, to, data):
        """Sends an RDMA Write."""
        self._segments(data, lambda at, part, last: ddp.Segment(
            True, last, ddp.WRITE, stag=stag, to=(to + at) % 2**64, payload=part))

    def read(self, stag, to, size, done=None):
        """Sends an RDMA Read. done(data) is called when all data have come."""
        read = Read(stag, to, size, sink_stag=secrets.randbits(32), done=done)
        self.reads.append(read)
        msn = self.next_number(READ_QUEUE)
        request = ddp.ReadRequest(read.sink_stag, 0, size, stag, to)
        self.fpdu(ddp.encode(ddp.Segment(
            False, True, ddp.READ_REQUEST, qn=READ_QUEUE, msn=msn, mo=0,
            payload=request.encode())))
        return read

    def terminate(self, layer_type, code):
        """Sends a Terminate, and closes."""
        self._msn_out[TERMINATE_QUEUE] += 1
        self.fpdu(ddp.encode(ddp.Segment(
            False, True, ddp.TERMINATE, qn=TERMINATE_QUEUE, msn=1, mo=0,
            payload=ddp.encode_terminate(layer_type >> 4, layer_type & 15, code))))
        self.close()

    def close(self, reset=False):
        """Closes the connection."""
        if self.ended is None:
            self._stream.close(reset)
            self.ended = 'closed here'

    # ------------------------------------------------------------ memory

    def expose(self, memory, readable=False, writable=False):
        """Exposes bytes, or a number of zero bytes, to the peer. Returns the key."""
        memory = bytearray(memory)
        stag = secrets.randbits(31) << 1 | 1
        key = Key(stag, secrets.randbits(47) << 8, memory, readable, writable)
        self.keys[stag] = key
        return key

    def withdraw(self, key):
        """Invalidates a key; later uses get a Terminate."""
        key.dead = True

    def answer_reads(self, count=None):
        """Answers held Reads: a number of them, or all."""
        while self.reads_waiting and count != 0:
            read = self.reads_waiting.popleft()
            count = None if count is None else count - 1
            if not read.size:               # of no bytes no key is asked: verbs probe a silent peer so
                self._respond(read, b'')
                continue
            key = self._usable(read.stag, read.to, read.size, 'readable')
            if not key:
                return
            begin = read.to - key.to
            self._respond(read, key.memory[begin:begin + read.size])

    def _respond(self, read, data):
        self._segments(data, lambda at, part, last: ddp.Segment(
            True, last, ddp.READ_RESPONSE, stag=read.sink_stag, to=read.sink_to + at,
            payload=part))

    def _usable(self, stag, to, size, right):
        """Returns the key if this use is permitted; otherwise sends a Terminate."""
        key = self.keys.get(stag)
        layer = 0x01 if right == 'readable' else 0x11
        if key is None or key.dead:
            self._flaw(f'uses key {stag:#010x}, which is '
                       + ('dead' if key else 'nobody\'s'), layer, 0x00)
        elif not getattr(key, right):
            self._flaw(f'uses key {stag:#010x}, which is not {right}', 0x01, 0x02)
        elif not key.covers(to, size):
            self._flaw(f'uses {size} bytes at {to:#x} of key {stag:#010x}, which has '
                       f'{len(key.memory)} at {key.to:#x}', layer, 0x01)
        else:
            return key
        return None

    def _flaw(self, text, layer_type=None, code=None):
        self.flaws.append(text)
        if layer_type is not None and self.ended is None:
            self.terminate(layer_type, code)

    # ------------------------------------------------------------ receiving

    def received(self, data):
        """Handles received bytes of the stream."""
        self._in += data
        if self.started:
            self._heard = True
        else:
            self.take_start(self._in)
        if self.started:
            self._take_fpdus()

    def _take_fpdus(self):
        try:
            while self.open and (found := mpa.decode_fpdu(self._in, crc=self.crc)):
                ulpdu, used = found
                del self._in[:used]
                self._take(ddp.decode(ulpdu))
        except mpa.CrcError as error:
            self._flaw(str(error), 0x20, 0x02)
        except ddp.DdpError as error:
            self._flaw(str(error), *(error.terminate or ()))
            self.close()

    def stream_ended(self, why):
        """Handles the end of the stream."""
        self.finish(why)

    def finish(self, why):
        """Reports the end of the connection to its owner."""
        if self.ended is None:
            self._stream.close()
            self.ended = why
            self.events.append(Ended(why))
            if self.on_end:
                self.on_end()

    def _take(self, segment):
        if segment.tagged:
            self._take_tagged(segment)
            return
        queue = segment.qn
        if queue != SEND_QUEUE or not self._send_begun:
            self._msn_in[queue] += 1
        if segment.msn != self._msn_in[queue]:
            self._flaw(f'message {segment.msn} of queue {queue}, not {self._msn_in[queue]}',
                       0x12, 0x03)
        elif segment.mo != (len(self._send_in) if queue == SEND_QUEUE else 0):
            self._flaw(f'a segment at {segment.mo}, not {len(self._send_in)}', 0x12, 0x04)
        else:
            self._take_untagged(segment)

    def _take_untagged(self, segment):
        if segment.opcode == ddp.TERMINATE:
            self.terminated = Terminated(ddp.terminate_text(segment.payload), segment.payload)
            self.events.append(self.terminated)
        elif segment.opcode == ddp.READ_REQUEST:
            self._take_read(ddp.ReadRequest.decode(segment.payload))
        else:
            self._send_in += segment.payload
            if len(self._send_in) > MOST_SEND_BYTES:
                self._flaw(f'a Send of more than {MOST_SEND_BYTES} bytes', 0x12, 0x05)
                return
            self._send_begun = not segment.last
            if segment.last:
                invalidates = segment.opcode in (ddp.SEND_INV, ddp.SEND_SE_INV)
                data, self._send_in = bytes(self._send_in), bytearray()
                self._take_send(Sent(data, segment.stag if invalidates else None))

    def _take_send(self, sent):
        self.events.append(sent)
        if sent.invalidated is not None:
            key = self.keys.get(sent.invalidated)
            if key is None or key.dead:
                self._flaw(f'invalidates key {sent.invalidated:#010x}, which is not alive',
                           0x02, 0x09)
                return
            self.withdraw(key)
        if self.on_send:
            self.on_send(sent)
        elif len(self.sends) < MOST_SENDS:
            self.sends.append(sent)
        else:
            self._flaw(f'more than {MOST_SENDS} Sends that nobody has asked for', 0x12, 0x02)

    def _take_read(self, request):
        read = Read(request.source_stag, request.source_to, request.size,
                    request.sink_stag, request.sink_to)
        self.events.append(read)
        self.reads_waiting.append(read)
        self.reads_most = max(self.reads_most, len(self.reads_waiting))
        if not self.hold_reads:
            self.answer_reads()

    def _take_tagged(self, segment):
        if segment.opcode == ddp.READ_RESPONSE:
            self._take_response(segment)
            return
        self.events.append(Written(segment.stag, segment.to, len(segment.payload)))
        if not segment.payload:
            return
        key = self._usable(segment.stag, segment.to, len(segment.payload), 'writable')
        if key:
            begin = segment.to - key.to
            key.memory[begin:begin + len(segment.payload)] = segment.payload
            key.written[begin:begin + len(segment.payload)] = b'\1' * len(segment.payload)

    def _take_response(self, segment):
        read = self.reads[0] if self.reads else None
        if (read is None or segment.stag != read.sink_stag or segment.to != len(read.data)
                or len(read.data) + len(segment.payload) > read.size):
            self._flaw('a Read Response that fits no Read', 0x11, 0x00)
            return
        read.data += segment.payload
        if segment.last:
            self.reads.popleft()
            if len(read.data) != read.size:
                self._flaw('a Read Response that is too short', 0x11, 0x01)
                return
            read.finished = True
            if read.done:
                read.done(bytes(read.data))

# SPDX-License-Identifier: BSD-3-Clause
"""A connection that passes through the relay: two sockets, the FPDUs between them, and the fault.

What the fault does not touch passes as it came, also where it breaks every rule: scenarios send such things. Sends
that are left out or put in change the message numbers of those behind them.
"""
import dataclasses

from net import stream
from relay.fault import CALL, READ, REPLY, START, WRITE
from wire import ddp, header, mpa

OWN = 0x0e1a1              # the sink of the relay's own Reads
NO_BUFFER = (0x12, 0x02)
FPDU_PAYLOAD = 8192


class _Way:
    """What comes from one end and goes to the other."""

    def __init__(self, link, forward, sock):
        self.link = link
        self.forward = forward          # from the client to the server
        self.stream = stream.Stream(link.loop, sock, self)
        self.other = None
        self._in = bytearray()
        self._started = False
        self._raw = False               # what comes does not decode: from now on all passes
        self._send = bytearray()
        self._msn = 0                   # of the last Send that came
        self._more = 0                  # Sends that were put in, less those that were left out
        self._read_msn = 0              # the same of Read Requests
        self._more_reads = 0

    # ------------------------------------------------------------ what comes

    def received(self, data):
        """Of the stream."""
        self._in += data
        try:
            self._started = self._started or self._take_start()
            while self._started and not self._raw and (found := mpa.decode_fpdu(self._in, self.link.crc)):
                ulpdu, used = found
                whole = bytes(self._in[:used])
                self._take(ddp.decode(ulpdu), whole)
                del self._in[:used]
        except (mpa.MpaError, ddp.DdpError):
            self._raw = True
        if self._raw:
            self.other.stream.send(bytes(self._in))
            self._in.clear()

    def stream_ended(self, _why):
        """Of the stream: the other end learns it."""
        self.other.stream.close()

    def _take_start(self):
        found = mpa.decode_start(self._in)
        if not found:
            return False
        start, used = found
        if start.reply:
            self.link.crc = bool(start.flags & mpa.CRC)
        change = self.link.fault.does.get(START)
        whole = bytes(self._in[:used])
        del self._in[:used]
        if change:
            change(self.link, start)
            whole = mpa.encode_start(start)
        self.other.stream.send(whole)
        return True

    def _take(self, segment, whole):
        does = self.link.fault.does
        if segment.opcode in (ddp.SEND, ddp.SEND_INV) and (CALL in does or REPLY in does):
            self._take_send(segment, whole)
        elif segment.opcode == ddp.WRITE and not self.forward and WRITE in does:
            for passed in self._changed(WRITE, segment):
                self.fpdu(passed)
        elif segment.opcode == ddp.READ_REQUEST and not self.forward and READ in does:
            self._take_read(segment)
        elif segment.opcode == ddp.READ_RESPONSE and self.forward and segment.stag == OWN:
            pass
        else:
            self.other.stream.send(whole)

    def _changed(self, what, passing):
        change = self.link.fault.does.get(what)
        instead = change(self.link, passing) if change else None
        return [passing] if instead is None else instead

    def _take_read(self, segment):
        request = ddp.ReadRequest.decode(segment.payload)
        self._read_msn = segment.msn - 1
        self.link.fault.does[READ](self.link, request)
        self._read_msn += 1
        self.fpdu(dataclasses.replace(segment, msn=segment.msn + self._more_reads, payload=request.encode()))

    def _take_send(self, segment, whole):
        if segment.mo != len(self._send):
            self.other.stream.send(whole)
            return
        self._send += segment.payload
        if not segment.last:
            return
        data, self._send = bytes(self._send), bytearray()
        self.link.invalidate = segment.stag if segment.opcode == ddp.SEND_INV else None
        self._msn = segment.msn
        self._more -= 1
        messages = [data]
        try:
            messages = self._changed(CALL if self.forward else REPLY, header.decode(data))
        except header.HeaderError:
            pass                        # as it came
        for message in messages:
            self.put(message, self.link.invalidate)

    # ------------------------------------------------------------ what goes

    def fpdu(self, segment):
        """One segment goes."""
        self.other.stream.send(mpa.encode_fpdu(ddp.encode(segment), crc=self.link.crc))

    def put(self, message, invalidate=None):
        """A Send goes: what came and passes, or one of the relay's own behind it."""
        data = message if isinstance(message, bytes) else header.encode(message)
        self._more += 1
        opcode = ddp.SEND if invalidate is None else ddp.SEND_INV
        for at in range(0, max(len(data), 1), FPDU_PAYLOAD):
            part = data[at:at + FPDU_PAYLOAD]
            self.fpdu(ddp.Segment(False, at + len(part) >= len(data), opcode, stag=invalidate or 0,
                                  msn=self._msn + self._more, mo=at, payload=part))

    def read(self, request):
        """A Read Request of the relay's own goes behind the last one; nobody gets what it brings."""
        self._more_reads += 1
        self.fpdu(ddp.Segment(False, True, ddp.READ_REQUEST, qn=1, msn=self._read_msn + self._more_reads,
                              payload=dataclasses.replace(request, sink_stag=OWN).encode()))


class Link:
    """One connection; what faults use."""

    def __init__(self, loop, client, server, fault):
        self.loop = loop
        self.fault = fault
        self.crc = True
        self.invalidate = None          # the key that the Send that passes invalidates; faults may set it
        self.calls = {}                 # XID: the Header of a Call without a Reply, where a fault keeps them
        self.kept = []                  # for faults
        self.count = 0
        self.from_client = _Way(self, True, client)
        self.from_server = _Way(self, False, server)
        self.from_client.other, self.from_server.other = self.from_server, self.from_client

    def answer(self, message, invalidate=None):
        """Sends a message to the client behind the last Reply."""
        self.from_server.put(message, invalidate)

    def write(self, segment):
        """Writes to the client's memory."""
        self.from_server.fpdu(segment)

    def read(self, request):
        """Reads the client's memory, for nobody."""
        self.from_server.read(request)

    def end(self):
        """Ends the connection as a server does that has no receive left."""
        self.from_server.fpdu(ddp.Segment(False, True, ddp.TERMINATE, qn=2, msn=1, payload=ddp.encode_terminate(
            NO_BUFFER[0] >> 4, NO_BUFFER[0] & 15, NO_BUFFER[1])))
        self.from_client.stream.close()
        self.from_server.stream.close()

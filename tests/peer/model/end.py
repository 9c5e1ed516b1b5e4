# SPDX-License-Identifier: BSD-3-Clause
"""One end of an RPC-over-RDMA connection: passes received messages to the requester or the responder.

Everything that a scenario may bend is an attribute or a small method of End: what is a Call, what is
granted, how a Reply is carried. Forward Calls are the connector's, reverse Calls the acceptor's; each
end has one calling and one answering side, and so the credits of the two directions stay apart.
"""
import dataclasses

from model.answerer import Answerer
from model.caller import Caller
from model.characteristics import Characteristics
from model.version_two import TWO, VersionTwo
from net.startup import Start
from wire import ccp, header, mpa, private_data, rpc

TOO_LONG = (0x12, 0x05)     # RFC 5041: the message is too long for the receive


@dataclasses.dataclass
class Options:
    """Options of an end, with the names of the daemon's configuration keys."""
    inline_threshold_bytes: int = 4096
    credits: int = 32
    ddp: str = 'none'                # or 'nfs'
    peer: str = 'auto'               # or 'strict': what a connector forgives of its server
    listen_compat: str = 'rfc8166'   # or 'draft03': what it adds to an acceptor
    connect_compat: str = 'rfc8166'
    done_timeout_s: float = 30
    done_policy: str = 'close'       # or 'withdraw': what ends a wait for RDMA_DONE
    padding_align_bytes: int = 0
    padding_threshold_bytes: int = 1024
    config_protocol: bool = False
    config_program: int = ccp.PROGRAM
    invalidate: bool = True          # says that its keys may be invalidated
    reverse_timeout_s: float = 30    # for the answer to a reverse Call
    listen_version: int = 2          # the highest version that an acceptor speaks
    connect_version: int = 1         # the highest that a connector tries
    receive_max_bytes: int = 65536   # what receives may be raised to
    characteristics: bool = True     # INIT_XCHAR and the others are understood
    reverse_chunks: bool = False     # reverse Calls may use chunks
    strict_chunks: bool = True       # read chunks where nothing may be moved are refused


class End(VersionTwo, Characteristics, Caller, Answerer):
    """A conforming end of a connection."""

    def __init__(self, options, answer, memory=None):
        self.conn = None
        self.options = options
        self.answer = answer             # of a Call's bytes: its Reply's, or None to answer later
        self.connector = None
        self.discarded = 0               # Sends that are too short for anything: X-3
        self.dropped = 0                 # Replies and errors for nothing that waits
        Caller.__init__(self)
        Answerer.__init__(self)
        VersionTwo.__init__(self, memory)
        Characteristics.__init__(self)

    @property
    def loop(self):
        """Returns the loop of the connection."""
        return self.conn.loop

    def attach(self, conn):
        """Takes the connection. Calls wait until it is open."""
        self.conn = conn
        self.connector = conn.initiator
        conn.on_send = self.on_send
        conn.on_request = self.requested
        conn.on_open = self.opened
        conn.on_end = self.lost

    def requested(self):
        """Handles the request at the acceptor, which cannot send markers."""
        if self.conn.peer.flags & mpa.MARKERS:
            self.conn.reject()
            return
        self.conn.accept(self.own_start())

    def own_start(self):
        """Returns the parameters of this end's MPA frame."""
        return Start(data=self.own_data())

    def opened(self):
        """Handles the end of the connection setup."""
        self.begin()

    # ------------------------------------------------------------ what the ends told each other

    def own_data(self):
        """Returns the private data that this end sends: RFC 8797 section 4."""
        size = self.options.inline_threshold_bytes
        return private_data.encode(
            private_data.PrivateData(self.options.invalidate, size, size))

    def peer_data(self):
        """Returns the peer's private data, or the defaults: C4.1.1-1."""
        data = self.conn.peer.data if self.conn.peer else b''
        return private_data.decode(data) or private_data.PrivateData(False, 1024, 1024)

    def in_draft03(self):
        """Returns whether this connection has the extras of draft-03; version two has none: E4.2-1."""
        options = self.options
        compat = options.connect_compat if self.connector else options.listen_compat
        return compat == 'draft03' and not self.in_two()

    def send_limit(self):
        """Returns the largest Send that the peer can receive: C5.2-2."""
        if self.in_two():
            return self.send_limit_two()
        return min(self.options.inline_threshold_bytes, self.peer_data().recv_bytes)

    def receive_limit(self):
        """Returns the largest Send that this end can receive."""
        if self.in_two():
            return self.receive_limit_two()
        return min(self.options.inline_threshold_bytes, self.peer_data().send_bytes)

    # ------------------------------------------------------------ what comes

    def on_send(self, sent):
        """Handles a received Send."""
        if self.too_short(sent.data):
            self.discarded += 1
            return
        if not self.fits_receive(len(sent.data)):
            self.conn.terminate(*TOO_LONG)
            return
        self.heard()
        xid, version, _credit, proc = header.decode_fixed(sent.data)
        if proc == header.ERROR:
            self.take_error(sent.data)
        elif self.is_late(xid, version, proc):
            self.dropped += 1
        elif not self.speaks(version):
            if self.may_be_call(sent.data):
                self.version_refused = version
                self.refuse_version(xid)
            else:
                self.bad_reply(xid)
        else:
            self.take_message(xid, version, sent)

    def too_short(self, data):
        """Returns whether it is too short for its message type: D2.4-2, X-3."""
        if len(data) < header.FIXED_BYTES:
            return True
        _xid, version, _credit, proc = header.decode_fixed(data)
        return len(data) < header.min_bytes(version, proc)

    def take_message(self, xid, version, sent):
        """Handles a message in a supported version."""
        if version == TWO:
            self.heard_two()
        try:
            message = header.decode(sent.data)
        except header.HeaderError as error:
            self.take_unusable(sent.data, str(error))
            return
        if message.proc == header.MSG and self.body_too_short(message.body):
            self.discarded += 1
        elif message.proc == header.MSG and message.body and not (
                rpc.is_call(message.body) or rpc.is_reply(message.body)):
            self.take_unusable(sent.data, 'no RPC message')
        elif message.proc == header.OPTIONAL:
            self.take_optional(message)
        elif self.reserved(message):
            if message.proc == header.MSGP and self.waits_for(xid):
                self.bad_reply(xid)
            else:
                self.refuse_header(xid, version, 'reserved')
        elif message.proc == header.MSGP:
            self.take_padded(message)
        elif message.proc == header.DONE:
            self.take_done(message)
        elif self.is_call(message):
            self.take_call(message)
        else:
            self.take_reply(message, sent.invalidated)

    def take_unusable(self, data, why):
        """Handles a message that does not decode, or has no RPC message: A4.2-2, A4.2-3."""
        xid, version, _credit, _proc = header.decode_fixed(data)
        if self.may_be_call(data):
            self.refuse_header(xid, version, why)
        else:
            self.bad_reply(xid)

    @staticmethod
    def body_too_short(body):
        """Returns whether an RPC message is too short for its type: D2.4-2, X-3."""
        if len(body) < 8:
            return True
        return len(body) < (header.MIN_REPLY_BYTES if rpc.is_reply(body) else header.MIN_CALL_BYTES)

    def take_padded(self, message):
        """Handles RDMA_MSGP, which RFC 8166 reserves, as an unknown type: A-D1."""
        if rpc.is_call(message.body):
            self.refuse_header(message.xid, message.vers, 'RDMA_MSGP')
        else:
            self.bad_reply(message.xid)

    def bad_reply(self, xid):
        """Handles an unusable Reply: sends nothing, and fails its Call: X-3."""
        self.dropped += 1
        pending = self.pending.get(xid)
        if pending is None:
            return
        if pending.over:
            self.take_late(pending)
        else:
            self.over(pending, reply=rpc.accepted(xid, stat=rpc.SYSTEM_ERR))

    def waits_for(self, xid):
        """Returns whether a Call of this end with that XID is unanswered."""
        return xid in self.pending

    def take_done(self, _message):
        """Ignores an RDMA_DONE without a Reply: A3.8-2."""
        self.dropped += 1

    def may_be_call(self, data):
        """Returns whether an unusable message counts as a Call: X-3, A4.2-3."""
        xid, version, _credit, _proc = header.decode_fixed(data)
        told = self.says_call(data)
        if told is not None:
            return told
        if self.waits_for(xid):
            return False
        # Of version one only forward messages have chunks.
        return version == TWO or not self.connector

    @staticmethod
    def says_call(data):
        """Returns whether such a message is a Call by its own bytes, or None: D1.3.4-1, X-13."""
        _xid, version, _credit, proc = header.decode_fixed(data)
        if proc == header.DONE:
            return version == TWO
        if proc == header.NOMSG and version == TWO:
            return {0: False, 1: True}.get(int.from_bytes(data[16:20], 'big'))
        kind = int.from_bytes(data[32:36], 'big')
        if proc == header.MSG and not any(data[16:28]) and len(data) >= 36 and kind <= 1:
            return kind == 0
        return None

    def is_call(self, message):
        """Distinguishes Calls from Replies: D1.3.4-1."""
        if message.proc == header.NOMSG:
            return self.is_long_call(message)
        return rpc.is_call(message.body)

    # ------------------------------------------------------------ what goes

    def put(self, message, invalidate=None):
        """Sends one message."""
        self.conn.send(header.encode(message), invalidate)

# SPDX-License-Identifier: BSD-3-Clause
"""RPC-with-TLS (RFC 9289) for test peers: messages of ONC RPC, and a connection that can change to TLS.

It has no source in common with the proxy. TLS is done in memory (ssl.MemoryBIO), so that a peer can send any part of it.
"""
import socket
import ssl
import struct

from time_limit import Limit, receive

LATEST_S = 40  # the answer of a peer comes, on an idle machine: longer than each time limit of the proxy that tests use

CALL, REPLY = 0, 1
AUTH_NONE, AUTH_TLS = 0, 7
NFS, ECHO_PROGRAM = 100003, 0x20000098
ECHO = 1
ALPN = "sunrpc"

AUTH_ERRORS = {1: "AUTH_BADCRED", 2: "AUTH_REJECTEDCRED", 3: "AUTH_BADVERF", 4: "AUTH_REJECTEDVERF", 5: "AUTH_TOOWEAK"}
ACCEPTS = ["SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR"]


class Ended(Exception):
    """The peer has ended the connection; the text says how: end, reset, close_notify, truncated, or alert NAME."""


def u32(*values):
    return struct.pack(">%dI" % len(values), *values)


def opaque(data):
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


def record(message):
    return u32(0x80000000 | len(message)) + message


def call(xid, program, version, procedure, flavour=AUTH_NONE, body=b"", verifier=(AUTH_NONE, b""), args=b""):
    head = u32(xid, CALL, 2, program, version, procedure, flavour) + opaque(body)
    return record(head + u32(verifier[0]) + opaque(verifier[1]) + args)


def reply(xid, status=0, verifier=b"", results=b""):
    return record(u32(xid, REPLY, 0, AUTH_NONE) + opaque(verifier) + u32(status) + results)


def denied(xid, auth_error):
    return record(u32(xid, REPLY, 1, 1, auth_error))


class Call:
    """A Call that was received."""

    def __init__(self, message):
        self.xid, kind, version, self.program, self.version, self.procedure = struct.unpack(">6I", message[:24])
        if kind != CALL or version != 2:
            raise ValueError("not a Call: %s" % message[:24].hex())
        self.flavour, self.body, at = auth(message, 24)
        self.verifier_flavour, self.verifier, at = auth(message, at)
        self.args = message[at:]

    def is_probe(self):
        return (self.flavour, self.procedure, self.body, self.args) == (AUTH_TLS, 0, b"", b"")


def auth(message, at):
    flavour, length = struct.unpack(">2I", message[at : at + 8])
    return flavour, message[at + 8 : at + 8 + length], at + 8 + length + -length % 4


class Reply:
    """A Reply that was received. Its text is the name of its status, with STARTTLS behind it if the verifier is that."""

    def __init__(self, message):
        self.xid, kind, rejected = struct.unpack(">3I", message[:12])
        if kind != REPLY:
            raise ValueError("not a Reply: %s" % message[:24].hex())
        self.results = b""
        if rejected:
            stat, error = struct.unpack(">2I", message[12:20])
            self.text = AUTH_ERRORS.get(error, "AUTH_ERROR %d" % error) if stat == 1 else "RPC_MISMATCH"
            return
        flavour, verifier, at = auth(message, 12)
        self.text = ACCEPTS[struct.unpack(">I", message[at : at + 4])[0]]
        if (flavour, verifier) == (AUTH_NONE, b"STARTTLS"):
            self.text += " STARTTLS"
        elif verifier:
            self.text += " with a verifier"
        self.results = message[at + 4 :]


def reason_of(error):
    """An alert of the peer, or what was wrong with what it sent: in lower case, words joined by "_"."""
    # Newer alerts have no reason, but a text such as "[SSL] tlsv1 alert no application protocol (_ssl.c:1006)".
    name = getattr(error, "reason", None) or str(error).rpartition(" (")[0].rpartition("] ")[2]
    name = name.lower().replace(" ", "_")
    for prefix in ("tlsv13_alert_", "tlsv1_alert_", "sslv3_alert_"):
        if name.startswith(prefix):
            return "alert " + name[len(prefix) :]
    return name


class Wire:
    """A connection of ONC RPC over TCP, in clear or, after start_tls(), by TLS."""

    def __init__(self, stream):
        self.socket, self.tls, self.data = stream, None, b""
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    # -------------------------------------------------------------- bytes of the connection

    def raw(self, data):
        """Sends bytes as they are."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise Ended("reset") from None

    def receive_raw(self, seconds=None):
        try:
            data = receive(self.socket, 262144, Limit(seconds or LATEST_S))
        except ConnectionResetError:
            raise Ended("reset") from None
        if not data:
            raise Ended("end" if self.tls is None else "truncated")
        return data

    # -------------------------------------------------------------- TLS

    def prepare(self, context, name=None, server=False):
        """Makes the TLS state; nothing is sent."""
        self.arrived, self.to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.arrived, self.to_send, server_side=server, server_hostname=name)

    def step(self):
        """One step of the handshake. Returns whether it is complete."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def start_tls(self, context, name=None, server=False, send=None):
        """Does the handshake. @send: sends what it gives, in place of raw()."""
        send = send or self.raw
        self.prepare(context, name, server)
        if self.data:
            self.arrived.write(self.data)
            self.data = b""
        try:
            while not self.step():
                send(self.to_send.read())
                self.arrived.write(self.receive_raw())
        finally:
            self.send_rest()  # also an alert

    def send_rest(self):
        try:
            self.socket.sendall(self.to_send.read())
        except OSError:
            pass  # the peer has gone: whoever reads next learns how

    def write(self, data):
        if self.tls is None:
            self.raw(data)
            return
        view = memoryview(data)
        while len(view):
            view = view[self.tls.write(view) :]
            self.raw(self.to_send.read())

    def read(self):
        """Some bytes, decrypted."""
        while True:
            if self.tls is None:
                return self.receive_raw()
            try:
                data = self.tls.read(262144)
                if self.to_send.pending:  # an answer to a KeyUpdate
                    self.raw(self.to_send.read())
                if not data:
                    raise Ended("close_notify")
                return data
            except ssl.SSLWantReadError:
                self.arrived.write(self.receive_raw())
            except ssl.SSLZeroReturnError:
                raise Ended("close_notify") from None
            except ssl.SSLError as error:
                raise Ended(reason_of(error)) from None

    def notify(self):
        """Sends close_notify."""
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass  # the peer's is not here yet
        self.raw(self.to_send.read())

    # -------------------------------------------------------------- messages

    def exactly(self, count):
        parts, have = [self.data], len(self.data)
        while have < count:
            more = self.read()
            parts.append(more)
            have += len(more)
        data = b"".join(parts)
        self.data = data[count:]
        return data[:count]

    def message(self):
        """The next message, of any number of fragments."""
        message, last = b"", 0
        while not last:
            (mark,) = struct.unpack(">I", self.exactly(4))
            message, last = message + self.exactly(mark & 0x7FFFFFFF), mark & 0x80000000
        return message


def context(server, options):
    """The TLS rules of a peer: cert and key, or none; the authority that the other end must have, or none."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = made.maximum_version = getattr(ssl.TLSVersion, "TLSv1_" + options.version[2:])
    if options.alpn:
        made.set_alpn_protocols([options.alpn])
    if not server:
        made.check_hostname = bool(options.ca)
    made.verify_mode = ssl.CERT_REQUIRED if options.ca else ssl.CERT_NONE
    if options.ca:
        made.load_verify_locations(options.ca)
    if options.cert:
        made.load_cert_chain(options.cert, options.key)
    return made


def add_options(parser):
    parser.add_argument("--ca", help="the authority that must have signed the other end's certificate")
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--alpn", default=ALPN, help="an empty one: none is offered")
    parser.add_argument("--version", default="1.3", choices=["1.2", "1.3"])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A client of RPC-with-TLS that follows a list of steps, also such that a client must not take.

usage: tls_client.py [OPTION...] PORT STEP...

Each step that receives something prints a line: the step, a colon, and what came. A connection that ends early ends the
client with status 1, after "STEP: ended: HOW".

  probe            the probe: a NULL Call with the credential AUTH_TLS; its Reply
  tls              the handshake: version and ALPN, or the alert, or what is wrong with the server
  mount, quick     probe and tls; the same without a line
  null[=P:V]       a NULL Call with AUTH_NONE, to NFSv4 or to that program and version
  echo=BYTES       a Call whose argument comes back, compared
  echoes=N:BYTES   N of these, all sent before the first Reply is read
  bits=BYTES       as echo, each byte of it in a TLS record of its own
  dribble=BYTES    as echo, each byte in a TCP segment of its own
  ask=K:V,…        a NULL Call to NFSv4 with: proc, flavour, body, vflavour, verifier, args (numbers; the last four
                   lengths): its Reply
  nulls=N          N NULL Calls in one segment; their Replies
  held             a NULL Call and the probe in one segment: both Replies, in that order
  probe+=HEX|hello the probe, and these bytes, or a ClientHello, in the same segment
  part=N           the first N bytes of a ClientHello; a negative N leaves out so many at its end
  slow=SECONDS     the handshake, a byte each so many seconds, until the server has enough of it
  hello            a ClientHello in clear, without waiting for anything
  record=N         after the handshake: a record of N bytes that no key has encrypted
  flood=HEX:N      N times these bytes, as they are; ends early without a fault when the server closes
  steady=FILE      echoes of 100 bytes until the file exists: how many, and the longest one in ms
  text=…, hex=…    bytes as they are, in clear also after the handshake
  say=TEXT         prints it
  notify           close_notify
  shut             the end of our stream, without close_notify
  closed           waits for the end: prints HOW, and after how many seconds
  wait=FILE        waits until the file exists
  stay             waits until it is killed
"""
import argparse
import os
import socket
import ssl
import sys
import time

import tls_wire as wire
from time_limit import Limit

XID = 0x7A000000


class Client:
    def __init__(self, options):
        self.options, self.xid = options, XID
        self.context = wire.context(False, options)
        stream = socket.socket()
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        host, _, port = options.source.partition(":")
        stream.bind((host, int(port or 0)))
        stream.connect((options.host, options.port))
        if options.proxy:
            address, _, port = options.proxy.partition(":")
            stream.sendall(b"PROXY TCP4 %s 127.0.0.1 %s 2049\r\n" % (address.encode(), port.encode()))
        self.wire = wire.Wire(stream)

    def next_xid(self):
        self.xid += 1
        return self.xid

    def reply(self):
        """The Reply to the last Call."""
        reply = wire.Reply(self.wire.message())
        if reply.xid != self.xid:
            raise ValueError("a Reply to %x, not to %x" % (reply.xid, self.xid))
        return reply

    def probe_call(self):
        return wire.call(self.next_xid(), wire.NFS, 4, 0, wire.AUTH_TLS)

    def first_flight(self):
        self.wire.prepare(self.context, self.options.name)
        self.wire.step()
        hello = self.wire.to_send.read()
        self.wire.tls = None
        return hello

    # -------------------------------------------------------------- steps

    def probe(self, _):
        self.wire.write(self.probe_call())
        return self.reply().text

    def tls(self, _, send=None):
        try:
            self.wire.start_tls(self.context, self.options.name, send=send)
        except ssl.SSLError as error:
            return "failed: " + wire.reason_of(error)
        return "%s %s" % (self.wire.tls.version(), self.wire.tls.selected_alpn_protocol())

    def mount(self, _):
        return "%s, %s" % (self.probe(None), self.tls(None))

    def quick(self, _):
        found = self.mount(None)
        if found != "SUCCESS STARTTLS, TLSv1.3 sunrpc":
            raise ValueError(found)

    def null(self, what):
        program, version = map(int, (what or "100003:4").split(":"))
        self.wire.write(wire.call(self.next_xid(), program, version, 0))
        return self.reply().text

    def held(self, _):
        self.wire.write(wire.call(self.next_xid(), wire.NFS, 4, 0) + self.probe_call())
        found = sorted((wire.Reply(self.wire.message()) for _ in range(2)), key=lambda reply: reply.xid)
        return " ".join(reply.text for reply in found)

    def nulls(self, count):
        first = self.xid + 1
        self.wire.write(b"".join(wire.call(self.next_xid(), wire.NFS, 4, 0) for _ in range(int(count))))
        found = [wire.Reply(self.wire.message()) for _ in range(int(count))]
        if sorted(reply.xid for reply in found) != list(range(first, self.xid + 1)):
            raise ValueError("not the Replies to these Calls")
        return " ".join(reply.text for reply in found)

    def echo_call(self, size):
        self.sent = os.urandom(size & ~3)
        return wire.call(self.next_xid(), wire.ECHO_PROGRAM, 1, wire.ECHO, args=self.sent)

    def echoed(self):
        reply = self.reply()
        if reply.text == "SUCCESS" and reply.results != self.sent:
            raise ValueError("%d bytes came back, or others than were sent" % len(reply.results))
        return reply.text

    def echo(self, size):
        self.wire.write(self.echo_call(int(size)))
        return self.echoed()

    def echoes(self, what):
        count, size = map(int, what.split(":"))
        sent = {}
        for _ in range(count):
            self.wire.write(self.echo_call(size))
            sent[self.xid] = self.sent
        for _ in range(count):
            reply = wire.Reply(self.wire.message())
            if reply.text != "SUCCESS" or sent.pop(reply.xid) != reply.results:
                raise ValueError("%s, or not what was sent" % reply.text)
        return "SUCCESS"

    def bits(self, size):
        for byte in self.echo_call(int(size)):
            self.wire.write(bytes([byte]))
        return self.echoed()

    def dribble(self, size):
        self.wire.tls.write(self.echo_call(int(size)))
        for byte in self.wire.to_send.read():
            self.wire.raw(bytes([byte]))
        return self.echoed()

    def ask(self, what):
        asked = dict(proc=0, flavour=0, body=0, vflavour=0, verifier=0, args=0)
        for item in what.split(","):
            key, value = item.split(":")
            asked[key] = int(value)
        self.wire.write(
            wire.call(
                self.next_xid(), wire.NFS, 4, asked["proc"], asked["flavour"], b"x" * asked["body"],
                (asked["vflavour"], b"x" * asked["verifier"]), b"x" * asked["args"],
            )
        )
        return self.reply().text

    def probe_and(self, what):
        hello = self.first_flight() if what == "hello" else bytes.fromhex(what)
        self.wire.raw(self.probe_call() + hello)
        return self.reply().text

    def part(self, count):
        self.wire.raw(self.first_flight()[: int(count)])

    def slow(self, seconds):
        def send(data):
            for byte in data:
                self.wire.raw(bytes([byte]))
                self.pause(float(seconds))

        return self.tls(None, send)

    def pause(self, seconds):
        """Also notices at once that the server has ended the connection."""
        self.wire.socket.settimeout(seconds)
        try:
            if not self.wire.socket.recv(1, socket.MSG_PEEK):
                raise wire.Ended("end")
        except TimeoutError:
            pass
        except ConnectionResetError:
            raise wire.Ended("reset") from None
        finally:
            self.wire.socket.settimeout(None)

    def hello(self, _):
        self.wire.raw(self.first_flight())

    def record(self, size):
        self.wire.raw(b"\x17\x03\x03" + int(size).to_bytes(2, "big") + b"x" * int(size))

    def flood(self, what):
        data, count = what.split(":")
        data = bytes.fromhex(data) * 64
        try:
            for _ in range(-(-int(count) // 64)):
                self.wire.raw(data)
        except wire.Ended:
            pass

    def steady(self, path):
        count, longest = 0, 0
        while not os.path.exists(path):
            began = time.monotonic()
            if self.echo(100) != "SUCCESS":
                raise ValueError("after %d" % count)
            count, longest = count + 1, max(longest, time.monotonic() - began)
        return "%d, at most %d ms" % (count, longest * 1000)

    def text(self, data):
        self.wire.raw(data.encode())

    def hex(self, data):
        self.wire.raw(bytes.fromhex(data))

    def say(self, text):
        return text

    def notify(self, _):
        self.wire.notify()

    def shut(self, _):
        self.wire.socket.shutdown(socket.SHUT_WR)

    def closed(self, _):
        began = time.monotonic()
        try:
            while True:
                self.wire.read()
        except wire.Ended as how:
            return "%s after %d s" % (how, time.monotonic() - began)

    def wait(self, path):
        limit = Limit(wire.LATEST_S)
        while not os.path.exists(path):
            if limit.passed():
                raise ValueError("%s is not there" % path)
            self.pause(0.05)

    def stay(self, _):
        while True:
            time.sleep(3600)

    def follow(self, step):
        name, _, value = step.partition("=")
        method = getattr(self, {"probe+": "probe_and"}.get(name, name))
        try:
            found = method(value)
        except wire.Ended as how:
            print("%s: ended: %s" % (name, how), flush=True)
            return False
        if found is not None:
            print("%s: %s" % (name, found) if name != "say" else found, flush=True)
        return True


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    wire.add_options(parser)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--from", dest="source", default="127.0.0.1", help="ADDRESS, or ADDRESS:PORT")
    parser.add_argument("--proxy", help="ADDRESS:PORT of the client, for a PROXY header before everything else")
    parser.add_argument("--name", default="proxy.example", help="that the server's certificate must have")
    parser.add_argument("port", type=int)
    parser.add_argument("steps", nargs="+")
    options = parser.parse_args()
    client = Client(options)
    try:
        return 0 if all(client.follow(step) for step in options.steps) else 1
    except (ValueError, TimeoutError) as error:
        print("wrong: %s" % (error or "nothing came in time"), flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A server of RPC-with-TLS: it answers NULL of any program, and returns the arguments of each Call of ECHO.

usage: tls_server.py [OPTION...] [--kind KIND] PORT

KIND is what it does, in which all but the first two are not what RFC 9289 wants:

  tls         offers TLS, and answers no other Call in clear (the default)
  mismatch    as tls, but the probe's Reply is PROG_MISMATCH: its verifier counts
  plain       an old server: it denies the probe, and answers in clear
  ignores     accepts the probe as any NULL Call, without the verifier
  silent      never answers the probe
  closes      closes the connection when the probe comes
  mute        offers TLS, and then never says anything
  clear       offers TLS, and then sends a Reply in clear
  truncates   ends its stream after the first Reply, without close_notify
  leaves      ends it with close_notify

It prints a line for each event: "probe PROGRAM VERSION", "tls NAME" with the client's certificate or "-", "call N bytes",
"clear Call" and how each connection ended.
"""
import argparse
import socket
import ssl
import sys
import threading

import tls_wire as wire

WAIT_S = 3600  # for the next Call


def say(*what):
    print(*what, flush=True)


class Connection:
    def __init__(self, stream, context, options):
        self.wire, self.context, self.kind = wire.Wire(stream), context, options.kind
        self.mute, self.proxied = options.kind == "mute", options.proxy

    def receive(self):
        return wire.Call(self.wire.message())

    def probed(self, call):
        """Answers the probe. Returns whether the connection goes on."""
        say("probe %d %d" % (call.program, call.version))
        if self.kind == "plain":
            self.wire.write(wire.denied(call.xid, 2))
        elif self.kind == "ignores":
            self.wire.write(wire.reply(call.xid))
        elif self.kind == "closes":
            return False
        elif self.kind == "mismatch":
            self.wire.write(wire.reply(call.xid, 2, b"STARTTLS", wire.u32(2, 3)))
            self.start_tls()
        elif self.kind != "silent":
            self.wire.write(wire.reply(call.xid, 0, b"STARTTLS"))
            if self.kind == "clear":
                self.wire.write(wire.reply(call.xid + 1))
            elif not self.mute:
                self.start_tls()
        if self.kind in ("silent", "mute"):
            while True:
                self.wire.receive_raw(WAIT_S)
        return True

    def start_tls(self):
        self.wire.start_tls(self.context, server=True)
        cert = self.wire.tls.getpeercert() or {}
        names = [value for kind, value in cert.get("subjectAltName", ())]
        say("tls", names[0] if names else "-", self.wire.tls.selected_alpn_protocol())

    def answer(self, call):
        if self.wire.tls is None and self.kind != "plain":
            say("clear Call")
            self.wire.write(wire.denied(call.xid, 5))
            return
        if call.procedure:
            say("call %d bytes" % len(call.args))
        self.wire.write(wire.reply(call.xid, results=call.args if call.procedure else b""))

    def proxy_header(self):
        """Takes a header of version 2 of the PROXY protocol."""
        head = self.wire.exactly(16)
        rest = self.wire.exactly(int.from_bytes(head[14:], "big"))
        named = "%s:%d" % (socket.inet_ntoa(rest[:4]), int.from_bytes(rest[8:10], "big")) if rest else "nobody"
        say("proxy", named)

    def serve(self):
        if self.proxied:
            self.proxy_header()
        while True:
            call = self.receive()
            if call.is_probe() and self.wire.tls is None:
                if not self.probed(call):
                    return "closed it"
                continue
            self.answer(call)
            if self.kind == "leaves":
                self.wire.notify()
            if self.kind in ("truncates", "leaves"):
                self.wire.socket.shutdown(socket.SHUT_WR)

    def run(self):
        wire.LATEST_S = WAIT_S
        try:
            how = self.serve()
        except wire.Ended as ended:
            how = str(ended)
        except ssl.SSLError as error:
            how = "handshake: " + wire.reason_of(error)
        except (ValueError, OSError) as error:
            how = "wrong: %s" % error
        say("ended:", how)
        self.wire.socket.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    wire.add_options(parser)
    parser.add_argument("--proxy", action="store_true", help="each connection begins with a PROXY header")
    parser.add_argument("port", type=int)
    parser.add_argument("--kind", default="tls")
    options = parser.parse_args()
    context = wire.context(True, options) if options.cert else None
    listener = socket.create_server(("127.0.0.1", options.port), backlog=1024)
    while True:
        stream, _ = listener.accept()
        threading.Thread(target=Connection(stream, context, options).run, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())

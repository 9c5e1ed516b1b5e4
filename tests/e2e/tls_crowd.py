#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many clients of RPC-with-TLS at a time, each of them hostile; each of ADDRESSES addresses has an equal share.

usage: tls_crowd.py PORT COUNT ADDRESSES silent|half

silent sends the probe, half also all of a ClientHello but its last 40 bytes. Then neither says anything. It prints "ready"
when all have done so, and "closed COUNT" when the proxy has closed all of them.
"""
import selectors
import socket
import sys

import tls_client
import tls_wire as wire
from time_limit import Limit

LATEST_S = 60


class Options:
    ca = cert = key = None
    alpn, version, name = wire.ALPN, "1.3", "proxy.example"


def half_hello():
    hello = wire.Wire.__new__(wire.Wire)
    hello.prepare(wire.context(False, Options), Options.name)
    hello.step()
    return hello.to_send.read()[:-40]


def connect(port, number, addresses):
    """Like a client that waits for nothing: a connection that is refused later is one that was closed."""
    stream = socket.socket()
    stream.bind(("127.1.%d.%d" % (number % addresses >> 8, number % addresses & 255), 0))
    stream.connect(("127.0.0.1", port))
    return stream


def send(stream, data):
    try:
        stream.sendall(data)
    except OSError:
        pass  # closed already, which is seen when it is read


def wait_closed(streams):
    """Reads from all until each has ended. Returns how many have."""
    selector, closed, limit = selectors.DefaultSelector(), 0, Limit(LATEST_S)
    for stream in streams:
        stream.setblocking(False)
        selector.register(stream, selectors.EVENT_READ)
    while closed < len(streams) and not limit.passed():
        for key, _ in selector.select(0.5):
            try:
                ended = not key.fileobj.recv(65536)
            except ConnectionError:
                ended = True
            if ended:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                closed += 1
    return closed


def main():
    port, count, addresses, kind = sys.argv[1:]
    probe = wire.call(tls_client.XID, wire.NFS, 4, 0, wire.AUTH_TLS)
    rest = half_hello() if kind == "half" else b""
    streams = []
    for number in range(int(count)):
        stream = connect(int(port), number, int(addresses))
        send(stream, probe)
        streams.append(stream)
    for stream in streams:
        send(stream, rest)
    print("ready", flush=True)
    print("closed", wait_closed(streams), flush=True)


main()

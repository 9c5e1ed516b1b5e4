#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A client of NFSv4.1, from a reserved port: it makes a session, and a directory in an export.

usage: session.py HOST PORT EXPORT NAME

Prints "made NAME" and ends with 0; or with 1 and the operation that the server refused, with its status.
"""
import os
import socket
import struct
import sys

from time_limit import Limit, receive

EXCHANGE_ID, CREATE_SESSION, SEQUENCE, PUTROOTFH, LOOKUP, CREATE = 42, 43, 53, 24, 15, 6
NF4DIR = 2
LATEST_S = 20  # a Reply comes, on an idle machine


def u32(*values):
    return struct.pack(">%dI" % len(values), *values)


def opaque(data):
    return u32(len(data)) + data + b"\0" * (-len(data) % 4)


class Refused(Exception):
    pass


class Client:
    def __init__(self, host, port):
        self.xid = int.from_bytes(os.urandom(4), "big")
        self.stream = self.connect(host, port)

    @staticmethod
    def connect(host, port):
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        for own in range(1023, 664, -1):
            stream = socket.socket(family, kind, proto)
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                stream.bind(("", own))
                stream.connect(address)
                return stream
            except OSError as error:
                last = error
                stream.close()
        raise last

    def exactly(self, count):
        data, limit = b"", Limit(LATEST_S)
        while len(data) < count:
            more = receive(self.stream, count - len(data), limit)
            if not more:
                raise OSError("the connection was closed")
            data += more
        return data

    def call(self, body):
        """Makes a Call of NFSv4 COMPOUND with AUTH_SYS, as root. Returns its results."""
        self.xid = (self.xid + 1) & 0xFFFFFFFF
        credential = u32(0) + opaque(b"client") + u32(0, 0, 0)
        record = u32(self.xid, 0, 2, 100003, 4, 1) + u32(1) + opaque(credential) + u32(0, 0) + body
        self.stream.sendall(u32(0x80000000 | len(record)) + record)
        (mark,) = struct.unpack(">I", self.exactly(4))
        reply = self.exactly(mark & 0x7FFFFFFF)
        if reply[:12] != u32(self.xid, 1, 0) or reply[20:24] != u32(0):
            raise OSError("the Call was not accepted: %s" % reply[:24].hex())
        return reply[24:]

    def compound(self, *operations):
        """Makes a COMPOUND. Returns the results of its last operation, without the status."""
        results = self.call(opaque(b"") + u32(1, len(operations)) + b"".join(u32(number) + args for number, args in operations))
        status, tag, count = struct.unpack(">3I", results[:12])
        if status:
            raise Refused("operation %d: status %d" % (operations[count - 1][0], status))
        return results[12 + tag + 8:]


def make(client, export, name):
    owner = u32(0x12345678, client.xid) + opaque(b"session.py %d" % os.getpid()) + u32(0, 0, 0)
    found = client.compound((EXCHANGE_ID, owner))
    client_id, sequence = found[:8], struct.unpack(">I", found[8:12])[0]
    channel = u32(0, 65536, 65536, 4096, 8, 4, 0)
    found = client.compound((CREATE_SESSION, client_id + u32(sequence, 0) + channel + channel + u32(0x40000000, 1, 0)))
    session = found[:16]
    client.compound(
        (SEQUENCE, session + u32(1, 0, 0, 0)),
        (PUTROOTFH, b""),
        (LOOKUP, opaque(export)),
        (CREATE, u32(NF4DIR) + opaque(name) + u32(0, 0)),
    )


def main():
    host, port, export, name = sys.argv[1:]
    try:
        make(Client(host, int(port)), export.encode(), name.encode())
    except (Refused, OSError) as error:
        print(error)
        return 1
    print("made", name)
    return 0


sys.exit(main())

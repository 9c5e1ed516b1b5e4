#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A client and a server with a proxy between them. The server answers a WRITE before it has received all of it.

early_replies.py FRONT BACK tcp|iwarp: the ports of both, and the transport of the server. Status 0 if all was correct.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peer"))

from net import iwarp, stream  # noqa: E402
from net.loop import Loop  # noqa: E402
from nfs import nfs3  # noqa: E402
from wire import header, private_data, record, rpc, xdr  # noqa: E402

HOST = "127.0.0.1"
PATIENCE_S = 20
DATA_BYTES = 1000000
PART_BYTES = 600000  # of the record, before the Reply
SEEN_BYTES = 200000  # of it, that the server waits for
HANDLE = bytes(32)


class End:
    """An end of a TCP connection that sends and receives records, and can send a part of one."""

    def __init__(self, loop, sock):
        self.got, self.ended = bytearray(), None
        self.stream = stream.Stream(loop, sock, self)

    def received(self, data):
        self.got += data

    def stream_ended(self, why):
        self.ended = why

    def messages(self):
        return list(record.Decoder().feed(bytes(self.got)))


def write_call(xid):
    data = bytes(n * 7 % 251 for n in range(1000)) * (DATA_BYTES // 1000)
    return rpc.call(xid, nfs3.PROGRAM, nfs3.VERSION, 7, nfs3.write(HANDLE, 0, data, nfs3.FILE_SYNC),
                    cred=rpc.auth_sys())


def write_reply(xid):
    """Returns NFS3ERR_STALE without attributes, which a server can send as soon as it has the handle."""
    return rpc.accepted(xid, xdr.u32(70) + bytes(8))


def null_call(xid):
    return rpc.call(xid, nfs3.PROGRAM, nfs3.VERSION, 0, b"")


def over_tcp(loop, client, accepted):
    """The Reply reaches the client before it sends the rest, and the server has the whole Call once."""
    call, rest = record.encode(write_call(1)), PART_BYTES
    client.stream.send(call[:rest])
    loop.until(lambda: accepted, "the connection to the server")
    server = End(loop, accepted[0])
    loop.until(lambda: len(server.got) >= SEEN_BYTES, "a part of the Call")
    server.stream.send(record.encode(write_reply(1)))
    loop.until(client.messages, "the early Reply")
    assert client.messages() == [write_reply(1)]
    client.stream.send(call[rest:])
    loop.until(lambda: len(server.got) >= len(call), "the rest of the Call")
    assert bytes(server.got) == call
    client.stream.send(record.encode(null_call(2)))
    loop.until(lambda: len(server.messages()) == 2, "the next Call")
    server.stream.send(record.encode(rpc.accepted(2)))
    loop.until(lambda: len(client.messages()) == 2, "its Reply")
    assert client.messages()[1] == rpc.accepted(2) and not client.ended and not server.ended


def accept(loop, sock):
    conn = iwarp.Conn(loop, sock, False)
    loop.until(lambda: conn.peer, "the MPA request")
    conn.accept(iwarp.Start(data=private_data.encode(private_data.PrivateData(True, 4096, 4096))))
    return conn


def next_send(loop, conn):
    loop.until(lambda: conn.sends or conn.ended, "a Send")
    assert not conn.ended, f"the connection to the server ended: {conn.ended}"
    return header.decode(conn.sends.popleft().data)


def heard(loop, conn):
    """Waits until everything sent before was handled: a Call in an unknown version gets ERR_VERS."""
    conn.send(b"".join(map(xdr.u32, (99, 99, 16, header.MSG, 0, 0, 0))) + null_call(99))
    got = next_send(loop, conn)
    assert (got.xid, got.proc, got.err) == (99, header.ERROR, header.ERR_VERS)


def over_iwarp(loop, client, accepted):
    """The server Reads the Call when it answers. The Reply waits for these Reads, and the connection stays open."""
    call, whole = write_call(1), record.encode(write_call(1))
    client.stream.send(record.encode(null_call(3)))
    loop.until(lambda: accepted, "the connection to the server")
    conn = accept(loop, accepted[0])
    first = next_send(loop, conn)
    conn.send(header.encode(header.Header(first.xid, credit=16, body=rpc.accepted(first.xid))))
    loop.until(client.messages, "the first Reply")
    client.stream.send(whole[:PART_BYTES])
    got = next_send(loop, conn)
    assert got.proc == header.NOMSG and got.reads, header.describe(header.encode(got))
    reads = [conn.read(entry.handle, entry.offset, entry.length) for entry in got.reads]
    conn.send(header.encode(header.Header(1, credit=16, body=write_reply(1))))
    heard(loop, conn)
    assert len(client.messages()) == 1, "the Reply did not wait for the Read"
    client.stream.send(whole[PART_BYTES:])
    loop.until(lambda: conn.ended or all(read.finished for read in reads), "the Reads")
    assert not conn.ended, f"the connection to the server ended: {conn.ended}"
    assert b"".join(bytes(read.data) for read in reads) == call
    loop.until(lambda: len(client.messages()) == 2, "the early Reply")
    assert client.messages()[1] == write_reply(1)
    client.stream.send(record.encode(null_call(2)))
    got = next_send(loop, conn)
    conn.send(header.encode(header.Header(got.xid, credit=16, body=rpc.accepted(got.xid))))
    loop.until(lambda: len(client.messages()) == 3, "the next Reply")
    assert client.messages()[2] == rpc.accepted(2) and not client.ended and not conn.ended


def main():
    front, back, speaks = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    loop, accepted = Loop(PATIENCE_S), []
    listener = stream.Listener(loop, lambda sock, _peer: accepted.append(sock), (HOST, back))
    client = End(loop, stream.connect((HOST, front), PATIENCE_S))
    {"tcp": over_tcp, "iwarp": over_iwarp}[speaks](loop, client, accepted)
    client.stream.close()
    listener.close()
    loop.close()


main()

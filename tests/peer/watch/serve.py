# SPDX-License-Identifier: BSD-3-Clause
"""Serves files to any client and judges it, until a signal."""
import collections
import signal
import socket

from model.end import End, Options
from net import iwarp, stream, tcp
from scene.files import make_server
from watch.rules import ALL_TAGS
from watch.tally import Count, Tally
from watch.observer import Watch
from wire import mpa

CALLS_OF_A_CONNECTION = 400
THRESHOLDS = (4096, 1024, 8192)


class Service:
    """The listener and its connections."""

    def __init__(self, loop, address, mount_port, pcap, tell):
        self.loop = loop
        self.pcap = pcap
        self.tally = Tally(tell)
        self.tell = tell
        self.server, _files = make_server()
        self.watches = []
        self.taken = 0
        self.listener = stream.Listener(loop, self._accepted, address)
        self.mount = tcp.RecordServer(loop, self.server.answer, (address[0], mount_port))

    def _accepted(self, sock, peer):
        tap = self.pcap.tap(sock, False) if self.pcap else None
        threshold = THRESHOLDS[self.taken % len(THRESHOLDS)]
        self.taken += 1
        conn = iwarp.Conn(self.loop, sock, False, tap=tap)
        conn.events = collections.deque(maxlen=0)     # a client stays for long, and nobody asks
        end = End(Options(inline_threshold_bytes=threshold), self.server.answer)
        watch = Watch(end, self.tally)
        conn.on_request = lambda: self._requested(conn, end, watch, peer)
        conn.on_end = lambda: self._flaws(conn)

    def _requested(self, conn, end, watch, peer):
        end.attach(conn)
        watch.start()
        self.watches.append(watch)
        self.tell(f'connection {self.taken} from {peer[0]} port {peer[1]}, inline threshold '
                  f'{end.options.inline_threshold_bytes}')
        flags = mpa.ENHANCED | conn.peer.flags & mpa.CRC
        conn.accept(iwarp.Start(data=end.own_data(), flags=flags))

    def turn(self):
        """Closes a connection between two Calls after some Calls, because the next one has other limits."""
        for watch in list(self.watches):
            if watch.end.conn.ended:
                self._ended(watch)
            elif watch.answered >= CALLS_OF_A_CONNECTION and watch.idle():
                watch.probe(self.loop)
                watch.end.conn.close()
                self._ended(watch)

    def _ended(self, watch):
        self.watches.remove(watch)
        self._flaws(watch.end.conn)
        self.tell(f'a connection has ended: {watch.end.conn.ended}, {watch.answered} Calls')

    def _flaws(self, conn):
        """Reports violations of RDMA rules on a connection."""
        for flaw in conn.flaws:
            self.tally.note('A2-5', flaw)


def mount_line(address, mount_port):
    """Returns the mount command for a Linux client."""
    host, port = address
    six = '6' if ':' in host else ''
    if host in ('0.0.0.0', '::'):
        host = socket.gethostname()
    elif six:
        host = f'[{host}]'
    return (f'mount -t nfs -o vers=3,proto=rdma{six},port={port},mountproto=tcp{six},'
            f'mountport={mount_port},nolock {host}:/export /mnt')


def judge_client(loop, address, mount_port, pcap=None):
    """Serves until SIGINT or SIGTERM, and reports violations immediately. Returns the Counts by tag."""
    ended = []

    def tell(line):
        print(line, flush=True)
    service = Service(loop, address, mount_port or 0, pcap, tell)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.append(True))
    tell(mount_line(service.listener.address, service.mount.address[1]))
    while not ended:
        loop.turn(0.2)
        service.turn()
    return {tag: service.tally.counts.get(tag, Count()) for tag in {*ALL_TAGS, *service.tally.counts}}

# SPDX-License-Identifier: BSD-3-Clause
"""What was sent and received, in a file for Wireshark: the bytes of each connection as TCP segments.

The frames are made up from the streams: addresses, ports and bytes are right, and the order; what TCP itself did
(segments, acknowledgements, retransmissions) is not in them.
"""
import ipaddress
import struct
import time

LINK_RAW = 101
SEGMENT_BYTES = 32768
FIN_ACK, SYN, SYN_ACK, ACK, PUSH_ACK = 0x11, 0x02, 0x12, 0x10, 0x18


class Pcap:
    """The file; tap() returns a Tap for each connection."""

    def __init__(self, path):
        self._file = open(path, 'wb')
        self._file.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 262144, LINK_RAW))

    def tap(self, sock, initiator):
        """Returns a Tap for a connected socket of ours, or None if its peer has closed already."""
        try:
            return Tap(self, sock.getsockname()[:2], sock.getpeername()[:2], initiator)
        except OSError:
            return None

    def frame(self, packet):
        """Writes one packet with the current time."""
        now = time.time_ns()
        self._file.write(struct.pack('<IIII', now // 10**9, now // 1000 % 10**6, len(packet),
                                     len(packet)) + packet)

    def close(self):
        """Completes the file."""
        self._file.close()


class Tap:
    """The packets of one connection."""

    def __init__(self, pcap, here, there, initiator):
        self._pcap = pcap
        self._ends = (here, there)
        self._next = [1, 1]             # the sequence number of each end's next byte
        first, second = (0, 1) if initiator else (1, 0)
        self._segment(first, SYN, b'', (0, 0))
        self._segment(second, SYN_ACK, b'', (0, 1))
        self._segment(first, ACK, b'')

    def sent(self, data):
        """Writes bytes that we sent."""
        self._stream(0, data)

    def received(self, data):
        """Writes bytes that the peer sent."""
        self._stream(1, data)

    def ended(self, here):
        """Writes the close of this end or of the other one."""
        self._segment(0 if here else 1, FIN_ACK, b'')

    def _stream(self, end, data):
        for at in range(0, len(data), SEGMENT_BYTES):
            part = bytes(data[at:at + SEGMENT_BYTES])
            self._segment(end, PUSH_ACK, part)
            self._next[end] += len(part)

    def _segment(self, end, flags, data, numbers=None):
        seq, ack = numbers or (self._next[end], self._next[1 - end])
        source, target = self._ends[end], self._ends[1 - end]
        tcp = struct.pack('>HHIIBBHHH', source[1], target[1], seq & 0xffffffff, ack & 0xffffffff,
                          5 << 4, flags, 65535, 0, 0)
        self._pcap.frame(_ip(source[0], target[0], tcp + data))


def _ip(source, target, payload):
    source, target = ipaddress.ip_address(source), ipaddress.ip_address(target)
    payload = payload[:16] + _checksum(_pseudo(source, target, payload) + payload) + payload[18:]
    if source.version == 6:
        return (struct.pack('>IHBB', 6 << 28, len(payload), 6, 64) + source.packed
                + target.packed + payload)
    head = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(payload), 0, 0, 64, 6, 0)
    addresses = source.packed + target.packed
    return head[:10] + _checksum(head + addresses) + addresses + payload


def _pseudo(source, target, payload):
    return source.packed + target.packed + struct.pack('>HH', 6, len(payload))


def _checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f'>{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack('>H', ~total & 0xffff)

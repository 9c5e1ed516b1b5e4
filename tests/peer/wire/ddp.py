# SPDX-License-Identifier: BSD-3-Clause
"""DDP segments (RFC 5041) and what RDMAP has in them (RFC 5040)."""

import struct
from dataclasses import dataclass

WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE = range(8)

OPCODE_NAMES = ("RDMA Write", "Read Request", "Read Response", "Send", "Send with Invalidate",
                "Send with SE", "Send with SE and Invalidate", "Terminate")
TAGGED = (WRITE, READ_RESPONSE)
TAGGED_BYTES = 14
UNTAGGED_BYTES = 18


class DdpError(ValueError):
    """The bytes are no segment that DDP and RDMAP know; `terminate` is what is said of it.

    That is the first two bytes of a Terminate, or None where no document has any.
    """

    def __init__(self, text, terminate=None):
        super().__init__(text)
        self.terminate = terminate


@dataclass
class Segment:
    """A DDP segment; an untagged one's `stag` is what Send with Invalidate names, else 0."""

    tagged: bool
    last: bool
    opcode: int
    stag: int = 0
    to: int = 0
    qn: int = 0
    msn: int = 0
    mo: int = 0
    payload: bytes = b""
    ddp_version: int = 1
    rdmap_version: int = 1


@dataclass
class ReadRequest:
    """What a Read Request has behind its DDP header."""

    sink_stag: int
    sink_to: int
    size: int
    source_stag: int
    source_to: int

    def encode(self):
        """The payload of the segment."""
        return struct.pack(">IQIIQ", self.sink_stag, self.sink_to, self.size, self.source_stag,
                           self.source_to)

    @classmethod
    def decode(cls, payload):
        """A ReadRequest of the payload of the segment."""
        if len(payload) != 28:
            raise DdpError(f"a Read Request of {len(payload)} bytes")
        return cls(*struct.unpack(">IQIIQ", payload))


def queue_of(opcode):
    """The queue number of an untagged message."""
    return {READ_REQUEST: 1, TERMINATE: 2}.get(opcode, 0)


def encode(segment):
    """The ULPDU of a segment."""
    control = struct.pack(">BB",
                          segment.tagged << 7 | segment.last << 6 | segment.ddp_version & 3,
                          (segment.rdmap_version & 3) << 6 | segment.opcode & 15)
    if segment.tagged:
        where = struct.pack(">IQ", segment.stag, segment.to)
    else:
        where = struct.pack(">IIII", segment.stag, segment.qn, segment.msn, segment.mo)
    return control + where + bytes(segment.payload)


def _check(segment):
    if segment.ddp_version != 1:
        raise DdpError(f"DDP version {segment.ddp_version}",
                       (0x11, 0x04) if segment.tagged else (0x12, 0x06))
    if segment.rdmap_version != 1:
        raise DdpError(f"RDMAP version {segment.rdmap_version}", (0x02, 0x05))
    if segment.opcode > TERMINATE:
        raise DdpError(f"opcode {segment.opcode}", (0x02, 0x06))
    name = OPCODE_NAMES[segment.opcode]
    if segment.tagged != (segment.opcode in TAGGED):
        raise DdpError(f"{name} {'' if segment.tagged else 'un'}tagged", (0x02, 0x06))
    if not segment.tagged and segment.qn != queue_of(segment.opcode):
        raise DdpError(f"{name} on queue {segment.qn}", (0x12, 0x01))


def decode(ulpdu):
    """A Segment of a ULPDU; MSN and MO are for the connection to judge."""
    if len(ulpdu) < 2:
        raise DdpError(f"a segment of {len(ulpdu)} bytes")
    ddp, rdmap = ulpdu[0], ulpdu[1]
    segment = Segment(bool(ddp & 0x80), bool(ddp & 0x40), rdmap & 15, ddp_version=ddp & 3,
                      rdmap_version=rdmap >> 6)
    size = TAGGED_BYTES if segment.tagged else UNTAGGED_BYTES
    if len(ulpdu) < size:
        raise DdpError(f"a segment of {len(ulpdu)} bytes")
    if segment.tagged:
        segment.stag, segment.to = struct.unpack_from(">IQ", ulpdu, 2)
    else:
        segment.stag, segment.qn, segment.msn, segment.mo = struct.unpack_from(">IIII", ulpdu, 2)
    segment.payload = bytes(ulpdu[size:])
    _check(segment)
    return segment


# (layer, type): name, and the names of its codes (RFC 5040 section 4.8, RFC 5044 section 8).
_TERMINATES = {
    (0, 0): ("RDMAP local catastrophic", {0: "local catastrophic error"}),
    (0, 1): ("RDMAP remote protection",
             {0: "invalid STag", 1: "base or bounds violation", 2: "access rights violation",
              3: "STag not of this stream", 4: "TO wrap", 9: "STag cannot be invalidated",
              255: "unspecified"}),
    (0, 2): ("RDMAP remote operation",
             {5: "invalid RDMAP version", 6: "unexpected opcode",
              7: "catastrophic, this stream", 8: "catastrophic, global",
              9: "STag cannot be invalidated", 255: "unspecified"}),
    (1, 0): ("DDP local catastrophic", {0: "local catastrophic error"}),
    (1, 1): ("DDP tagged buffer",
             {0: "invalid STag", 1: "base or bounds violation", 2: "STag not of this stream",
              3: "TO wrap", 4: "invalid DDP version"}),
    (1, 2): ("DDP untagged buffer",
             {1: "invalid QN", 2: "invalid MSN: no buffer", 3: "invalid MSN: out of range",
              4: "invalid MO", 5: "message too long for its buffer",
              6: "invalid DDP version"}),
    (2, 0): ("MPA", {1: "TCP connection lost", 2: "CRC error", 3: "marker and length differ",
                     4: "invalid start-up frame", 5: "local catastrophic error",
                     6: "insufficient IRD", 7: "no matching RTR"}),
}


def encode_terminate(layer, etype, code, bits=0, header=b""):
    """The payload of a Terminate in the order of RFC 5040; `bits` are M 4, D 2, R 1."""
    return struct.pack(">BBBB", layer << 4 | etype, code, bits << 5, 0) + header


def _terminate_words(layer, etype, code):
    if (layer, etype) not in _TERMINATES:
        return None
    name, codes = _TERMINATES[layer, etype]
    return f"{name}: {codes[code]}" if code in codes else None


def _halves_swapped(payload):
    """Whether these are bytes as Linux siw has them, with the halves of each the other way."""
    layer, etype, code = payload[0] >> 4, payload[0] & 15, payload[1]
    return _terminate_words(etype, layer, code) and (
        _terminate_words(layer, etype, code) is None
        or payload[2] & 0x07 and not payload[2] & 0xe0)


def terminate_code(payload):
    """Layer and type in one byte, and the code; None if it is too short to have them."""
    if len(payload) < 4:
        return None
    first = payload[0]
    if _halves_swapped(payload):
        first = (first & 15) << 4 | first >> 4
    return first, payload[1]


def terminate_text(payload):
    """What a Terminate says. Linux siw swaps the halves of a byte, which is shown as such."""
    if len(payload) < 4:
        return f"Terminate of {len(payload)} bytes: {bytes(payload).hex()}"
    layer, etype, code = payload[0] >> 4, payload[0] & 15, payload[1]
    text = _terminate_words(layer, etype, code)
    raw = bytes(payload[:4]).hex()
    if _halves_swapped(payload):
        swapped = _terminate_words(etype, layer, code)
        return f"{swapped} ({etype}/{layer}/{code}; {raw}, halves swapped)"
    return f"{text or 'unknown'} ({layer}/{etype}/{code}; {raw})"

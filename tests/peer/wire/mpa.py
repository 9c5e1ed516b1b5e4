# SPDX-License-Identifier: BSD-3-Clause
"""MPA: start-up frames and FPDUs (RFC 5044), with IRD and ORD as RFC 6581 has them."""

import struct
from dataclasses import dataclass

from wire import crc as checksum

MARKERS = 0x80
CRC = 0x40
REJECT = 0x20
ENHANCED = 0x10

KEY_REQUEST = b"MPA ID Req Frame"
KEY_REPLY = b"MPA ID Rep Frame"
HEADER_BYTES = 20
MAX_PRIVATE_BYTES = 512


class MpaError(ValueError):
    """The bytes are no MPA frame."""


class CrcError(MpaError):
    """An FPDU's CRC is not that of its bytes."""


@dataclass
class Start:
    """A start-up frame. `flags` are sent as they are; with `ird` or `ord` both words are.

    `rtr` has the two bits before each of the words: (A << 1 | B, C << 1 | D).
    """

    reply: bool
    flags: int = 0
    revision: int = 1
    ird: int | None = None
    ord: int | None = None
    rtr: tuple = (0, 0)
    data: bytes = b""


def encode_start(start):
    """A start-up frame."""
    words = b""
    if start.ird is not None or start.ord is not None:
        words = struct.pack(">HH", start.rtr[0] << 14 | (start.ird or 0) & 0x3fff,
                            start.rtr[1] << 14 | (start.ord or 0) & 0x3fff)
    key = KEY_REPLY if start.reply else KEY_REQUEST
    length = len(words) + len(start.data)
    return key + struct.pack(">BBH", start.flags, start.revision, length) + words + start.data


def _is_reply(buf):
    """By as much of the key as there is; None if that does not say it yet."""
    key = bytes(buf[:len(KEY_REQUEST)])
    asks, answers = KEY_REQUEST.startswith(key), KEY_REPLY.startswith(key)
    if not asks and not answers:
        raise MpaError(f"not a start-up frame: {key.hex()}")
    return None if asks and answers else answers


def decode_start(buf):
    """(Start, its length), or None while the frame is not whole."""
    reply = _is_reply(buf)
    if len(buf) < HEADER_BYTES:
        return None
    flags, revision, length = struct.unpack_from(">BBH", buf, len(KEY_REQUEST))
    if length > MAX_PRIVATE_BYTES:
        raise MpaError(f"{length} bytes of private data")
    start = Start(reply, flags, revision)
    words = revision >= 2 and flags & ENHANCED
    if words and length < 4:
        raise MpaError(f"{length} bytes of private data do not hold IRD and ORD")
    if len(buf) < HEADER_BYTES + length:
        return None
    start.data = bytes(buf[HEADER_BYTES:HEADER_BYTES + length])
    if words:
        ird, ord_ = struct.unpack(">HH", start.data[:4])
        start.ird, start.ord = ird & 0x3fff, ord_ & 0x3fff
        start.rtr = (ird >> 14, ord_ >> 14)
        start.data = start.data[4:]
    return start, HEADER_BYTES + length


def encode_fpdu(ulpdu, crc=True, spoil=False):
    """An FPDU; without `crc` its field is zero, with `spoil` it is wrong."""
    if len(ulpdu) > 0xffff:
        raise MpaError(f"a ULPDU of {len(ulpdu)} bytes")
    covered = struct.pack(">H", len(ulpdu)) + bytes(ulpdu) + bytes(-(2 + len(ulpdu)) % 4)
    value = checksum.crc32c(covered) if crc else 0
    return covered + struct.pack("<I", value ^ (1 if spoil else 0))


def decode_fpdu(buf, crc=True):
    """(ULPDU, the FPDU's length), or None while it is not whole."""
    if len(buf) < 2:
        return None
    length = buf[0] << 8 | buf[1]
    end = 2 + length + -(2 + length) % 4
    if len(buf) < end + 4:
        return None
    covered = bytes(buf[:end])
    if crc:
        found, = struct.unpack_from("<I", buf, end)
        expected = checksum.crc32c(covered)
        if found != expected:
            raise CrcError(f"CRC {found:08x} where the bytes have {expected:08x}")
    return covered[2:2 + length], end + 4

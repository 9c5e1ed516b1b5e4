# SPDX-License-Identifier: BSD-3-Clause
"""CRC32C, which iWARP has from iSCSI (RFC 3385).

A byte at a time is slow here, and integers of any length are fast. So most of the message is taken
away first, by adding multiples of the generator G that have few terms:

    G divides F = x^290 + x^136 + x^113 + x^107 + x^32 + 1, hence also F(x^m) for m = 2, 4, 8 ...

and the 290 bits or so that are left go through the table. CRC32C is reflected: read as a
little-endian integer of n bits, a message has x^(n-1) in bit 0.
"""

TERMS = (290, 136, 113, 107, 32, 0)
REFLECTED = 0x82f63b78
LEAST_BYTES = 64


def _entry(value):
    for _ in range(8):
        value = value >> 1 ^ (REFLECTED if value & 1 else 0)
    return value


TABLE = tuple(_entry(byte) for byte in range(256))


def _by_table(data, state):
    for byte in data:
        state = state >> 8 ^ TABLE[(state ^ byte) & 0xff]
    return state


def _reduce(value, bits):
    """A shorter message with the same remainder, as bytes."""
    top, *lower = TERMS
    scale = 1 << (bits // top).bit_length()
    while bits > top:
        if top * scale >= bits:
            scale >>= 1
            continue
        count = min(bits - top * scale, (top - lower[0]) * scale)
        high = value & (1 << count) - 1
        value >>= count
        for term in lower:
            value ^= high << (top - term) * scale - count
        bits -= count
    spare = -bits % 8
    return (value << spare).to_bytes((bits + spare) // 8, "little")


def crc32c(data, crc=0):
    """The CRC32C of the data, or of what had `crc` and the data after it."""
    state = crc ^ 0xffffffff
    if len(data) < LEAST_BYTES:
        return _by_table(data, state) ^ 0xffffffff
    value = int.from_bytes(data, "little") ^ state
    return _by_table(_reduce(value, 8 * len(data)), 0) ^ 0xffffffff

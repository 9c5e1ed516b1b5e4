# SPDX-License-Identifier: BSD-3-Clause
"""The events of an iWARP connection in their order, as in Conn.events."""
import dataclasses


@dataclasses.dataclass
class Sent:
    """A Send of the peer."""
    data: bytes
    invalidated: int = None


@dataclasses.dataclass
class Written:
    """An RDMA Write of the peer, or one segment of it."""
    stag: int
    to: int
    size: int


@dataclasses.dataclass
class Read:
    """An RDMA Read. Our Reads get their data in .data; those of the peer wait while Reads are held."""
    stag: int
    to: int
    size: int
    sink_stag: int = 0
    sink_to: int = 0
    data: bytearray = dataclasses.field(default_factory=bytearray)
    finished: bool = False
    done: object = None


@dataclasses.dataclass
class Terminated:
    """A Terminate of the peer, in words."""
    text: str
    payload: bytes


@dataclasses.dataclass
class Ended:
    """The end of the connection."""
    why: str

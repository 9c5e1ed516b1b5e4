# SPDX-License-Identifier: BSD-3-Clause
"""The setup of an iWARP connection: MPA's frames (RFC 5044 section 7.1, RFC 6581)."""
import dataclasses

from wire import mpa


@dataclasses.dataclass
class Start:
    """The parameters of one end in the setup."""
    data: bytes = b''
    ird: int = 16
    ord: int = 16
    flags: int = mpa.CRC | mpa.ENHANCED
    revision: int = 2
    frame: bytes = None           # instead of the start-up frame that says so


class Startup:
    """The setup of either end, until FPDUs may be sent."""

    def __init__(self, initiator, start):
        self.initiator = initiator
        self.start = start
        self.peer = None              # the mpa.Start of the other end
        self.started = False          # FPDUs may come
        self.crc = False
        self.on_request = None        # of the acceptor: the request is here
        self.on_open = None

    def frame(self, reply, flags=None):
        """Returns the frame of this end."""
        own = self.start
        if own.frame is not None:
            return own.frame
        flags = own.flags if flags is None else flags
        return mpa.encode_start(mpa.Start(
            reply=reply, flags=flags, revision=own.revision, data=own.data,
            ird=own.ird if flags & mpa.ENHANCED else None,
            ord=own.ord if flags & mpa.ENHANCED else None))

    def take_start(self, came):
        """Takes the peer's frame from the beginning of the received bytes, if it is complete."""
        try:
            if self.peer:
                raise mpa.MpaError(f'{len(came)} bytes before the reply')
            if found := mpa.decode_start(came):
                self.peer, used = found
                del came[:used]
                self._take_reply() if self.initiator else self.take_request(came)
        except mpa.MpaError as error:
            self.bad_start(error)

    def take_request(self, behind):
        """Handles a complete request; no bytes may follow it (RFC 5044 7.1.2)."""
        if self.peer.reply:
            raise mpa.MpaError('a reply instead of a request')
        if behind:
            raise mpa.MpaError(f'{len(behind)} bytes before the reply')
        if self.on_request:
            self.on_request()

    def _take_reply(self):
        if not self.peer.reply:
            raise mpa.MpaError('a request instead of a reply')
        if self.peer.flags & mpa.MARKERS:
            raise mpa.MpaError('the acceptor wants markers')
        if self.peer.flags & mpa.REJECT:
            self.finish('rejected')
            return
        self.crc = bool(self.peer.flags & mpa.CRC)
        self.opens()

    def bad_start(self, error):
        """Closes the connection without an answer: the bytes are no startup frame, or too many."""
        self.flaws.append(str(error))
        self.finish(f'closed here: {error}')

    def opens(self):
        """Ends the setup after both frames."""
        self.started = True
        if self.on_open:
            self.on_open()

    @property
    def open(self):
        """Returns whether both ends have sent their frames, and the connection is open."""
        return self.peer is not None and self.ended is None

    def accept(self, start=None):
        """Answers the request, at the acceptor."""
        if start:
            self.start = start
        flags = self.start.flags
        if self.start.revision == 2 and not self.peer.flags & mpa.ENHANCED:
            flags &= ~mpa.ENHANCED
        if self.peer.revision < self.start.revision:
            self.start = dataclasses.replace(self.start, revision=self.peer.revision)
        if flags & mpa.ENHANCED and self.start.ord > self.peer.ird:
            self.start = dataclasses.replace(self.start, ord=self.peer.ird)
        self.crc = bool(flags & mpa.CRC)
        self.raw(self.frame(reply=True, flags=flags))
        self.opens()

    def reject(self):
        """Rejects the request, at the acceptor."""
        self.raw(self.frame(reply=True, flags=self.start.flags | mpa.REJECT))
        self.close()

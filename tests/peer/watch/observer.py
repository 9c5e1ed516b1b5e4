# SPDX-License-Identifier: BSD-3-Clause
"""Follows one connection of a client: its messages, and the answers of the peer, which is its server.

Under small grants each Reply waits for a moment. Else the peer answers each Call before it reads the next, and a
client that sends more Calls than it may is never seen to have more of them in flight.
"""
import collections
import dataclasses
import itertools

from net.loop import Late
from watch import rules
from wire import header

GRANTS = (1, 2, 32, 3, 8, 16)
CALLS_OF_A_GRANT = 24
HELD_UP_TO = 3      # the largest grant under which Replies wait
HELD_S = 0.03       # in which a Call comes that is sent right behind the one before


class Grants:
    """The grants that a client may use: the last one that it has certainly received, or a later one."""

    def __init__(self):
        self._surely = 1            # until the first Reply: RFC 8166 section 3.3.3
        self._later = collections.deque()   # [grant, how many Calls may still come that left before it]

    def limit(self):
        """Returns the largest grant that the client may use."""
        return max([self._surely, *(grant for grant, _calls in self._later)])

    def refused(self, grant):
        """Handles a sent error, whose grant the client may use or ignore."""
        self._later.append([grant, 1 << 32])

    def sent(self, grant, waiting):
        """A Reply with that grant leaves, and so many Calls wait for theirs.

        The client counts the Call of this Reply and those that wait as in flight. What it has sent beside them and
        not seen answered is no more than what the limit leaves.
        """
        self._later.append([grant, max(0, self.limit() - 1 - waiting)])

    def call(self):
        """Handles a received Call. After all Calls that may have been sent earlier, the client has the grant."""
        seen = [number for number, (_grant, calls) in enumerate(self._later, 1) if not calls]
        for _ in range(seen[-1] if seen else 0):
            self._surely, _calls = self._later.popleft()
        for later in self._later:
            later[1] -= 1


@dataclasses.dataclass
class Seen:
    """A Send of the client."""
    data: bytes
    header: object = None
    why: str = ''


class Watch:
    """An observer between one connection and the End that serves it."""

    def __init__(self, end, tally):
        self.end = end
        self.tally = tally
        self.calls = {}            # XID: its Work's message
        self.answered = 0
        self.lent = None           # a read segment of a Call that has been answered
        self._grants = Grants()
        self._to_grant = itertools.cycle(GRANTS)
        self._granted = next(self._to_grant)
        self._judged = 0           # Calls that came while this grant alone was in force
        end.grant = lambda asked: self._granted
        end.unused_reply = self._unused_reply
        self._tap(end)

    def start(self):
        """Handles the MPA request."""
        for tag, rule in rules.ON_START:
            self.tally.note(tag, rule(self, self.end.conn.peer))

    def limit(self):
        """Returns the largest grant that the client may use: the last Reply may still be in flight."""
        return self._grants.limit()

    # ------------------------------------------------------------ between

    def _tap(self, end):
        on_send, put, here, refuse = end.on_send, end.put, end.call_is_here, end.refuse
        no_room, answer = end.no_room, end.reply_is_here

        def came(sent):
            self._came(Seen(sent.data))
            on_send(sent)

        def goes(message, invalidate=None):
            self._goes(message)
            put(message, invalidate)

        def whole(work):
            here(work)
            rules.what_is_moved(self, work)
            self.tally.note('A2-1', True if work.message.reads else None)

        def refused(work, why):
            self.tally.note('A4.2-2', why, header.encode(work.message))
            refuse(work, why)

        def answered(work, reply):
            if self.limit() > HELD_UP_TO:
                answer(work, reply)
                return
            end.loop.after(HELD_S, lambda: self._was_held(lambda: answer(work, reply)))

        def too_large(work, out):
            self.tally.note('A5.2-5', f'no room for a Reply of {len(out.body)} bytes',
                            header.encode(work.message))
            no_room(work, out)
        end.put, end.call_is_here = goes, whole
        end.refuse, end.no_room, end.reply_is_here = refused, too_large, answered
        end.on_send = came

    def _came(self, seen):
        try:
            seen.header = header.decode(seen.data)
        except header.HeaderError as error:
            seen.why = str(error)
        for tag, rule in rules.ON_SEND:
            self.tally.note(tag, rule(self, seen), seen.data)
        if seen.header and seen.header.proc in (header.MSG, header.NOMSG) and \
                self.end.is_call(seen.header):
            self._grants.call()
            for tag, rule in rules.ON_CALL:
                self.tally.note(tag, rule(self, seen), seen.data)
            self.calls[seen.header.xid] = seen.header
            self._next_grant()

    def _next_grant(self):
        """Changes the grant after several Calls."""
        self._judged += self.limit() == self._granted
        if self._judged >= CALLS_OF_A_GRANT:
            self._judged, self._granted = 0, next(self._to_grant)

    def _was_held(self, answer):
        """Handles a delayed Reply: with all credits in use, no other Call may have come."""
        if self.end.conn.ended:
            return
        if len(self.calls) == self.limit():
            self.tally.note('A3.3-4', True)
        answer()

    def _goes(self, message):
        call = self.calls.pop(message.xid, None)
        if call is None:
            return
        if message.proc == header.ERROR:
            self._grants.refused(message.credit)
            return
        self.answered += 1
        self._grants.sent(message.credit, len(self.calls))
        if call.reads:
            self.lent = call.reads[0]
        if message.proc == header.NOMSG:
            self.tally.note('A5.2-5', True)

    def _unused_reply(self, message):
        """Returns unused chunks in alternate forms: with lengths of zero, or omitted as by old servers."""
        if message.reply is None or self.answered % 2:
            return None
        return [dataclasses.replace(segment, length=0) for segment in message.reply]

    # ------------------------------------------------------------ its end

    def idle(self):
        """Returns whether nothing is in flight."""
        return not self.calls and not self.end.works

    def probe(self, loop):
        """Checks whether the memory of an earlier Call was invalidated; this closes the connection."""
        if self.lent is None or self.end.conn.ended:
            return
        self.end.conn.read(self.lent.handle, self.lent.offset, min(4, self.lent.length))
        conn = self.end.conn
        try:
            loop.until(lambda: conn.ended or not conn.reads, 'the end of a Read')
            held = True if conn.ended else 'can be read after the Reply'
        except Late:
            held = 'is neither read after the Reply nor refused'
        self.tally.note('A7-2', held if held is True else f'key {self.lent.handle:#010x} {held}')

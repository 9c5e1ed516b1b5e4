# SPDX-License-Identifier: BSD-3-Clause
"""Follows one connection of a client: what it sends, and what the peer, as its server, answered."""
import dataclasses
import itertools

from net.loop import Late
from watch import rules
from wire import header

GRANTS = (32, 1, 2, 8, 3, 16)
CALLS_OF_A_GRANT = 24


@dataclasses.dataclass
class Seen:
    """A Send of the client."""
    data: bytes
    header: object = None
    why: str = ''


class Watch:
    """One connection; put between it and the End that serves it."""

    def __init__(self, end, tally):
        self.end = end
        self.tally = tally
        self.calls = {}            # XID: its Work's message
        self.answered = 0
        self.lent = None           # a read segment of a Call that has been answered
        self._grants = [1]         # those that may be in force: the last one surely, or an earlier one
        self._grant = itertools.chain.from_iterable(
            itertools.repeat(grant, CALLS_OF_A_GRANT) for grant in itertools.cycle(GRANTS))
        end.grant = lambda asked: next(self._grant)
        end.unused_reply = self._unused_reply
        self._tap(end)

    def start(self):
        """The MPA request is here."""
        for tag, rule in rules.ON_START:
            self.tally.note(tag, rule(self, self.end.conn.peer))

    def limit(self):
        """The largest grant that the client may go by: it may not have seen the last Reply yet."""
        return max(self._grants)

    # ------------------------------------------------------------ between

    def _tap(self, end):
        on_send, put, here, refuse = end.on_send, end.put, end.call_is_here, end.refuse
        no_room = end.no_room

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

        def too_large(work, out):
            self.tally.note('A5.2-5', f'no room for a Reply of {len(out.body)} bytes',
                            header.encode(work.message))
            no_room(work, out)
        end.put, end.call_is_here = goes, whole
        end.refuse, end.no_room = refused, too_large
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
            for tag, rule in rules.ON_CALL:
                self.tally.note(tag, rule(self, seen), seen.data)
            self.calls[seen.header.xid] = seen.header
            self._grants_seen()

    def _grants_seen(self):
        """As few Calls wait as the last grant allows: from now on an earlier one is no excuse."""
        if len(self.calls) <= self._grants[-1]:
            del self._grants[:-1]

    def _goes(self, message):
        call = self.calls.pop(message.xid, None)
        if call is None or message.proc == header.ERROR:
            return
        self.answered += 1
        self._grants.append(message.credit)
        if call.reads:
            self.lent = call.reads[0]
        if message.proc == header.NOMSG:
            self.tally.note('A5.2-5', True)

    def _unused_reply(self, message):
        """A client takes either way: with lengths of zero, or left out as old servers do."""
        if message.reply is None or self.answered % 2:
            return None
        return [dataclasses.replace(segment, length=0) for segment in message.reply]

    # ------------------------------------------------------------ its end

    def idle(self):
        """Nothing is under way."""
        return not self.calls and not self.end.works

    def probe(self, loop):
        """Whether memory that a Call lent is the client's own again: ends the connection."""
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

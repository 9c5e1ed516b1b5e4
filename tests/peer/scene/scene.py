# SPDX-License-Identifier: BSD-3-Clause
"""The argument `t` of a scenario: its connections, its Calls, and functions that report failures."""
from net import iwarp
from nfs import nfs3, tree
from nfs.server import HOLD
from scene.files import Files
from scene.client_session import Hand, is_rpc_error, new_xid
from scene.parts import data_of
from scene.scenario import Unfit, Wrong
from scene.trace import Trace
from wire import header, mpa, private_data, rpc, xdr

INLINE = 4096
ECHO, ECHO_VERS = 0x20000099, 1


class Scene:
    """One run of one scenario."""

    def __init__(self, loop, play, files, rfc=False):
        self.rfc = rfc          # where a draft and its RFC differ, only what the RFC has is right
        self.loop = loop
        self.play = play
        self.files = files
        self.trace = Trace()

    # ------------------------------------------------------------ verdicts

    @staticmethod
    def hold(condition, text):
        """Raises Wrong unless the condition holds."""
        if not condition:
            raise Wrong(text)

    def settle(self, condition, text, seconds=None):
        """Waits until a condition holds; raises Wrong if it does not in time."""
        self.loop.until(condition, text, seconds)

    # ------------------------------------------------------------ connections

    @staticmethod
    def start(data=None, send=INLINE, recv=INLINE, invalidate=True, **more):
        """Returns the MPA parameters of this end; data replaces the private data."""
        if data is None:
            data = private_data.encode(private_data.PrivateData(invalidate, send, recv))
        return iwarp.Start(data=data, **more)

    def connect(self, **start):
        """Connects to the responder. Returns the Hand of an open connection."""
        hand = self.connect_raw(**start)
        self.settle(lambda: hand.conn.open or hand.conn.ended, 'the connection to open')
        self.hold(hand.conn.open, f'the connection is refused: {hand.conn.ended}')
        return hand

    def connect_raw(self, **start):
        """Connects without waiting for the answer."""
        return Hand(self.play.connect(self.start(**start)), self.trace)

    def accept(self, **start):
        """Accepts the next connection of the requester."""
        def accept_next():
            conn = self.requested()
            conn.accept(self.start(**start))
            return conn
        return Hand(accept_next(), self.trace, accept_next)

    def hand(self, conn):
        """Returns the Hand of a connection."""
        return Hand(conn, self.trace)

    def requested(self):
        """Returns the next connection of the requester, after its MPA request."""
        self.settle(lambda: self.play.accepted, 'a connection of the requester')
        conn = self.play.accepted.popleft()
        self.settle(lambda: conn.peer or conn.ended, 'the MPA request')
        self.hold(conn.peer, 'the requester leaves before its MPA request')
        self.hold(conn.peer.flags & mpa.MARKERS == 0, 'the requester asks for markers')
        return conn

    # ------------------------------------------------------------ the other end's far side

    @property
    def server(self):
        """Returns the server that executes the Calls of a responder."""
        return self.play.server

    def have_called(self, call):
        """Makes the requester send a Call. The result finally has .reply."""
        return self.play.call(call)

    def called(self, call, **start):
        """Makes the requester call, and accepts its connection. Returns (the Call, the Hand, the first Send)."""
        asked = self.have_called(call)
        hand = self.accept(**start)
        return asked, hand, hand.next('the Call')

    def working(self, credit=16, **start):
        """Returns a connection of the requester with an answered first Call, so that it has credits."""
        asked, hand, got = self.called(self.null(), **start)
        hand.answer_null(got, credit)
        self.answered(asked)
        return hand

    def next_called(self, hand, call):
        """Makes the requester call on an open connection. Returns (the Call, the Send)."""
        asked = self.have_called(call)
        return asked, hand.next('the Call')

    def goes_on(self, hand, what):
        """Checks that the requester sends two more Calls, which are answered, and nothing else.

        With the second it has dealt with all that was sent before the first. False if it ends the
        connection instead.
        """
        for _time in range(2):
            after = self.have_called(self.null())
            self.settle(lambda: hand.conn.sends or hand.conn.ended, 'the next Call')
            if hand.conn.ended:
                return False
            got = hand.next()
            self.hold(got.header.proc == header.MSG and got.body == after.call,
                      f'the requester says of {what}: {header.describe(got.data)}')
            hand.answer_null(got)
            self.settle(lambda after=after: after.over or hand.conn.ended, 'the next Reply')
        return not hand.conn.ended

    def only_calls_follow(self, hand):
        """Checks that the requester continues as if no message had come."""
        self.hold(self.goes_on(hand, 'what was sent'), 'the requester ends the connection')

    def not_delivered(self, hand, asked, what):
        """Checks that a bad answer causes no message, and that the caller gets an RPC error or nothing."""
        self.goes_on(hand, what)
        self.hold(asked.reply is None or is_rpc_error(asked.reply), f'{what} reaches the caller')

    def refused_by_caller(self, hand, asked, what):
        """Checks that the Call has ended without a result."""
        self.settle(lambda: asked.over or hand.conn.ended, f'the end of a Call after {what}')
        self.hold(asked.reply is None or is_rpc_error(asked.reply), f'{what} counts as a result')

    def still_writable(self, hand, segment):
        """Returns whether a requester's memory can be written; if not, the connection closes."""
        hand.conn.write(segment.handle, segment.offset, b'late')
        return self.goes_on(hand, 'an RDMA Write')

    def answered(self, asked, what='the Reply at the other side'):
        """Waits until the requester's caller has an answer. Returns its bytes."""
        self.settle(lambda: asked.over, what)
        self.hold(asked.reply is not None, f'{what} does not come')
        return asked.reply

    def hang_up(self, hand):
        """Closes a connection of the requester, and waits until the requester has noticed."""
        hand.conn.close()
        self.gone()

    def gone(self):
        """Waits until the requester has no connection."""
        self.settle(lambda: self.play.gone, 'the requester to see the end of its connection')

    def hold_back(self):
        """Makes the server behind the other end hold its Calls. Returns their growing list."""
        held = []

        def before(call):
            held.append(call)
            return HOLD
        self.server.before = before
        return held

    def let_go(self, call):
        """Makes the server answer a held Call."""
        self.play.answer(call.xid, self.server.execute(call))

    def have_called_back(self, call):
        """Makes the acceptor send a reverse Call."""
        return self.play.reverse(call)

    @property
    def pace(self):
        """Returns the factor for times in this scenario's keys on a slow machine."""
        return self.play.pace

    # ------------------------------------------------------------ Calls

    def null(self):
        """Returns a NULL Call of NFS, which has the shortest Reply."""
        return self.files.null()

    def nfs(self, proc, args):
        """Returns a Call of NFSv3."""
        if self.files.version != nfs3.VERSION:
            raise Unfit('it asks in NFSv3')
        return Files.nfs(proc, args)

    def read(self, count, offset=0):
        """Returns a READ of the pattern file."""
        return self.files.read(self.files.data, offset, count)

    @staticmethod
    def pattern(size, offset=0):
        """Returns the bytes of the pattern file."""
        return tree.pattern(offset, size)

    def write(self, data, offset=0):
        """Returns a stable WRITE to the scratch file."""
        return self.files.write(offset, data)

    def written(self, hand, count):
        """Returns the beginning of the scratch file, read inline, or in pieces if it is long."""
        most, data = 512, b''       # fits what every end sends: RFC 8166 section 3.3.3
        while len(data) < count:
            call = self.files.read(self.files.scratch, len(data), min(most, count - len(data)))
            part = data_of(call, hand.ask(call).body)
            self.hold(part, 'the scratch file is shorter than what was written')
            data += part
        return data

    def readdir(self, count):
        """Returns a READDIR of the large directory from its beginning."""
        return self.files.readdir(count)

    @staticmethod
    def echo(data, size=None):
        """Returns a Call of a program without a ULB. Its Reply has the data, or a given number of bytes."""
        if size is None:
            return rpc.call(new_xid(), ECHO, ECHO_VERS, 1, xdr.var(data))
        return rpc.call(new_xid(), ECHO, ECHO_VERS, 2, xdr.u32(size) + xdr.var(data))

# SPDX-License-Identifier: BSD-3-Clause
"""What a scenario is given: `t`, its connections, its Calls, and the means to say what is wrong."""
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
        """Wrong unless the condition holds."""
        if not condition:
            raise Wrong(text)

    def settle(self, condition, text, seconds=None):
        """Waits for a condition that must come true."""
        self.loop.until(condition, text, seconds)

    # ------------------------------------------------------------ connections

    @staticmethod
    def start(data=None, send=INLINE, recv=INLINE, invalidate=True, **more):
        """What this end says of itself; data: other private data than these."""
        if data is None:
            data = private_data.encode(private_data.PrivateData(invalidate, send, recv))
        return iwarp.Start(data=data, **more)

    def connect(self, **start):
        """Connects to the responder; returns the Hand of an open connection."""
        hand = self.connect_raw(**start)
        self.settle(lambda: hand.conn.open or hand.conn.ended, 'the connection to open')
        self.hold(hand.conn.open, f'the connection is refused: {hand.conn.ended}')
        return hand

    def connect_raw(self, **start):
        """The same, without waiting for the answer."""
        return Hand(self.play.connect(self.start(**start)), self.trace)

    def accept(self, **start):
        """Takes the next connection of the requester."""
        def accept_next():
            conn = self.requested()
            conn.accept(self.start(**start))
            return conn
        return Hand(accept_next(), self.trace, accept_next)

    def hand(self, conn):
        """A connection in the hand of the scenario."""
        return Hand(conn, self.trace)

    def requested(self):
        """The next connection of the requester, whose MPA request has come."""
        self.settle(lambda: self.play.accepted, 'a connection of the requester')
        conn = self.play.accepted.popleft()
        self.settle(lambda: conn.peer or conn.ended, 'the MPA request')
        self.hold(conn.peer, 'the requester leaves before its MPA request')
        self.hold(conn.peer.flags & mpa.MARKERS == 0, 'the requester asks for markers')
        return conn

    # ------------------------------------------------------------ the other end's far side

    @property
    def server(self):
        """What executes the Calls of a responder."""
        return self.play.server

    def have_called(self, call):
        """Has the requester make a Call; .reply in the end."""
        return self.play.call(call)

    def called(self, call, **start):
        """Has the requester call, takes its connection; (what was asked, the Hand, the first Send)."""
        asked = self.have_called(call)
        hand = self.accept(**start)
        return asked, hand, hand.next('the Call')

    def working(self, credit=16, **start):
        """A connection of the requester on which a first Call was answered: credits are there."""
        asked, hand, got = self.called(self.null(), **start)
        hand.answer_null(got, credit)
        self.answered(asked)
        return hand

    def next_called(self, hand, call):
        """Has the requester call on a connection that is there: (what was asked, the Send)."""
        asked = self.have_called(call)
        return asked, hand.next('the Call')

    def goes_on(self, hand, what):
        """Two more Calls of the requester come and are answered, and it says nothing else.

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
        """The requester goes on as if nothing had come."""
        self.hold(self.goes_on(hand, 'what was sent'), 'the requester ends the connection')

    def not_delivered(self, hand, asked, what):
        """Nothing is said of a bad answer, and the caller gets an error of RPC or nothing."""
        self.goes_on(hand, what)
        self.hold(asked.reply is None or is_rpc_error(asked.reply), f'{what} reaches the caller')

    def refused_by_caller(self, hand, asked, what):
        """The Call is over at its caller, without a result."""
        self.settle(lambda: asked.over or hand.conn.ended, f'the end of a Call after {what}')
        self.hold(asked.reply is None or is_rpc_error(asked.reply), f'{what} counts as a result')

    def still_writable(self, hand, segment):
        """Whether a requester's memory can be written; if not, the connection ends."""
        hand.conn.write(segment.handle, segment.offset, b'late')
        return self.goes_on(hand, 'an RDMA Write')

    def answered(self, asked, what='the Reply at the other side'):
        """Waits until the requester's own caller has an answer; its bytes."""
        self.settle(lambda: asked.over, what)
        self.hold(asked.reply is not None, f'{what} does not come')
        return asked.reply

    def hang_up(self, hand):
        """Ends a connection of the requester, and waits until it has seen that."""
        hand.conn.close()
        self.gone()

    def gone(self):
        """Waits until the requester has no connection any more."""
        self.settle(lambda: self.play.gone, 'the requester to see the end of its connection')

    def hold_back(self):
        """Has the other end's far side keep the Calls that reach it; their list, which grows."""
        held = []

        def before(call):
            held.append(call)
            return HOLD
        self.server.before = before
        return held

    def let_go(self, call):
        """Has a Call that was held back answered."""
        self.play.answer(call.xid, self.server.execute(call))

    def have_called_back(self, call):
        """Has the acceptor make a reverse Call."""
        return self.play.reverse(call)

    @property
    def pace(self):
        """What the seconds of this scenario's keys are multiplied by, on a slow machine."""
        return self.play.pace

    # ------------------------------------------------------------ Calls

    def null(self):
        """A NULL Call of NFS, which has the shortest Reply."""
        return self.files.null()

    def nfs(self, proc, args):
        """A Call of NFSv3."""
        if self.files.version != nfs3.VERSION:
            raise Unfit('it asks in NFSv3')
        return Files.nfs(proc, args)

    def read(self, count, offset=0):
        """A READ of the pattern file."""
        return self.files.read(self.files.data, offset, count)

    @staticmethod
    def pattern(size, offset=0):
        """What the pattern file has there."""
        return tree.pattern(offset, size)

    def write(self, data, offset=0):
        """A WRITE to the scratch file, stable at once."""
        return self.files.write(offset, data)

    def written(self, hand, count):
        """What the scratch file begins with, read inline, or where that is too much, in pieces."""
        most, data = 512, b''       # fits what every end sends: RFC 8166 section 3.3.3
        while len(data) < count:
            call = self.files.read(self.files.scratch, len(data), min(most, count - len(data)))
            part = data_of(call, hand.ask(call).body)
            self.hold(part, 'the scratch file is shorter than what was written')
            data += part
        return data

    def readdir(self, count):
        """A READDIR of the large directory from its begin."""
        return self.files.readdir(count)

    @staticmethod
    def echo(data, size=None):
        """A Call of our own program, unknown to all binding: the Reply has the data, or so many bytes."""
        if size is None:
            return rpc.call(new_xid(), ECHO, ECHO_VERS, 1, xdr.var(data))
        return rpc.call(new_xid(), ECHO, ECHO_VERS, 2, xdr.u32(size) + xdr.var(data))

# SPDX-License-Identifier: BSD-3-Clause
"""Peers that violate iWARP itself: the expected result, and that other clients are not affected."""
import contextlib

from net import iwarp
from scene.scenario import Wrong, requester, responder
from wire import ddp, header

NEIGHBOUR_BYTES = 6000


def serve(t, hand):
    """Makes a WRITE and a READ by chunks, and a NULL."""
    data = t.pattern(NEIGHBOUR_BYTES)
    call = t.write(data)
    at = len(call) - len(data)
    got = hand.ask(call[:at], reads=hand.read_chunk(at, data))
    t.hold(got.header.proc == header.MSG, f'no Reply but {header.describe(got.data)}')
    key, segment = hand.lend(NEIGHBOUR_BYTES, writable=True)
    hand.ask(t.read(NEIGHBOUR_BYTES), writes=[[segment]])
    t.hold(bytes(key.memory) == data, 'a READ got other data')
    hand.ask(t.null())


@contextlib.contextmanager
def beside(t):
    """A connection of another client, which is served before, during and after the violation."""
    other = t.connect()
    serve(t, other)
    try:
        yield other
    except Wrong:
        serve(t, other)
        raise
    serve(t, other)


def terminated(t, hand, *codes):
    """Checks that the connection closes by a Terminate with one of these codes; without codes, by any close."""
    hand.ends()
    t.hold(not hand.conn.flaws, f'what comes back is wrong itself: {hand.conn.flaws}')
    t.hold(not hand.conn.sends, 'it is answered by a Send')
    if not codes:
        return
    t.hold(hand.conn.terminated, 'the connection ends without a Terminate')
    t.hold(ddp.terminate_code(hand.conn.terminated.payload) in codes,
           f'the Terminate says: {hand.conn.terminated.text}')


def untagged(hand, payload=bytes(64), opcode=ddp.SEND, qn=0, msn=None, mo=0, **fields):
    """Sends one untagged segment, by default a Send with the next number."""
    if msn is None:
        msn = hand.conn.next_number(qn)
    hand.conn.fpdu(ddp.encode(ddp.Segment(False, True, opcode, qn=qn, msn=msn, mo=mo,
                                          payload=payload, **fields)))


def tagged(hand, opcode, stag, to=0, payload=bytes(64), **fields):
    """Sends one tagged segment."""
    hand.conn.fpdu(ddp.encode(ddp.Segment(True, True, opcode, stag=stag, to=to, payload=payload,
                                          **fields)))


# ------------------------------------------------------------ scenarios made of them

def responder_ends(tag, *codes):
    """A scenario for messages to an acceptor: it must close the connection, and serve others."""
    def judged(send):
        def judge(t):
            with beside(t):
                hand = t.connect()
                hand.ask(t.null())
                send(hand)
                terminated(t, hand, *codes)
        _bent(responder(tag, needs={'files'})(_like(judge, send)), codes)
        return send
    return judged


def requester_ends(tag, *codes):
    """The same for messages to a connector, which connects again for its next Call."""
    def judged(send):
        def judge(t):
            hand = t.working()
            send(hand)
            terminated(t, hand, *codes)
            t.gone()
            t.working()
        _bent(requester(tag)(_like(judge, send)), codes)
        return send
    return judged


def _like(judge, send):
    judge.__name__, judge.__doc__ = send.__name__, send.__doc__
    return judge


def _bent(scenario, codes):
    scenario.wrong(on_conn(_stays))
    if codes:
        scenario.wrong(on_conn(_says_nothing))
        scenario.wrong(on_conn(_says_something_else))


def on_conn(change):
    """A bend of the connection below an end."""
    def bend(end):
        right = end.attach

        def attach(conn):
            right(conn)
            change(conn)
        end.attach = attach
    return bend


def _stays(conn):
    right = conn.close
    conn.terminate = lambda *_: None
    conn.close = lambda reset=False: None if conn.flaws else right(reset)


def _says_nothing(conn):
    conn.terminate = lambda *_: conn.close()


def _says_something_else(conn):
    right = conn.terminate
    conn.terminate = lambda first, code: right(first, code ^ 1)


# ------------------------------------------------------------ frames at the start

def bad_request(t, frame, what):
    """Sends other bytes instead of a request. The connection must close without an answer."""
    hand = t.connect_raw(frame=frame)
    hand.ends(f'the end of the connection for {what}')
    t.hold(hand.conn.peer is None and not hand.conn.flaws, f'{what} is answered')


def bad_reply(t, frame, what):
    """Answers the request by other bytes. The connection must close before any Call."""
    t.have_called(t.null())
    hand = t.hand(t.requested())
    hand.conn.accept(iwarp.Start(frame=frame))
    hand.ends(f'the end of the connection for {what}')
    t.hold(not hand.conn.sends and not hand.conn.flaws, f'a Call comes after {what}')
    t.gone()


def stays_open(words=''):
    """A bend: a bad frame with this error has no effect."""
    def change(conn):
        right = conn.bad_start
        conn.bad_start = lambda error: None if words in str(error) else right(error)
    return on_conn(change)

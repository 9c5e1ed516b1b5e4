# SPDX-License-Identifier: BSD-3-Clause
"""MPA: how a connection begins, and FPDUs (RFC 5044)."""
import dataclasses

from scene import nonsense
from scene.nonsense import requester_ends, responder_ends
from scene.scenario import requester, responder
from wire import ddp, mpa

PRIVATE = bytes.fromhex('f6ab0e1801000303')
REQUEST = mpa.encode_start(mpa.Start(False, mpa.CRC | mpa.ENHANCED, 2, 16, 16, data=PRIVATE))
REPLY = mpa.encode_start(mpa.Start(True, mpa.CRC | mpa.ENHANCED, 2, 16, 16, data=PRIVATE))
NOISE = bytes((n * 167 + 13) & 0xff for n in range(65536))
HTTP = b'GET / HTTP/1.1\r\nHost: example.net\r\n\r\n'


def _other_key(frame):
    return frame[:5] + bytes([frame[5] ^ 0x20]) + frame[6:]


def _too_much(frame):
    """More private data than the 512 octets that MPA allows, and all of them there."""
    return frame[:18] + b'\xff\xff' + frame[20:] + NOISE


def _just_too_much(frame):
    return frame[:18] + (513).to_bytes(2, 'big') + frame[20:] + NOISE[:513]


BAD_REQUESTS = {
    'random bytes': NOISE,
    'an HTTP request': HTTP,
    'a wrong key': _other_key(REQUEST),
    'a reply': REPLY,
    'too much private data': _too_much(REQUEST),
    'one octet too much of private data': _just_too_much(REQUEST),
}
BAD_REPLIES = {
    'random bytes': NOISE,
    'an HTTP request': HTTP,
    'a wrong key': _other_key(REPLY),
    'a request': REQUEST,
    'too much private data': _too_much(REPLY),
    'one octet too much of private data': _just_too_much(REPLY),
}
FAULTS = ('not a start-up frame', 'instead of', '65535 bytes of private', '513 bytes of private')


@responder('I5044-1', needs={'files'})
def what_is_no_request_ends_the_connection(t):
    """Another key, a reply, more than 512 octets of private data: there is no answer."""
    with nonsense.beside(t):
        for what, frame in BAD_REQUESTS.items():
            nonsense.bad_request(t, frame, what)


for _words in FAULTS:
    what_is_no_request_ends_the_connection.wrong(nonsense.stays_open(_words))


@what_is_no_request_ends_the_connection.wrong
def _(end):
    nonsense.on_conn(lambda conn: setattr(conn, 'bad_start', lambda error: conn.reject()))(end)


@requester('I5044-1')
def what_is_no_reply_ends_the_connection(t):
    """Another key, a request, more than 512 octets of private data: no Call is sent."""
    for what, frame in BAD_REPLIES.items():
        nonsense.bad_reply(t, frame, what)


for _words in FAULTS:
    what_is_no_reply_ends_the_connection.wrong(nonsense.stays_open(_words))


EARLY = REQUEST + mpa.encode_fpdu(ddp.encode(ddp.Segment(False, True, ddp.SEND, msn=1)))


@responder('I5044-2', needs={'files'})
def an_fpdu_before_the_reply_ends_the_connection(t):
    """The connector has to wait for the reply; who does not is not answered."""
    with nonsense.beside(t):
        nonsense.bad_request(t, EARLY, 'an FPDU behind the request')


an_fpdu_before_the_reply_ends_the_connection.wrong(nonsense.stays_open())


@an_fpdu_before_the_reply_ends_the_connection.wrong
def _(end):
    nonsense.on_conn(lambda conn: setattr(conn, 'take_request',
                                          lambda behind: conn.on_request()))(end)


@requester('I5044-2')
def no_fpdu_comes_before_the_reply(t):
    """The connector sends its Calls when it has been accepted."""
    asked = t.have_called(t.null())
    conn = t.requested()
    t.loop.run(0.05)
    t.hold(not conn.flaws and not conn.ended, f'before the reply: {conn.flaws or conn.ended}')
    hand = t.hand(conn)
    hand.conn.accept(t.start())
    hand.answer_null(hand.next('the Call'))
    t.answered(asked)


@no_fpdu_comes_before_the_reply.wrong
def _(end):
    def at_once(conn):
        conn.loop.after(0, lambda: conn.raw(EARLY[len(REQUEST):]))
    nonsense.on_conn(at_once)(end)


@responder('I5044-3', needs={'files'})
def a_request_for_markers_is_rejected(t):
    """Who sends none rejects the connection; a reply frame says so."""
    with nonsense.beside(t):
        hand = t.connect_raw(flags=mpa.MARKERS | mpa.CRC | mpa.ENHANCED)
        hand.ends()
        t.hold(hand.conn.peer and hand.conn.peer.flags & mpa.REJECT,
               f'no rejection: {hand.conn.ended}')


@a_request_for_markers_is_rejected.wrong
def _(end):
    end.requested = lambda: end.conn.accept(end.own_start())


@a_request_for_markers_is_rejected.wrong
def _(end):
    end.requested = lambda: end.conn.close()


@requester('I5044-3')
def markers_are_neither_asked_for_nor_sent(t):
    """The request has no M, and a reply that has it ends the connection before a Call."""
    flags = bytes([REPLY[16] | mpa.MARKERS])
    nonsense.bad_reply(t, REPLY[:16] + flags + REPLY[17:], 'a reply that wants markers')


@markers_are_neither_asked_for_nor_sent.wrong
def _(end):
    right = end.own_start
    end.own_start = lambda: dataclasses.replace(right(), flags=right().flags | mpa.MARKERS)


markers_are_neither_asked_for_nor_sent.wrong(nonsense.stays_open())


@requester_ends('I5044-4', (0x20, 0x02))
@responder_ends('I5044-4', (0x20, 0x02))
def a_wrong_crc_is_said_in_a_terminate(hand):
    """Nothing of the FPDU is taken."""
    segment = ddp.Segment(False, True, ddp.SEND, msn=hand.conn.next_number(0), payload=bytes(100))
    hand.conn.fpdu(ddp.encode(segment), spoil=True)


@requester_ends('I5044-5')
@responder_ends('I5044-5')
def an_fpdu_without_room_for_a_header_ends_the_connection(hand):
    """Two bytes of a Send; with a Terminate or without. Who reads a whole header first finds it behind."""
    hand.conn.fpdu(b'\x41\x43')
    hand.conn.write(0, 0, b'')


KINDS = (a_wrong_crc_is_said_in_a_terminate, an_fpdu_without_room_for_a_header_ends_the_connection)

# SPDX-License-Identifier: BSD-3-Clause
"""DDP: versions, queues, numbers, tags and bounds (RFC 5041)."""
from scene import nonsense
from scene.nonsense import requester_ends, responder_ends
from scene.scenario import requester, responder
from scenarios import i5040_rdmap, i5044_mpa
from wire import ddp, header, rpc

NOBODYS = 0x12345678
LONGER_THAN_ANY = 1 << 20


@requester_ends('I5041-1', (0x12, 0x06))
@responder_ends('I5041-1', (0x12, 0x06))
def an_unknown_version_is_said_in_a_terminate(hand):
    """The DDP version of an untagged segment."""
    nonsense.untagged(hand, ddp_version=2)


@requester_ends('I5041-1', (0x11, 0x04))
@responder_ends('I5041-1', (0x11, 0x04))
def an_unknown_version_of_a_tagged_segment_is_said_in_a_terminate(hand):
    """The DDP version of a tagged segment, which has a separate code."""
    nonsense.tagged(hand, ddp.WRITE, NOBODYS, ddp_version=2)


@requester_ends('I5041-2', (0x12, 0x01))
@responder_ends('I5041-2', (0x12, 0x01))
def an_unknown_queue_is_said_in_a_terminate(hand):
    """There are three queues; a Send goes to the first one."""
    nonsense.untagged(hand, qn=9)


@requester_ends('I5041-3', (0x12, 0x03))
@responder_ends('I5041-3', (0x12, 0x03))
def a_message_out_of_order_is_said_in_a_terminate(hand):
    """A Send with a number that is not due yet."""
    nonsense.untagged(hand, msn=hand.conn.next_number(0) + 6)


@requester_ends('I5041-3', (0x12, 0x03))
@responder_ends('I5041-3', (0x12, 0x03))
def a_message_number_used_twice_is_said_in_a_terminate(hand):
    """A Send with the number of the last one."""
    nonsense.untagged(hand, msn=hand.conn.next_number(0) - 1)


@requester_ends('I5041-4', (0x12, 0x04))
@responder_ends('I5041-4', (0x12, 0x04))
def a_segment_out_of_order_is_said_in_a_terminate(hand):
    """A Send that begins at an offset above zero."""
    nonsense.untagged(hand, mo=64)


@requester_ends('I5041-5', (0x12, 0x05))
@responder_ends('I5041-5', (0x12, 0x05))
def a_send_longer_than_its_receive_is_said_in_a_terminate(hand):
    """A Send of 1 MiB, which exceeds every receive."""
    hand.conn.send(bytes(LONGER_THAN_ANY))


@requester_ends('I5041-6', (0x11, 0x00))
@responder_ends('I5041-6', (0x11, 0x00))
def a_write_to_nobodys_memory_is_said_in_a_terminate(hand):
    """A segment for a key that was never exposed."""
    nonsense.tagged(hand, ddp.WRITE, NOBODYS)


KINDS = (an_unknown_version_is_said_in_a_terminate,
         an_unknown_version_of_a_tagged_segment_is_said_in_a_terminate,
         an_unknown_queue_is_said_in_a_terminate,
         a_message_out_of_order_is_said_in_a_terminate,
         a_message_number_used_twice_is_said_in_a_terminate,
         a_segment_out_of_order_is_said_in_a_terminate,
         a_send_longer_than_its_receive_is_said_in_a_terminate,
         a_write_to_nobodys_memory_is_said_in_a_terminate)


def _lent(t):
    """Returns a connection of the requester, and the place of an exposed Reply."""
    hand = t.working()
    t.have_called(t.echo(bytes(8000)))
    return hand, hand.next('the Call').reply_chunk()[0]


@requester('I5041-7')
def a_write_past_the_end_of_a_key_is_said_in_a_terminate(t):
    """The last bytes of the memory can be written, but none after them."""
    hand, place = _lent(t)
    end = place.offset + place.length
    hand.conn.write(place.handle, end - 8, b'just in!')
    hand.conn.write(place.handle, end - 7, b'one more')
    nonsense.terminated(t, hand, (0x11, 0x01))


@requester('I5041-7')
def a_write_before_the_begin_of_a_key_is_said_in_a_terminate(t):
    """The first byte of the memory is the first that can be written."""
    hand, place = _lent(t)
    hand.conn.write(place.handle, place.offset, b'just in!')
    hand.conn.write(place.handle, place.offset - 1, b'one more')
    nonsense.terminated(t, hand, (0x11, 0x01))


def _wider(key_covers):
    """A bend: keys cover more than was lent."""
    def change(conn):
        expose = conn.expose

        def exposed(memory, readable=False, writable=False):
            key = expose(memory, readable, writable)
            key.covers = lambda to, size: key_covers(key, to, size)
            return key
        conn.expose = exposed
    return nonsense.on_conn(change)


a_write_past_the_end_of_a_key_is_said_in_a_terminate.wrong(_wider(
    lambda key, to, size: key.to <= to <= key.to + len(key.memory)))
a_write_before_the_begin_of_a_key_is_said_in_a_terminate.wrong(_wider(
    lambda key, to, size: to + size <= key.to + len(key.memory)))


@responder('I5041-8', needs={'files', 'behind'})
def nothing_is_kept_of_connections_that_ended(t):
    """Any cause and number of ended connections: another client is served meanwhile."""
    with nonsense.beside(t):
        for send in (*i5044_mpa.KINDS, *KINDS, *i5040_rdmap.KINDS):
            hand = t.connect()
            send(hand)
            hand.ends()
        for frame in (*i5044_mpa.BAD_REQUESTS.values(), i5044_mpa.EARLY):
            t.connect_raw(frame=frame).ends()
        t.settle(lambda: t.play.count() == 1, 'the end of all connections but one')


@nothing_is_kept_of_connections_that_ended.wrong
def _(end):
    nonsense.on_conn(lambda conn: setattr(conn, 'stream_ended', lambda why: None))(end)
    right = end.attach

    def attach(conn):
        right(conn)
        close = conn.close

        def half(reset=False):
            close(reset)
            conn.ended = None
        conn.close = half
    end.attach = attach


def _headers(call):
    """Invalid RPC-over-RDMA does not close the sender's connection."""
    fixed = call[:4] + b'\0\0\0\1\0\0\0\x10'
    yield header.encode(header.Header(int.from_bytes(call[:4], 'big'), vers=77)) + bytes(12) + call
    yield fixed + b'\0\0\0\x63' + bytes(12) + call
    yield fixed + bytes(4) + b'\0\0\0\1' * 20
    yield fixed + bytes(7) + b'\0' + b'\0\0\0\1' + b'\xff' * 4 + bytes(400)
    yield fixed + bytes(16) + b'\x99' + call[1:]


@responder('I5041-8', needs={'files'})
def nonsense_above_ddp_ends_no_connection(t):
    """Each gets its error, or nothing if it is too short; its sender and another client are served."""
    with nonsense.beside(t) as other:
        hand = t.connect()
        hand.ask(t.null())
        for data in _headers(t.null()):
            hand.send(data)
            got = hand.next('an RDMA_ERROR')
            t.hold(got.header.proc == header.ERROR and got.data[:4] == data[:4],
                   f'no RDMA_ERROR: {header.describe(got.data)}')
            nonsense.serve(t, other)
        call = t.write(bytes(100))
        at = len(call) - 100
        got = hand.ask(call[:at], reads=hand.read_chunk(at, bytes(99)))
        t.hold(got.header.proc == header.ERROR
               or rpc.decode(got.body).accept_stat == rpc.GARBAGE_ARGS,
               f'a chunk that is shorter than its data: {header.describe(got.data)}')
        hand.send(t.null()[:8])
        nonsense.serve(t, hand)


@nonsense_above_ddp_ends_no_connection.wrong
def _(end):
    end.refuse_header = lambda *_: end.conn.close()


@nonsense_above_ddp_ends_no_connection.wrong
def _(end):
    end.garbage = lambda work: None


@nonsense_above_ddp_ends_no_connection.wrong
def _(end):
    end.refuse_version = lambda _xid: end.conn.close()


@responder('I5041-8', needs={'files', 'behind'})
def sixty_peers_that_come_and_leave_disturb_nobody(t):
    """Closes before the request, after the reply, and with a Call in flight; by a FIN or a reset."""
    with nonsense.beside(t):
        for n in range(60):
            hand = t.connect() if n % 3 else t.connect_raw(frame=b'')
            if n % 3 == 2:
                hand.call(t.null())
                t.loop.turn(0.001)
            hand.conn.close(reset=bool(n & 1))
        t.settle(lambda: t.play.count() == 1, 'the end of all connections but one')


@sixty_peers_that_come_and_leave_disturb_nobody.wrong
def _(end):
    shared = vars(end.options)
    right, lost = end.on_send, end.lost

    def gone():
        shared['gone'] = True
        lost()
    end.lost = gone
    end.on_send = lambda sent: end.conn.close() if shared.get('gone') else right(sent)


@sixty_peers_that_come_and_leave_disturb_nobody.wrong
def _(end):
    nonsense.on_conn(lambda conn: setattr(conn, 'finish', lambda why: None))(end)

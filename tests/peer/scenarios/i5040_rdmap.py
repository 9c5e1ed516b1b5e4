# SPDX-License-Identifier: BSD-3-Clause
"""RDMAP: versions, opcodes, Reads and rights (RFC 5040)."""
from scene import nonsense
from scene.nonsense import requester_ends, responder_ends
from scene.scenario import requester
from wire import ddp

NOBODYS = 0x12345678


@requester_ends('I5040-1', (0x02, 0x05))
@responder_ends('I5040-1', (0x02, 0x05))
def an_unknown_version_is_said_in_a_terminate(hand):
    """The RDMAP version, in a valid DDP segment."""
    nonsense.untagged(hand, rdmap_version=2)


@requester_ends('I5040-2', (0x02, 0x06))
@responder_ends('I5040-2', (0x02, 0x06))
def an_unknown_opcode_is_said_in_a_terminate(hand):
    """A reserved opcode."""
    nonsense.untagged(hand, opcode=15)


@requester_ends('I5040-2', (0x02, 0x06))
@responder_ends('I5040-2', (0x02, 0x06))
def a_tagged_send_is_said_in_a_terminate(hand):
    """An opcode that is invalid there."""
    nonsense.tagged(hand, ddp.SEND, NOBODYS)


@requester_ends('I5040-3', (0x01, 0x00))
@responder_ends('I5040-3', (0x01, 0x00))
def a_read_of_nobodys_memory_is_said_in_a_terminate(hand):
    """A key that was never exposed."""
    hand.conn.read(NOBODYS, 0, 4096)


@requester_ends('I5040-4')
@responder_ends('I5040-4')
def a_read_response_to_nothing_ends_the_connection(hand):
    """With and without a Terminate: RFC 5040 has no code for it."""
    nonsense.tagged(hand, ddp.READ_RESPONSE, 0x1000)


@requester_ends('I5040-5', (0x02, 0x09), (0x01, 0x09))
@responder_ends('I5040-5', (0x02, 0x09), (0x01, 0x09))
def an_invalidation_of_nobodys_key_is_said_in_a_terminate(hand):
    """RFC 5040 has the code under both types."""
    hand.conn.send(bytes(16), NOBODYS)


KINDS = (an_unknown_version_is_said_in_a_terminate,
         an_unknown_opcode_is_said_in_a_terminate,
         a_tagged_send_is_said_in_a_terminate,
         a_read_of_nobodys_memory_is_said_in_a_terminate,
         a_read_response_to_nothing_ends_the_connection,
         an_invalidation_of_nobodys_key_is_said_in_a_terminate)


def _lent(t):
    """Returns a connection of the requester, and its exposed memory: its Call to read, a place to write."""
    hand = t.working()
    t.have_called(t.echo(bytes(8000)))
    got = hand.next('the Call')
    return hand, got.read_list()[0], got.reply_chunk()[0]


@requester('I5040-6')
def a_write_without_the_right_is_said_in_a_terminate(t):
    """Memory exposed for reading cannot be written."""
    hand, call, _place = _lent(t)
    hand.conn.write(call.handle, call.offset, b'evil')
    nonsense.terminated(t, hand, (0x01, 0x02))


@requester('I5040-6')
def a_read_without_the_right_is_said_in_a_terminate(t):
    """Memory exposed for writing cannot be read."""
    hand, _call, place = _lent(t)
    hand.conn.read(place.handle, place.offset, 4)
    nonsense.terminated(t, hand, (0x01, 0x02))


@requester('I5040-3')
def a_read_past_the_end_of_a_key_is_said_in_a_terminate(t):
    """The last bytes of the memory can be read, but none after them."""
    hand, call, _place = _lent(t)
    read = hand.conn.read(call.handle, call.offset + call.length - 8, 8)
    t.loop.until(lambda: read.finished or hand.conn.ended, 'the last bytes')
    t.hold(read.finished, f'the last bytes cannot be read: {hand.conn.terminated}')
    hand.conn.read(call.handle, call.offset + call.length - 7, 8)
    nonsense.terminated(t, hand, (0x01, 0x01))


def _no_rights(conn):
    expose = conn.expose
    conn.expose = lambda memory, *_rights, **_more: expose(memory, True, True)


def _no_bounds(conn):
    expose = conn.expose

    def exposed(memory, readable=False, writable=False):
        key = expose(memory, readable, writable)
        key.covers = lambda to, size: True
        return key
    conn.expose = exposed


a_write_without_the_right_is_said_in_a_terminate.wrong(nonsense.on_conn(_no_rights))
a_read_without_the_right_is_said_in_a_terminate.wrong(nonsense.on_conn(_no_rights))
a_read_past_the_end_of_a_key_is_said_in_a_terminate.wrong(nonsense.on_conn(_no_bounds))

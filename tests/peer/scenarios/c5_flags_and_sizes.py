# SPDX-License-Identifier: BSD-3-Clause
"""Flags and sizes: draft-ietf-nfsv4-rpcrdma-cm-pvt-data-05 section 5, RFC 8797 sections 4.1 and 4.2."""
from scene import inline
from scene.scenario import requester, responder
from wire import private_data, rpc, xdr
from wire.private_data import PrivateData

WIDE = {'inline_threshold_bytes': 262144}
NARROW = {'inline_threshold_bytes': 2048}


def _keys(message):
    segments = message.reads + [s for chunk in message.writes for s in chunk]
    return [s.handle for s in segments + (message.reply or [])]


def _three_reads(t, hand):
    """Makes three concurrent READs, each with a Write chunk or a Reply chunk. Returns the Calls by XID."""
    sent = {}
    for how in ('writes', 'reply', 'writes'):
        key, segment = hand.lend(5000, writable=True)
        chunk = [[segment]] if how == 'writes' else [segment]
        message = hand.call(t.read(4500), **{how: chunk})
        sent[message.xid] = key
    return sent


@responder('C5.1-1', needs={'files'})
def only_a_key_of_the_same_rpc_is_invalidated(t):
    """If both ends set the flag, a Reply may invalidate one key of its own Call; otherwise none."""
    for invalidate in (True, False):
        hand = t.connect(invalidate=invalidate)
        inline.granted(t, hand, 3)
        both = invalidate and inline.told(hand).invalidate
        keys = _three_reads(t, hand)
        for _ in range(len(keys)):
            got = hand.next('a Reply')
            if got.invalidated is None:
                continue
            t.hold(both, 'a key is invalidated, and one end does not set the flag')
            t.hold(got.invalidated == keys[got.header.xid].stag,
                   f'the Reply to {got.header.xid:#x} invalidates the key of another Call')


@only_a_key_of_the_same_rpc_is_invalidated.wrong
def _(end):
    right = end.key_to_invalidate
    last = []

    def of_the_call_before(message):
        last.append(right(message))
        return last[-2] if len(last) > 1 else None
    end.key_to_invalidate = of_the_call_before


@only_a_key_of_the_same_rpc_is_invalidated.wrong
def _(end):
    end.key_to_invalidate = lambda message: (_keys(message) or [None])[0]


@only_a_key_of_the_same_rpc_is_invalidated.wrong
def _(end):
    end.options.invalidate = False
    end.key_to_invalidate = lambda message: (
        (_keys(message) or [None])[0] if end.peer_data().invalidate else None)


@requester('C5.1-1')
def a_reply_may_invalidate_a_key_where_both_ends_say_so(t):
    """The Reply counts, and the key is invalid afterwards."""
    asked, hand, got = t.called(t.echo(bytes(8000)))
    hand.answer_null(got)
    t.answered(asked)
    if not inline.told(hand).invalidate:
        return
    asked = t.have_called(t.echo(bytes(8000)))
    got = hand.next('the Call')
    key = got.reply_chunk()[0]
    hand.answer(got, rpc.accepted(got.header.xid, xdr.var(b'')), invalidate=key.handle)
    t.answered(asked)
    t.hold(not t.still_writable(hand, key), 'the key is still alive')


@a_reply_may_invalidate_a_key_where_both_ends_say_so.wrong
def _(end):
    right = end.take_reply
    end.take_reply = lambda message, gone: gone is None and right(message, gone)


@a_reply_may_invalidate_a_key_where_both_ends_say_so.wrong
def _(end):
    right = end.attach

    def attach(conn):
        right(conn)
        conn.withdraw = lambda key: None
    end.attach = attach


def _flags(t, data):
    told = private_data.decode(data)
    t.hold(told, 'no private data of this format')
    t.hold(told.reserved == 0, f'reserved bits {told.reserved:#04x} are set')


def _reserved_bits_sent(end):
    right = end.own_data
    end.own_data = lambda: right()[:5] + bytes([right()[5] | 0x40]) + right()[6:]


def _reserved_bits_refused(end):
    right = end.peer_data
    end.peer_data = lambda: (PrivateData(False, 1024, 1024) if right().reserved else right())


ALL_BITS = private_data.encode(PrivateData(False, 4096, 4096, reserved=0xfe))


@responder('C5.1-2', needs={'files'})
def reserved_flags_are_zero_in_an_accept_and_ignored_in_a_request(t):
    """The acceptor sets only the lowest bit, and ignores the others."""
    inline.keeps_to_sizes(t)
    hand = t.connect(data=ALL_BITS)
    _flags(t, inline.told_in_data(hand))
    inline.replies_fill(t, hand, min(4096, inline.told(hand).send_bytes))
    inline.granted(t, hand, 3)
    for key in _three_reads(t, hand).values():
        t.hold(hand.next('a Reply').invalidated is None and not key.dead,
               'reserved bits count as the flag')


reserved_flags_are_zero_in_an_accept_and_ignored_in_a_request.wrong(_reserved_bits_sent)
reserved_flags_are_zero_in_an_accept_and_ignored_in_a_request.wrong(_reserved_bits_refused)


@reserved_flags_are_zero_in_an_accept_and_ignored_in_a_request.wrong
def _(end):
    right = end.peer_data

    def any_bit():
        data = right()
        data.invalidate |= data.reserved != 0
        return data
    end.peer_data = any_bit


@requester('C5.1-2')
def reserved_flags_are_zero_in_a_request_and_ignored_in_an_accept(t):
    """The connector sets only the lowest bit, and ignores the others."""
    hand = inline.calls_fill(t, 4096, data=ALL_BITS)
    _flags(t, hand.conn.peer.data)


reserved_flags_are_zero_in_a_request_and_ignored_in_an_accept.wrong(_reserved_bits_sent)
reserved_flags_are_zero_in_a_request_and_ignored_in_an_accept.wrong(_reserved_bits_refused)


def _decoded(change):
    """A bend: the sizes of the peer are changed as a wrong decoder would."""
    def bend(end):
        right = end.peer_data

        def peer_data():
            data = right()
            data.send_bytes, data.recv_bytes = change(data.send_bytes), change(data.recv_bytes)
            return data
        end.peer_data = peer_data
    return bend


WRONG_DECODERS = (lambda size: size + 1024, lambda size: max(1024, size - 1024),
                  lambda size: min(size, 4096))


def _takes_less(end):
    """Bends: receives are 1024 bytes smaller than this end says."""
    right = end.on_send
    less = end.options.inline_threshold_bytes - 1024
    end.on_send = lambda sent: right(sent) if len(sent.data) <= less else end.conn.close()


@responder('C5.2-1', keys=WIDE, needs={'files'})
def the_acceptor_counts_sizes_in_units_of_1024_bytes(t):
    """The codes 0, 3 and 255 mean 1 KiB, 4 KiB and 256 KiB; it can receive what it announces."""
    inline.keeps_to_sizes(t)
    for code in (0, 3, 255):
        hand = t.connect(recv=(code + 1) * 1024, send=262144)
        inline.replies_fill(t, hand, min((code + 1) * 1024, inline.told(hand).send_bytes))
    inline.longest_call_is_taken(t, hand)


for _change in WRONG_DECODERS:
    the_acceptor_counts_sizes_in_units_of_1024_bytes.wrong(_decoded(_change))
the_acceptor_counts_sizes_in_units_of_1024_bytes.wrong(_takes_less)


def _longest_reply_is_taken(t, hand):
    """A Reply that fills the announced receives of the connector reaches the caller."""
    size = inline.told(hand).recv_bytes - 28 - 28
    asked = t.have_called(t.echo(bytes(16)))
    got = hand.next('the Call')
    reply = rpc.accepted(got.header.xid, xdr.var(bytes(size)))
    hand.answer(got, reply)
    t.hold(t.answered(asked)[4:] == reply[4:], 'another Reply reaches the caller')


@requester('C5.2-1', keys=WIDE)
def the_connector_counts_sizes_in_units_of_1024_bytes(t):
    """The codes 0, 3 and 255 mean 1 KiB, 4 KiB and 256 KiB; it can receive what it announces."""
    for code in (0, 3, 255):
        hand = inline.calls_fill(t, (code + 1) * 1024, recv=(code + 1) * 1024, send=262144)
        if code == 255:
            _longest_reply_is_taken(t, hand)
        t.hang_up(hand)


for _change in WRONG_DECODERS:
    the_connector_counts_sizes_in_units_of_1024_bytes.wrong(_decoded(_change))
the_connector_counts_sizes_in_units_of_1024_bytes.wrong(_takes_less)


@responder('C5.2-2', keys=NARROW, needs={'files'})
def replies_keep_to_the_smaller_of_own_send_and_client_receive_size(t):
    """A client that can receive more than the server sends, and one that can receive less."""
    for recv in (65536, 1024):
        hand = t.connect(recv=recv, send=65536)
        inline.replies_fill(t, hand, min(recv, inline.told(hand).send_bytes))


@replies_keep_to_the_smaller_of_own_send_and_client_receive_size.wrong
def _(end):
    end.send_limit = lambda: end.peer_data().recv_bytes


@replies_keep_to_the_smaller_of_own_send_and_client_receive_size.wrong
def _(end):
    end.send_limit = lambda: end.options.inline_threshold_bytes


@replies_keep_to_the_smaller_of_own_send_and_client_receive_size.wrong
def _(end):
    end.send_limit = lambda: min(end.options.inline_threshold_bytes, end.peer_data().send_bytes)


@requester('C5.2-2', keys=NARROW)
def calls_keep_to_the_smaller_of_own_send_and_server_receive_size(t):
    """A server that can receive more than the client sends, and one that can receive less."""
    for recv in (65536, 1024):
        hand = inline.calls_fill(t, min(recv, 2048), recv=recv, send=65536)
        t.hold(inline.told(hand).send_bytes == 2048, 'it says another send size')
        t.hang_up(hand)


@calls_keep_to_the_smaller_of_own_send_and_server_receive_size.wrong
def _(end):
    end.send_limit = lambda: end.peer_data().recv_bytes


@calls_keep_to_the_smaller_of_own_send_and_server_receive_size.wrong
def _(end):
    end.send_limit = lambda: end.options.inline_threshold_bytes


@calls_keep_to_the_smaller_of_own_send_and_server_receive_size.wrong
def _(end):
    end.send_limit = lambda: min(end.options.inline_threshold_bytes, end.peer_data().send_bytes)

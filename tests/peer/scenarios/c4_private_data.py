# SPDX-License-Identifier: BSD-3-Clause
"""The format: draft-ietf-nfsv4-rpcrdma-cm-pvt-data-05 section 4, RFC 8797 section 4."""
import dataclasses

from scene import inline
from scene.scenario import requester, responder
from wire import header, private_data
from wire.private_data import PrivateData

GOOD = private_data.encode(PrivateData(True, 4096, 4096))


def _no_more_than_default(t, hand):
    """The responder behaves as if it had been told nothing: 1024 bytes, no key invalidated."""
    inline.replies_fill(t, hand, 1024)
    key, segment = hand.lend(2000, writable=True)
    got = hand.ask(t.read(2000), writes=[[segment]])
    t.hold(got.invalidated is None and not key.dead, 'a key is invalidated')


def _takes_all(end):
    """Bends: every private data counts as the best."""
    end.peer_data = lambda: PrivateData(True, 4096, 4096)


@responder('C4-1')
def the_acceptor_sends_private_data_with_its_accept(t):
    """The MPA reply has private data of this format, if any."""
    data = inline.told_in_data(t.connect())
    t.hold(private_data.decode(data), f'the reply frame has {data.hex()}')


@the_acceptor_sends_private_data_with_its_accept.wrong
def _(end):
    end.own_data = lambda: b'4096'


@requester('C4-1')
def the_connector_sends_private_data_with_its_request(t):
    """The MPA request has private data of this format."""
    t.have_called(t.null())
    conn = t.requested()
    t.hold(private_data.decode(conn.peer.data),
           f'the request frame has {conn.peer.data.hex() or "none"}')


@the_connector_sends_private_data_with_its_request.wrong
def _(end):
    end.own_data = lambda: b''


@responder('C4-2', needs={'files'})
def a_reconnect_may_bring_other_sizes_to_the_acceptor(t):
    """Replies keep to what this connection's request says, whatever an earlier one said."""
    inline.keeps_to_sizes(t)
    for size in (4096, 1024, 2048):
        hand = t.connect(recv=size)
        inline.replies_fill(t, hand, min(size, inline.told(hand).send_bytes))
        hand.conn.close()


def _remembers(end):
    """Bends: the private data of the first connection holds for the next ones."""
    right = end.peer_data
    end.peer_data = lambda: vars(end.options).setdefault('first', right())


a_reconnect_may_bring_other_sizes_to_the_acceptor.wrong(_remembers)


@requester('C4-2')
def a_reconnect_may_bring_other_sizes_to_the_connector(t):
    """Calls keep to what this connection's reply says, whatever an earlier one said."""
    for size in (4096, 1024, 2048):
        hand = inline.calls_fill(t, size, recv=size)
        t.hang_up(hand)


a_reconnect_may_bring_other_sizes_to_the_connector.wrong(_remembers)


@responder('C4-3')
def a_connection_without_private_data_serves(t):
    """A request without private data, with MPA of either revision: Calls are answered."""
    hand = t.connect(data=b'')
    t.hold(hand.ask(t.null()).header.proc == header.MSG, 'no Reply')
    plain = t.connect_raw(data=b'', revision=1, flags=0x40)
    t.settle(lambda: plain.conn.open or plain.conn.ended, 'the connection to open')
    if plain.conn.open:     # MPA itself may refuse a revision
        t.hold(plain.ask(t.null()).header.proc == header.MSG, 'no Reply over MPA revision one')


def _needs_data(end):
    """Bends: a peer that says nothing of itself is turned away."""
    right = end.on_send
    end.on_send = lambda sent: right(sent) if end.conn.peer.data else end.conn.close()


a_connection_without_private_data_serves.wrong(_needs_data)


@requester('C4-3')
def a_server_without_private_data_is_called(t):
    """An accept without private data is good for Calls."""
    asked, hand, got = t.called(t.null(), data=b'')
    hand.answer_null(got)
    t.answered(asked)


@a_server_without_private_data_is_called.wrong
def _(end):
    end.opened = lambda: end.send_more() if end.conn.peer.data else end.conn.close()


def _format(t, data, size_matters=True):
    t.hold(data[:4] == bytes.fromhex('f6ab0e18'), f'the identifier is {data[:4].hex()}')
    t.hold(data[4:5] == b'\1', f'the version is {data[4:5].hex()}')
    t.hold(len(data) >= 8 if not size_matters else len(data) == 8,
           f'{len(data)} octets of version one')


@responder('C4-4')
def the_accept_has_identifier_version_flags_and_sizes(t):
    """The identifier in network order, version one, and the rest: eight octets at least."""
    _format(t, inline.told_in_data(t.connect()), size_matters=False)


def _little_endian(end):
    right = end.own_data
    end.own_data = lambda: right()[3::-1] + right()[4:]


def _version_two(end):
    right = end.own_data
    end.own_data = lambda: right()[:4] + b'\2' + right()[5:]


def _seven_octets(end):
    right = end.own_data
    end.own_data = lambda: right()[:7]


for _bend in (_little_endian, _version_two, _seven_octets):
    the_accept_has_identifier_version_flags_and_sizes.wrong(_bend)


@requester('C4-4')
def the_request_has_identifier_version_flags_and_sizes(t):
    """The same of the request."""
    t.have_called(t.null())
    _format(t, t.requested().peer.data, size_matters=False)


for _bend in (_little_endian, _version_two, _seven_octets):
    the_request_has_identifier_version_flags_and_sizes.wrong(_bend)


@responder('C4-5', needs={'files'})
def octets_behind_the_eighth_are_ignored_by_the_acceptor(t):
    """Private data padded to 56 octets, with zeros or not, say what the first eight say."""
    inline.keeps_to_sizes(t)
    for more in (bytes(48), b'\xff' * 48, b'\0'):
        hand = t.connect(data=GOOD + more)
        inline.replies_fill(t, hand, min(4096, inline.told(hand).send_bytes))
    _format(t, inline.told_in_data(hand))


def _padded(end):
    right = end.own_data
    end.own_data = lambda: right() + bytes(4)


def _wants_eight(end):
    right = end.peer_data
    end.peer_data = lambda: (right() if len(end.conn.peer.data) == 8
                             else PrivateData(False, 1024, 1024))


for _bend in (_padded, _wants_eight):
    octets_behind_the_eighth_are_ignored_by_the_acceptor.wrong(_bend)


@requester('C4-5')
def octets_behind_the_eighth_are_ignored_by_the_connector(t):
    """The same of an accept; one for each connection."""
    for more in (bytes(48), b'\xff' * 48, b'\0'):
        hand = inline.calls_fill(t, 4096, data=GOOD + more)
        _format(t, hand.conn.peer.data)
        t.hang_up(hand)


for _bend in (_padded, _wants_eight):
    octets_behind_the_eighth_are_ignored_by_the_connector.wrong(_bend)


NOT_CONFORMING = (b'', b'\0' * 8, GOOD[:4], GOOD[:7], GOOD[:4] + b'\2' + GOOD[5:])


@responder('C4.1.1-1', needs={'files'})
def nothing_conforming_received_leaves_the_acceptor_the_defaults(t):
    """No private data, too few, another identifier or version: 1024 bytes and plain Sends."""
    for data in NOT_CONFORMING:
        _no_more_than_default(t, t.connect(data=data))


nothing_conforming_received_leaves_the_acceptor_the_defaults.wrong(_takes_all)


def _default_of(**changed):
    def bend(end):
        right = end.peer_data

        def peer_data():
            if private_data.decode(end.conn.peer.data):
                return right()
            return dataclasses.replace(PrivateData(False, 1024, 1024), **changed)
        end.peer_data = peer_data
    return bend


nothing_conforming_received_leaves_the_acceptor_the_defaults.wrong(_default_of(recv_bytes=4096))
nothing_conforming_received_leaves_the_acceptor_the_defaults.wrong(_default_of(invalidate=True))


@requester('C4.1.1-1')
def nothing_conforming_received_leaves_the_connector_the_defaults(t):
    """The same of an accept: Calls are 1024 bytes inline."""
    for data in NOT_CONFORMING:
        t.hang_up(inline.calls_fill(t, 1024, data=data))


nothing_conforming_received_leaves_the_connector_the_defaults.wrong(_takes_all)
nothing_conforming_received_leaves_the_connector_the_defaults.wrong(_default_of(recv_bytes=4096))


FOREIGN = (GOOD[3::-1] + GOOD[4:], b'\xf6\xab\x0e\x19' + GOOD[4:], b'iSER' + GOOD[4:], b'x' * 200)


@responder('C4.1.2-1', needs={'files'})
def private_data_of_others_are_ignored_by_the_acceptor(t):
    """Another identifier: the connection is not refused, and nothing in the data counts."""
    inline.keeps_to_sizes(t)
    for data in FOREIGN:
        _no_more_than_default(t, t.connect(data=data))


def _no_look_at_the_identifier(end):
    def peer_data():
        data = end.conn.peer.data
        return private_data.decode(GOOD[:4] + data[4:]) or PrivateData(False, 1024, 1024)
    end.peer_data = peer_data


def _refuses_others(end):
    right = end.requested
    end.requested = lambda: (right() if end.conn.peer.data[:4] == GOOD[:4]
                             else end.conn.reject())


private_data_of_others_are_ignored_by_the_acceptor.wrong(_no_look_at_the_identifier)
private_data_of_others_are_ignored_by_the_acceptor.wrong(_refuses_others)


@requester('C4.1.2-1')
def private_data_of_others_are_ignored_by_the_connector(t):
    """The same of an accept."""
    for data in FOREIGN:
        t.hang_up(inline.calls_fill(t, 1024, data=data))


private_data_of_others_are_ignored_by_the_connector.wrong(_no_look_at_the_identifier)


@private_data_of_others_are_ignored_by_the_connector.wrong
def _(end):
    end.opened = lambda: (end.send_more() if end.conn.peer.data[:4] == GOOD[:4]
                          else end.conn.close())


BEHIND = (b'lib' + GOOD, bytes(16) + GOOD + bytes(8), GOOD[:3] + GOOD,
          GOOD[:3] + b'\x19' + GOOD[4:] + GOOD)
SMALL = private_data.encode(PrivateData(False, 1024, 1024))
FIRST_COUNTS = (SMALL + GOOD, GOOD[:4] + b'\2' + GOOD[5:] + GOOD)
NOT_WHOLE = (b'lib' + GOOD[:7], b'lib' + GOOD[:4] + b'\2' + GOOD[5:] + bytes(8))


@responder('C4.1.2-1', needs={'files'})
def private_data_behind_those_of_others_are_found_by_the_acceptor(t):
    """At any offset, as RFC 8797 has it; the draft looks at the first octets alone."""
    inline.keeps_to_sizes(t)
    for data in BEHIND:
        hand = t.connect(data=data)
        inline.replies_fill(t, hand, min(4096, inline.told(hand).send_bytes))


def _looks_at_the_first_octets(end):
    """Bends: the identifier counts at the beginning alone."""
    right = end.peer_data
    end.peer_data = lambda: (right() if end.conn.peer.data[:4] == GOOD[:4]
                             else PrivateData(False, 1024, 1024))


private_data_behind_those_of_others_are_found_by_the_acceptor.wrong(_looks_at_the_first_octets)


@requester('C4.1.2-1')
def private_data_behind_those_of_others_are_found_by_the_connector(t):
    """The same of an accept."""
    for data in BEHIND:
        t.hang_up(inline.calls_fill(t, 4096, data=data))


private_data_behind_those_of_others_are_found_by_the_connector.wrong(_looks_at_the_first_octets)


def _last(end):
    """Bends: what stands last counts, wherever it stands."""
    right = end.peer_data

    def peer_data():
        data = end.conn.peer.data
        return private_data.decode(data[data.rfind(GOOD[:4]):]) or right()
    end.peer_data = peer_data


@responder('C4.1.2-1', needs={'files'})
def the_first_octets_count_before_others_at_the_acceptor(t):
    """What begins with the identifier is what stands there, in any version (the RFC does not say); elsewhere
    all must be there."""
    inline.keeps_to_sizes(t)
    for data in FIRST_COUNTS[:1 if t.rfc else 2] + NOT_WHOLE:
        _no_more_than_default(t, t.connect(data=data))


def _half(end):
    """Bends: the identifier alone is enough where it stands behind other data."""
    def peer_data():
        data = end.conn.peer.data
        at = data.find(GOOD[:4])
        return (PrivateData(True, 4096, 4096) if at > 0
                else private_data.decode(data) or PrivateData(False, 1024, 1024))
    end.peer_data = peer_data


@requester('C4.1.2-1')
def the_first_octets_count_before_others_at_the_connector(t):
    """The same of an accept."""
    for data in FIRST_COUNTS[:1 if t.rfc else 2] + NOT_WHOLE:
        t.hang_up(inline.calls_fill(t, 1024, data=data))


for _bend in (_last, _half):
    the_first_octets_count_before_others_at_the_acceptor.wrong(_bend)
    the_first_octets_count_before_others_at_the_connector.wrong(_bend)


OTHER_FORMATS = tuple(GOOD[:4] + bytes([version]) + GOOD[5:] + bytes(4) for version in (0, 2, 255))


@responder('C4-6', needs={'files'})
def another_version_or_too_few_octets_count_for_nothing_at_the_acceptor(t):
    """The identifier with a version that is not one, or seven octets: as if none had come."""
    inline.keeps_to_sizes(t)
    for data in (*OTHER_FORMATS, GOOD[:7], GOOD[:5]):
        _no_more_than_default(t, t.connect(data=data))


def _any_version(end):
    def peer_data():
        data = end.conn.peer.data
        return (private_data.decode(data[:4] + b'\1' + data[5:])
                or PrivateData(False, 1024, 1024))
    end.peer_data = peer_data


def _any_length(end):
    def peer_data():
        data = end.conn.peer.data
        return (private_data.decode(data + GOOD[len(data):])
                or PrivateData(False, 1024, 1024))
    end.peer_data = peer_data


for _bend in (_any_version, _any_length):
    another_version_or_too_few_octets_count_for_nothing_at_the_acceptor.wrong(_bend)


@requester('C4-6')
def another_version_or_too_few_octets_count_for_nothing_at_the_connector(t):
    """The same of an accept."""
    for data in (*OTHER_FORMATS, GOOD[:7], GOOD[:5]):
        t.hang_up(inline.calls_fill(t, 1024, data=data))


for _bend in (_any_version, _any_length):
    another_version_or_too_few_octets_count_for_nothing_at_the_connector.wrong(_bend)

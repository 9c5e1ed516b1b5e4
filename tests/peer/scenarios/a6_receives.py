# SPDX-License-Identifier: BSD-3-Clause
"""Receives that are posted before a connection is used: draft-ietf-nfsv4-rpcrdma-03 section 6."""
from scene.scenario import requester, responder
from wire import private_data

MOST = 64


def _full(t, size):
    """Returns a WRITE whose Send has this length."""
    return t.write(t.pattern(size - 28 - len(t.write(b''))))


@responder('A6-1', needs={'files'})
def a_server_takes_full_sends_from_the_begin(t):
    """The first Send has the largest length; then as many of that length as granted come together."""
    hand = t.connect()
    told = private_data.decode(hand.conn.peer.data)
    size = min(4096, told.recv_bytes if told else 1024)
    grant = hand.result(hand.call(_full(t, size)).xid, 'the first Call').header.credit
    waiting = {hand.call(_full(t, size)).xid for _ in range(min(grant, MOST))}
    while waiting:
        got = hand.next('a Reply')
        t.hold(got.header.xid in waiting, 'an answer to nothing')
        waiting.remove(got.header.xid)


@a_server_takes_full_sends_from_the_begin.wrong
def _(end):
    right = end.on_send
    end.on_send = lambda sent: right(sent) if len(sent.data) <= 1024 else end.conn.close()


@a_server_takes_full_sends_from_the_begin.wrong
def _(end):
    right, taken = end.on_send, []
    end.on_send = lambda sent: (
        right(sent) if taken.append(1) or len(taken) <= 8 else end.conn.close())


@requester('A6-1')
def a_client_takes_full_sends_from_the_begin(t):
    """The first Reply has the largest length; so have those to all granted Calls, together."""
    around = 28 + len(t.server.answer(t.read(4))) - 4
    call = t.read(4096 - around)
    asked = [t.have_called(call)] + [t.have_called(t.read(4096 - around)) for _ in range(8)]
    hand = t.accept()
    told = private_data.decode(hand.conn.peer.data)
    t.hold(told and told.recv_bytes >= 4096, 'it takes less than 4096 bytes')
    hand.answer(hand.next('the first Call'), t.server.answer(asked[0].call), credit=8)
    t.answered(asked[0])
    calls = [hand.next(f'Call {n + 1} of 8') for n in range(8)]
    for each, got in zip(asked[1:], calls):
        hand.answer(got, t.server.answer(each.call), credit=8)
    for each in asked:
        t.hold(t.answered(each)[-8:] == t.server.answer(each.call)[-8:], 'another Reply arrives')


@a_client_takes_full_sends_from_the_begin.wrong
def _(end):
    right = end.on_send
    end.on_send = lambda sent: right(sent) if len(sent.data) <= 1024 else end.conn.close()


@a_client_takes_full_sends_from_the_begin.wrong
def _(end):
    right, taken = end.on_send, []
    end.on_send = lambda sent: (
        right(sent) if taken.append(1) or len(taken) <= 4 else end.conn.close())

# SPDX-License-Identifier: BSD-3-Clause
"""Remote invalidation: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 section 3.2."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import header

DIALECT = 'version two'


def requests_invalidation(of):
    """Returns the characteristic RQREMINV."""
    return two.value(wire.RQREMINV, of)


def served_with_chunk(t, hand):
    """Makes a READDIR with a Reply chunk. Returns the key that its Reply invalidates, and the exposed key."""
    _key, segment = hand.lend(8192, writable=True)
    got = two.ask(hand, t.readdir(6000), reply=[segment])
    t.hold(got.header.proc == header.NOMSG, 'the READDIR is not served')
    return got.invalidated, segment.handle


def never_unasked(t, hand):
    """Checks that no Reply invalidates a key."""
    for _ in range(3):
        invalidated, _key = served_with_chunk(t, hand)
        t.hold(invalidated is None, f'key {invalidated or 0:#010x} is invalidated')


@responder('B3.2-2', needs={'files'})
def no_key_is_invalidated_unless_the_peer_allows_it(t):
    """No key is invalidated if RQREMINV is unknown or false, or after an UPD_XCHAR that withdraws it."""
    never_unasked(t, t.connect())
    never_unasked(t, two.greeted(t))
    never_unasked(t, two.greeted(t, requests_invalidation(False)))
    hand = two.greeted(t, requests_invalidation(True))
    served_with_chunk(t, hand)
    hand.send(two.upd(requests_invalidation(False)))
    never_unasked(t, hand)


@no_key_is_invalidated_unless_the_peer_allows_it.wrong
def _(end):
    end.may_invalidate = lambda message: True


@no_key_is_invalidated_unless_the_peer_allows_it.wrong
def _(end):
    end.may_invalidate = lambda message: end.peer_data().invalidate


@no_key_is_invalidated_unless_the_peer_allows_it.wrong
def _(end):
    end.take_upd = lambda message: None


@responder('B3.2-2', needs={'files'})
def a_key_of_the_same_rpc_is_invalidated(t):
    """An invalidated key belongs to the Call of the Reply, with two Calls in flight and several keys."""
    hand = two.greeted(t, requests_invalidation(True))
    lent = {}
    for _ in range(4):
        _key, segment = hand.lend(8192, writable=True)
        sent = hand.call(t.readdir(6000), vers=2, reply=[segment])
        lent[sent.xid] = segment.handle
    for _ in range(4):
        got = hand.next('a Reply')
        t.hold(got.invalidated in (None, lent[got.header.xid]),
               'a key of another RPC is invalidated')
    t.hold(two.barrier(t, hand).invalidated is None, 'a key is invalidated that no Call lent')
    t.hold(not hand.conn.flaws, f'it {hand.conn.flaws}')


@a_key_of_the_same_rpc_is_invalidated.wrong
def _(end):
    keys = []
    right = end.take_call

    def take(message):
        keys.extend(s.handle for s in message.reply or [])
        right(message)
    end.take_call = take
    end.key_to_invalidate = lambda message: keys[0] if len(keys) == 1 else keys[-2]


@responder('B3.2-2', needs={'behind'})
def a_key_is_invalidated_where_the_peer_allows_it(t):
    """UPD_XCHAR permits invalidation like INIT_XCHAR; the Reply invalidates one key of the Call."""
    hand = two.greeted(t)
    for allowed in (True, False, True):
        hand.send(two.upd(requests_invalidation(allowed)))
        _key, segment = hand.lend(8192, writable=True)
        got = two.ask(hand, t.echo(b'', 6000), reply=[segment])
        t.hold(got.invalidated == (segment.handle if allowed else None),
               f'RQREMINV is {allowed}, invalidated is {got.invalidated}')


@a_key_is_invalidated_where_the_peer_allows_it.wrong
def _(end):
    end.may_invalidate_two = lambda: False


@a_key_is_invalidated_where_the_peer_allows_it.wrong
def _(end):
    end.take_upd = lambda message: None


def long_call(t, hand, allowed, which):
    """A Call with a Read chunk and a Reply chunk; the Reply invalidates one key or none."""
    asked, got = two.again(t, hand, t.echo(t.pattern(9000)))
    t.hold(hand.message_of(got) == asked.call, 'the chunk carries something else')
    landing = got.reply_chunk()[0]
    keys = {'none': None, 'read': got.read_list()[0].handle, 'reply': landing.handle}
    reply = t.server.answer(asked.call)
    hand.conn.write(landing.handle, landing.offset, reply)
    chunk = [header.Segment(landing.handle, len(reply), landing.offset)]
    hand.send(header.Header(got.header.xid, vers=2, credit=16, proc=header.NOMSG, reply=chunk),
              invalidate=keys[which] if allowed else None)
    t.hold(t.answered(asked) == reply, f'{which}: another Reply reaches the caller')
    return [got.read_list()[0], landing]


@requester('B3.2-1', keys=two.KEYS, needs={'behind'})
def who_allows_invalidation_bears_any_of_it(t):
    """The Reply invalidates none or one of several keys. Calls continue, and no key is used twice."""
    asked, hand, first = two.probed(t, t.null())
    values = wire.values_known(two.decoded(wire.decode_init, first)[0])
    allowed = values.get(wire.RQREMINV, False)
    hand.send(two.init(xid=first.header.xid))
    two.done(t, hand, asked, hand.next('the Call'))
    seen = set()
    for which in ('none', 'read', 'reply', 'none', 'reply', 'read'):
        for segment in long_call(t, hand, allowed, which):
            t.hold(not allowed or segment.handle not in seen,
                   'a key that may be invalidated is in use again')
            seen.add(segment.handle)
    two.in_order(t, hand)


@who_allows_invalidation_bears_any_of_it.wrong
def _(end):
    right = end.take_reply

    def take(message, invalidated):
        if invalidated is None and end.pending[message.xid].lent:
            end.conn.terminate(0, 0)
        right(message, invalidated)
    end.take_reply = take


@who_allows_invalidation_bears_any_of_it.wrong
def _(end):
    right = end.take_reply

    def take(message, invalidated):
        if invalidated and any(not key.dead for key in end.pending[message.xid].lent):
            return
        right(message, invalidated)
    end.take_reply = take


@who_allows_invalidation_bears_any_of_it.wrong
def _(end):
    kept = {}

    def lend(pending, memory, readable=False, writable=False):
        key = end.conn.expose(memory, readable, writable)
        old = kept.setdefault(readable, key)
        del end.conn.keys[key.stag]
        key.stag = old.stag
        end.conn.keys[key.stag] = key
        pending.lent.append(key)
        return key
    end.lend = lend

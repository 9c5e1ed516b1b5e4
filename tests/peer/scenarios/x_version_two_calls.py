# SPDX-License-Identifier: BSD-3-Clause
"""What the drafts of version two leave open about Calls and versions: X-3, X-13 to X-15."""
from model.version_two import TWO
from scene import inline, two
from scene.client_session import new_xid
from scene.scenario import Unfit, requester, responder
from wire import characteristics as wire
from wire import header, xdr

DIALECT = 'version two'


# ---------------------------------------------------------------- what is too short

def too_short():
    """Sends that are too short for their type."""
    for proc, sizes in ((header.MSG, (16, 24)), (header.NOMSG, (16, 24)), (header.ERROR, (16,)),
                        (header.OPTIONAL, (16, 20))):
        for size in sizes:
            words = (new_xid(), 2, 1, proc, 1, 0, 0)
            yield b''.join(map(xdr.u32, words))[:size]
    yield xdr.u32(new_xid()) + xdr.u32(2)
    for size, kind in ((36, 0), (4, 0), (16, 1)):
        body = (xdr.u32(new_xid()) + xdr.u32(kind)).ljust(40, b'\0')[:size]
        yield header.encode(header.Header(int.from_bytes(body[:4], 'big'), vers=2, body=body))


@responder('X-3')
def what_is_too_short_for_its_kind_gets_nothing(t):
    """They do not affect later messages; an RDMA_OPTIONAL has at least 24 bytes."""
    hand = t.connect()
    two.barrier(t, hand)
    for data in too_short():
        hand.send(data)
        two.barrier(t, hand)


def knows_no_least_size(end):
    """A bend: what is short is read as far as it goes."""
    end.too_short = lambda data: len(data) < header.FIXED_BYTES


what_is_too_short_for_its_kind_gets_nothing.wrong(knows_no_least_size)


@what_is_too_short_for_its_kind_gets_nothing.wrong
def _(end):
    end.body_too_short = lambda body: len(body) < 8


@requester('X-3', keys=two.KEYS)
def a_requester_drops_what_is_too_short(t):
    """They are dropped, and Calls continue."""
    hand = two.ready(t)
    for data in too_short():
        hand.send(data)
        two.in_order(t, hand)


a_requester_drops_what_is_too_short.wrong(knows_no_least_size)


# ---------------------------------------------------------------- what is a Call

@responder('X-13', needs={'files'})
def a_nomsg_is_a_call_if_it_has_a_read_list(t):
    """Without a Read list it is a Reply, and dropped without a Call."""
    hand = t.connect()
    two.barrier(t, hand)
    _key, segment = hand.lend(64, writable=True)
    hand.send(header.Header(new_xid(), vers=2, proc=header.NOMSG, reply=[segment]))
    two.barrier(t, hand)
    call = t.read(64)
    sent = hand.call(b'', xid=int.from_bytes(call[:4], 'big'), vers=2, proc=header.NOMSG,
                     reads=hand.read_chunk(0, call))
    t.hold(hand.reply(sent.xid).body.endswith(t.pattern(64)), 'other data is read')


@a_nomsg_is_a_call_if_it_has_a_read_list.wrong
def _(end):
    end.is_long_call = lambda message: not end.connector


@a_nomsg_is_a_call_if_it_has_a_read_list.wrong
def _(end):
    end.is_long_call = lambda message: False


@requester('X-13', keys=two.with_keys(reverse_chunks=True), needs={'reverse'})
def a_nomsg_with_a_read_list_is_a_reverse_call(t):
    """The acceptor's Call by position-zero chunk is read and answered."""
    hand = two.ready(t, two.value(wire.BRS, wire.BRS_GENL))
    call = t.null()
    sent = hand.call(b'', xid=int.from_bytes(call[:4], 'big'), vers=2, proc=header.NOMSG,
                     reads=hand.read_chunk(0, call))
    t.hold(hand.reply(sent.xid).header.proc == header.MSG, 'it is not served')
    two.in_order(t, hand)


@a_nomsg_with_a_read_list_is_a_reverse_call.wrong
def _(end):
    end.is_long_call = lambda message: not end.connector


# ---------------------------------------------------------------- private data

@responder('X-14', keys={'inline_threshold_bytes': 16384}, needs={'files'})
def larger_sizes_of_the_private_data_hold(t):
    """Without a characteristic, a Reply up to the size of the private data comes inline."""
    hand = t.connect(send=16384, recv=16384)
    if inline.told(hand).send_bytes < 16384:
        raise Unfit('its private data do not allow so much')
    got = two.inline_reply(hand, t.readdir(6000))
    t.hold(len(got.data) > 4096, 'the Reply is a short one')


@larger_sizes_of_the_private_data_hold.wrong
def _(end):
    end.send_limit_two = lambda: 4096


@responder('X-14', needs={'behind'})
def the_flag_of_the_private_data_counts_for_nothing(t):
    """The flag alone permits no invalidation; RQREMINV does, even without the flag."""
    for invalidate in (True, False):
        hand = two.greeted(t, *([] if invalidate else [two.value(wire.RQREMINV, True)]),
                           invalidate=invalidate)
        _key, segment = hand.lend(8192, writable=True)
        got = two.ask(hand, t.echo(b'', 6000), reply=[segment])
        t.hold(got.invalidated == (None if invalidate else segment.handle),
               'a key is invalidated' if invalidate else 'the key is not invalidated')


@the_flag_of_the_private_data_counts_for_nothing.wrong
def _(end):
    end.may_invalidate = lambda message: end.peer_data().invalidate


@the_flag_of_the_private_data_counts_for_nothing.wrong
def _(end):
    end.may_invalidate = lambda message: (end.peer_data().invalidate
                                          and end.may_invalidate_two())


@requester('X-14', keys=two.with_keys(inline_threshold_bytes=16384))
def a_requester_obeys_larger_sizes_too(t):
    """Without a characteristic, Calls up to that size go inline, and no longer ones."""
    asked, hand, first = two.probed(t, t.null(), send=8192, recv=8192)
    hand.send(two.error(first.header.xid, header.INVAL_OPTION))
    two.done(t, hand, asked, hand.next('the Call'))
    t.hold(two.goes_inline(t, hand, two.write(t, 8192)), '8192 bytes do not go inline')
    t.hold(not two.goes_inline(t, hand, two.write(t, 8196)), '8196 bytes go inline')


@a_requester_obeys_larger_sizes_too.wrong
def _(end):
    end.send_limit_two = lambda: 4096


@a_requester_obeys_larger_sizes_too.wrong
def _(end):
    end.send_limit_two = lambda: 16384


# ---------------------------------------------------------------- the version of a connection

def err_vers(t, hand, call, version, low, high):
    """A Call in this version is refused with this range."""
    sent = hand.call(call, vers=version)
    got = hand.reply(sent.xid, 'ERR_VERS')
    t.hold((got.header.proc, got.header.err) == (header.ERROR, header.ERR_VERS),
           f'version {version} does not get ERR_VERS')
    t.hold((got.header.low, got.header.high) == (low, high),
           f'the range is {got.header.low}..{got.header.high}, not {low}..{high}')


@responder('X-15')
def the_first_call_settles_the_version(t):
    """A later Call in another version is refused with low = high = the settled version."""
    for settled, other in ((1, 2), (2, 1)):
        hand = t.connect()
        hand.ask(t.null(), vers=settled)
        for version in (other, 3, 0):
            err_vers(t, hand, t.null(), version, settled, settled)
        got = hand.ask(t.null(), vers=settled)
        t.hold(got.header.proc == header.MSG, f'version {settled} is not served any more')


@the_first_call_settles_the_version.wrong
def _(end):
    end.speaks = lambda version: version in (1, 2)


@the_first_call_settles_the_version.wrong
def _(end):
    end.version_range = end.versions


@responder('X-15')
def a_third_version_learns_the_whole_range_first(t):
    """Before the first Call the range is 1..2, and the refusal does not settle the version."""
    for version in (3, 0, 2**32 - 1):
        for served in (1, 2):
            hand = t.connect()
            err_vers(t, hand, t.null(), version, 1, 2)
            got = hand.ask(t.null(), vers=served)
            t.hold(got.header.proc == header.MSG, f'version {served} is not served')


@a_third_version_learns_the_whole_range_first.wrong
def _(end):
    right = end.refuse_version

    def settle(xid):
        right(xid)
        end.settle(TWO)
    end.refuse_version = settle


@a_third_version_learns_the_whole_range_first.wrong
def _(end):
    end.version_range = lambda: (1, 1)


@responder('X-15')
def an_init_xchar_settles_nothing(t):
    """Afterwards a Call of version one is served, and then only such Calls."""
    hand = two.greeted(t)
    got = hand.ask(t.null(), vers=1)
    t.hold((got.header.proc, got.header.vers) == (header.MSG, 1), 'version one is not served')
    err_vers(t, hand, t.null(), 2, 1, 1)


@an_init_xchar_settles_nothing.wrong
def _(end):
    right = end.take_optional

    def settle(message):
        right(message)
        end.settle(TWO)
    end.take_optional = settle

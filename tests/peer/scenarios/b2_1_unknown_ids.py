# SPDX-License-Identifier: BSD-3-Clause
"""Ids that nobody here knows: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 2.1 and 6."""
from scene import two
from scene.scenario import requester, responder
from wire import characteristics as wire
from wire import xdr

DIALECT = 'version two'
STRANGE = (0, 4, 77, 0x80000000, 0xfffffeff)


def unknown_values(idents):
    """Returns values of unknown ids, of several lengths."""
    return [(ident, bytes(index * 3)) for index, ident in enumerate(idents)]


def skipped(t, idents):
    """A responder skips these ids and takes the receive size between them."""
    hand = t.connect()
    before, after = unknown_values(idents), unknown_values(reversed(idents))
    two.greet(hand, *before, two.size(two.BIG), *after)
    two.inline_reply(hand, t.readdir(6000))
    two.barrier(t, hand)


def skipped_by_a_requester(t, idents):
    """A requester skips them. Returns the Hand."""
    before, after = unknown_values(idents), unknown_values(reversed(idents))
    hand = two.ready(t, *before, two.size(two.BIG), *after)
    t.hold(two.goes_inline(t, hand, two.write(t, 6000)), 'the receive size is not taken')
    two.in_order(t, hand)
    return hand


def strangers_stop_it(end):
    """A bend: what follows an unknown id is not looked at."""
    right = end.learn

    def learn(values):
        known = []
        for value in values:
            if value[0] not in wire.DEFAULTS:
                break
            known.append(value)
        right(known)
    end.learn = learn


def strangers_are_errors(end):
    """A bend: an unknown id is an XDR error."""
    right = end.learn

    def learn(values):
        if any(ident not in wire.DEFAULTS for ident, _data in values):
            raise xdr.XdrError('unknown')
        right(values)
    end.learn = learn


@responder('B2.1-4', needs={'files'})
def unknown_ids_are_skipped(t):
    """They cause no error, and the next value is taken."""
    skipped(t, (77, 78))


unknown_ids_are_skipped.wrong(strangers_stop_it)
unknown_ids_are_skipped.wrong(strangers_are_errors)


@requester('B2.1-4', keys=two.KEYS)
def a_requester_skips_unknown_ids(t):
    """They cause no error, and the next value is taken."""
    skipped_by_a_requester(t, (77, 78))


a_requester_skips_unknown_ids.wrong(strangers_stop_it)
a_requester_skips_unknown_ids.wrong(strangers_are_errors)


@responder('B6-1', needs={'files'})
def ids_may_be_any(t):
    """Ids of 0, large ones, and with gaps between them."""
    skipped(t, STRANGE)


ids_may_be_any.wrong(strangers_stop_it)
ids_may_be_any.wrong(strangers_are_errors)


@responder('B6-1', keys={'inline_threshold_bytes': 131072}, needs={'behind'})
def ten_thousand_ids_are_skipped(t):
    """All in one message of 80 kB, twice."""
    hand = t.connect(send=131072, recv=131072)
    two.greet(hand)
    for _ in range(3):
        hand.send(two.init(*[(1000 + n, b'') for n in range(10000)]))
        sent = two.req(*[(1000 + n, b'') for n in range(10000)])
        t.hold(two.disposition(t, hand, sent)[1] == set(range(10000)), 'not all are rejected')
    two.barrier(t, hand)


ten_thousand_ids_are_skipped.wrong(strangers_are_errors)


@ten_thousand_ids_are_skipped.wrong
def _(end):
    right = end.verdict
    end.verdict = lambda ident, data: 'done' if ident == 10999 else right(ident, data)


@requester('B6-1', keys=two.KEYS)
def a_requester_takes_any_ids(t):
    """Ids of 0, large ones, and with gaps between them."""
    skipped_by_a_requester(t, STRANGE)


a_requester_takes_any_ids.wrong(strangers_stop_it)
a_requester_takes_any_ids.wrong(strangers_are_errors)


def experimental(t, hand, in_order):
    """Experimental ids in each operation."""
    value = (0xffffff00, b'abcdef')
    hand.send(two.upd(value))
    _done, rej, _pend = two.disposition(t, hand, two.req(value, (0xffffffff, b'')))
    t.hold(rej == {0, 1}, 'they are not rejected in REQ_XCHAR')
    in_order(t, hand)


@responder('B6.3-1', needs={'files'})
def experimental_ids_are_skipped(t):
    """It ignores them in INIT_XCHAR and UPD_XCHAR, and rejects them in REQ_XCHAR."""
    skipped(t, (0xffffff00, 0xffffffff))
    experimental(t, two.greeted(t), two.barrier)


experimental_ids_are_skipped.wrong(strangers_stop_it)


@experimental_ids_are_skipped.wrong
def _(end):
    right = end.verdict
    end.verdict = lambda ident, data: 'pend' if ident > 0xffffff00 else right(ident, data)


@requester('B6.3-1', keys=two.KEYS)
def a_requester_skips_experimental_ids(t):
    """It ignores them in INIT_XCHAR and UPD_XCHAR, and rejects them in REQ_XCHAR."""
    experimental(t, skipped_by_a_requester(t, (0xffffff00, 0xffffffff)), two.in_order)


a_requester_skips_experimental_ids.wrong(strangers_are_errors)

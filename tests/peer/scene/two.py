# SPDX-License-Identifier: BSD-3-Clause
"""Connections of version two in the hand of a scenario, and the operations that go over them."""
from scene.client_session import new_xid
from scene.scenario import Unfit, Wrong
from wire import characteristics as wire
from wire import header, rpc, xdr

BIG = 16384             # a receive size that scenarios tell or ask for
LONG = 8000             # of Calls that make a requester ask for larger receives
OFTEN = 64              # at the latest after so many of them
POSTED = 256            # receives that may have another size than those to come
UNKNOWN = 99            # no operation has this opttype
KEYS = {'connect_version': 2}


def with_keys(**more):
    """The keys of a requester that tries version two."""
    return {**KEYS, **more}


# ---------------------------------------------------------------- messages

def value(ident, of):
    """A value of a known characteristic as it travels."""
    return ident, wire.value_bytes(ident, of)


def size(count):
    """A receive size."""
    return value(wire.RBSIZ, count)


def operation(opttype, optinfo, xid=None, credit=16, body=b''):
    """An RDMA_OPTIONAL."""
    return header.Header(new_xid() if xid is None else xid, vers=2, credit=credit,
                         proc=header.OPTIONAL, opttype=opttype, optinfo=optinfo, body=body)


def init(*values, nochg=(), **fields):
    """An INIT_XCHAR."""
    return operation(wire.INIT_XCHAR, wire.encode_init(values, nochg), **fields)


def req(*values, **fields):
    """A REQ_XCHAR."""
    return operation(wire.REQ_XCHAR, wire.encode_req(values), **fields)


def upd(changed, pendclr=False, **fields):
    """An UPD_XCHAR."""
    return operation(wire.UPD_XCHAR, wire.encode_upd(changed, pendclr), **fields)


def resp(xid, done=(), rej=(), pend=(), **fields):
    """A RESP_XCHAR."""
    return operation(wire.RESP_XCHAR, wire.encode_resp(done, rej, pend), xid=xid, **fields)


def error(xid, err, **fields):
    """An RDMA_ERROR of version two."""
    return header.Header(xid, vers=fields.pop('vers', 2), credit=fields.pop('credit', 1),
                         proc=header.ERROR, err=err, **fields)


def is_operation(got, opttype):
    """Whether a message is this operation."""
    return got.header.proc == header.OPTIONAL and got.header.opttype == opttype


def decoded(decode, got):
    """The optinfo of an operation; Wrong if it is none."""
    try:
        return decode(got.header.optinfo)
    except xdr.XdrError as flaw:
        raise Wrong(f'operation {got.header.opttype} does not decode: {flaw}') from flaw


def write(t, send_bytes):
    """A WRITE whose Send has so many bytes where it goes inline; its Reply is short."""
    call = t.write(b'')
    return t.write(bytes(send_bytes - header.min_bytes(2, header.MSG) - len(call)))


# ---------------------------------------------------------------- the other end is a responder

def greet(hand, *values, **fields):
    """Sends INIT_XCHAR; what the acceptor's own says, by id."""
    got = own_init(hand, hand.send(init(*values, **fields)))
    return wire.values_known(decoded(wire.decode_init, got)[0])


def own_init(hand, sent):
    """The acceptor's answer to INIT_XCHAR, which is its own."""
    got = hand.reply(sent.xid, 'the INIT_XCHAR of the acceptor')
    if got.header.proc == header.ERROR and got.header.err == header.INVAL_OPTION:
        raise Unfit('it does not know characteristics')
    if not is_operation(got, wire.INIT_XCHAR):
        raise Wrong('INIT_XCHAR is answered, but not by one')
    return got


def greeted(t, *values, **start):
    """A connection whose characteristics are told; the Hand."""
    hand = t.connect(**start)
    greet(hand, *values)
    return hand


def ask(hand, call, **fields):
    """Calls inline in version two and waits for the answer."""
    return hand.ask(call, vers=2, **fields)


def barrier(t, hand):
    """What was sent before has been dealt with, and nothing came of it: a Call is served."""
    got = ask(hand, t.null())
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG),
           f'a Call of version two is not served but: {header.describe(got.data)}')
    return got


def all_served(t, hand, sent):
    """Each of these Calls is answered by a Reply in version two, in whatever order."""
    waiting = {message.xid for message in sent}
    while waiting:
        got = hand.next('a Reply')
        t.hold(got.header.xid in waiting, 'an answer to nothing, or a second one')
        t.hold((got.header.vers, got.header.proc) == (2, header.MSG),
               f'a Call is not served but: {header.describe(got.data)}')
        waiting.remove(got.header.xid)


def refused(t, hand, message, err):
    """Sends what must be refused, so, with its XID; serves on afterwards."""
    sent = hand.send(message)
    xid = sent.xid if isinstance(sent, header.Header) else rpc.xid_of(sent)
    is_refusal(t, hand.reply(xid, 'an RDMA_ERROR'), err)


def is_refusal(t, got, err):
    """Whether an answer is this error of version two, in its 20 bytes."""
    t.hold(got.header.proc == header.ERROR, 'it is answered, but not by an RDMA_ERROR')
    t.hold((got.header.vers, got.header.err) == (2, err),
           f'error {got.header.err} of version {got.header.vers} instead of {err} of version 2')
    t.hold(len(got.data) == 20, f'the error has {len(got.data)} bytes, not 20')
    t.hold(got.header.credit >= 1, 'the error grants no credit')


def inline_reply(hand, call):
    """A Call without a reply chunk, whose Reply is to come inline."""
    got = ask(hand, call)
    if got.header.proc != header.MSG:
        raise Wrong('the Reply does not come inline')
    return got


def chunk_reply(hand, call, room=BIG):
    """The same with a reply chunk, which is to be used."""
    _key, segment = hand.lend(room, writable=True)
    got = ask(hand, call, reply=[segment])
    if got.header.proc != header.NOMSG:
        raise Wrong('the Reply does not come in the reply chunk')
    return got


def disposition(t, hand, message):
    """Sends a REQ_XCHAR; the three subsets of its RESP_XCHAR, which part the request."""
    hand.send(message)
    got = hand.reply(message.xid, 'the RESP_XCHAR')
    t.hold(is_operation(got, wire.RESP_XCHAR), 'REQ_XCHAR is answered, but not by RESP_XCHAR')
    subsets = decoded(wire.decode_resp, got)
    count = len(wire.decode_req(message.optinfo))
    t.hold(set.union(*subsets) == set(range(count)),
           f'the subsets {subsets} do not cover {count} values')
    t.hold(sum(map(len, subsets)) == count, f'the subsets {subsets} overlap')
    return subsets


def update(got, ident):
    """What an UPD_XCHAR of this id says: (its value, pendclr)."""
    if not is_operation(got, wire.UPD_XCHAR):
        raise Wrong('something else comes instead of UPD_XCHAR')
    (which, data), pendclr = decoded(wire.decode_upd, got)
    if which != ident:
        raise Wrong(f'an UPD_XCHAR of {which} instead of {ident}')
    return wire.value_of(which, data), pendclr


def updated(hand, ident):
    """Waits for an UPD_XCHAR of this id; (its value, pendclr)."""
    return update(hand.next('an UPD_XCHAR'), ident)


class Wait:
    """For what pends until receives are used up: on verbs those that are posted keep their size."""

    def __init__(self, t, hand):
        self.t = t
        self.hand = hand
        self.calls = POSTED if hand.conn.initiator else 0

    def next(self):
        """What comes with one more Call that uses up a receive, if any; without such, what comes."""
        if not self.calls:
            return [self.hand.next('an UPD_XCHAR')]
        self.calls -= 1
        sent = self.hand.call(self.t.null(), vers=2)
        come = []
        while (got := self.hand.next('the Reply')).header.xid != sent.xid:
            come.append(got)
        self.t.hold(got.header.proc == header.MSG,
                    f'a Call is not served but: {header.describe(got.data)}')
        return come


def granted(t, hand, count):
    """Asks for a receive size and waits until it holds; False if it is refused, then or later.

    What pends may be told in steps, and may end without a change: B4.4-1.
    """
    answered, _rej, pend = disposition(t, hand, req(size(count)))
    now, pending, wait = count if answered else 0, bool(pend), Wait(t, hand)
    while pending:
        for got in wait.next():
            t.hold(pending, 'another operation behind what was pending')
            now, pendclr = update(got, wire.RBSIZ)
            t.hold(now >= 4096, f'{count} was pending, and {now} is told')
            pending = not pendclr
    return now >= count


def raised(t, hand, count):
    """Has a receive size raised; nobody needs to grant it: B3-2."""
    if not granted(t, hand, count):
        raise Unfit(f'it refuses receives of {count} bytes')


# ---------------------------------------------------------------- the other end is a requester

def probed(t, call, **start):
    """Has the requester call; (what was asked, the Hand, its INIT_XCHAR)."""
    asked = t.have_called(call)
    hand = t.accept(**start)
    got = hand.next('the first message')
    if got.header.vers != 2:
        raise Wrong(f'the first message is of version {got.header.vers}')
    return asked, hand, got


def called(t, call, *values, credit=16, **start):
    """The same, with INIT_XCHAR answered; the third is the Call."""
    asked, hand, got = probed(t, call, **start)
    if not is_operation(got, wire.INIT_XCHAR):
        raise Unfit('it does not know characteristics')
    hand.send(init(*values, xid=got.header.xid, credit=credit))
    return asked, hand, hand.next('the Call')


def ready(t, *values, **start):
    """A connection of the requester that is settled, and carries nothing; the Hand."""
    asked, hand, got = called(t, t.null(), *values, **start)
    done(t, hand, asked, got)
    return hand


def ready_and_told(t, *values, **start):
    """The same, and the receive size that the requester's INIT_XCHAR told."""
    asked, hand, first = probed(t, t.null(), **start)
    if not is_operation(first, wire.INIT_XCHAR):
        raise Unfit('it does not know characteristics')
    told = wire.values_known(decoded(wire.decode_init, first)[0]).get(wire.RBSIZ, 4096)
    hand.send(init(*values, xid=first.header.xid))
    done(t, hand, asked, hand.next('the Call'))
    return hand, told


def answer(hand, got, reply, **fields):
    """Answers a Call inline, or in its reply chunk where 4096 bytes are too few for it."""
    if not got.header.reply or len(reply) + header.min_bytes(2, header.MSG) <= 4096:
        return hand.answer(got, reply, **fields)
    return hand.answer_long(got, reply, fields.get('credit', 16))


def done(t, hand, asked, got, **fields):
    """Answers a Call of the requester as the server would; its caller must have the Reply."""
    reply = t.server.answer(asked.call)
    answer(hand, got, reply, **fields)
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


def taken(hand):
    """What was sent before has been dealt with; operations of the requester that come meanwhile."""
    sent = hand.send(operation(UNKNOWN, b''))
    come = []
    while (got := hand.next('INVAL_OPTION')).header.xid != sent.xid:
        come.append(got)
    return come


def next_call(hand):
    """The next message but for what a requester may send of its own: a REQ_XCHAR is refused."""
    while True:
        got = hand.next('the Call')
        if is_operation(got, wire.REQ_XCHAR):
            wanted = decoded(wire.decode_req, got)
            hand.send(resp(got.header.xid, rej=range(len(wanted))))
        elif not is_operation(got, wire.UPD_XCHAR):
            return got


def again(t, hand, call):
    """Has the requester call once more; (what was asked, the Call)."""
    asked = t.have_called(call)
    return asked, next_call(hand)


def in_order(t, hand):
    """What was sent before has been dealt with, and nothing came of it.

    Two Calls: the first may be on its way already, the second follows the Reply to the first.
    """
    for _ in range(2):
        asked, got = again(t, hand, t.null())
        t.hold(got.data[-len(asked.call):] == asked.call, 'something else comes than the Call')
        done(t, hand, asked, got)


def goes_inline(t, hand, call):
    """Whether a Call goes inline; it is answered."""
    asked, got = again(t, hand, call)
    inline = got.header.proc == header.MSG
    if not inline:
        t.hold(hand.message_of(got) == asked.call, 'the chunk carries something else')
    done(t, hand, asked, got)
    return inline


def wanted(t, hand):
    """Long Calls until the requester asks for larger receives; its REQ_XCHAR, or None."""
    for _ in range(OFTEN):
        asked = t.have_called(write(t, LONG))
        request = None
        while (got := hand.next('the Call')).header.proc == header.OPTIONAL:
            request = got if is_operation(got, wire.REQ_XCHAR) else request
        hand.message_of(got)
        done(t, hand, asked, got)
        if request is None:
            request = next((op for op in taken(hand) if is_operation(op, wire.REQ_XCHAR)), None)
        if request is not None:
            return request
    return None


def asking(t):
    """A requester that asks for larger receives: (the Hand, its REQ_XCHAR, the size)."""
    hand = ready(t)
    request = wanted(t, hand)
    if request is None:
        raise Unfit('long Calls do not make it ask for larger receives')
    values = decoded(wire.decode_req, request)
    t.hold([ident for ident, _data in values] == [wire.RBSIZ], f'it asks for {values}')
    return hand, request, wire.value_of(*values[0])


def long_goes(t, hand, inline, text):
    """Whether a Call goes inline that went by chunk before."""
    t.hold(goes_inline(t, hand, write(t, LONG)) == inline, text)

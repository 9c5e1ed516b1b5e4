# SPDX-License-Identifier: BSD-3-Clause
"""Connections of version two that a scenario controls, and their operations."""
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
    """Returns the keys of a requester that tries version two."""
    return {**KEYS, **more}


# ---------------------------------------------------------------- messages

def value(ident, of):
    """Returns the encoded value of a known characteristic."""
    return ident, wire.value_bytes(ident, of)


def size(count):
    """Returns the characteristic of a receive size."""
    return value(wire.RBSIZ, count)


def operation(opttype, optinfo, xid=None, credit=16, body=b''):
    """Returns an RDMA_OPTIONAL."""
    return header.Header(new_xid() if xid is None else xid, vers=2, credit=credit,
                         proc=header.OPTIONAL, opttype=opttype, optinfo=optinfo, body=body)


def init(*values, nochg=(), **fields):
    """Returns an INIT_XCHAR."""
    return operation(wire.INIT_XCHAR, wire.encode_init(values, nochg), **fields)


def req(*values, **fields):
    """Returns a REQ_XCHAR."""
    return operation(wire.REQ_XCHAR, wire.encode_req(values), **fields)


def upd(changed, pendclr=False, **fields):
    """Returns an UPD_XCHAR."""
    return operation(wire.UPD_XCHAR, wire.encode_upd(changed, pendclr), **fields)


def resp(xid, done=(), rej=(), pend=(), **fields):
    """Returns a RESP_XCHAR."""
    return operation(wire.RESP_XCHAR, wire.encode_resp(done, rej, pend), xid=xid, **fields)


def error(xid, err, **fields):
    """Returns an RDMA_ERROR of version two."""
    return header.Header(xid, vers=fields.pop('vers', 2), credit=fields.pop('credit', 1),
                         proc=header.ERROR, err=err, **fields)


def is_operation(got, opttype):
    """Returns whether a message is this operation."""
    return got.header.proc == header.OPTIONAL and got.header.opttype == opttype


def decoded(decode, got):
    """Returns the optinfo of an operation; raises Wrong for another message."""
    try:
        return decode(got.header.optinfo)
    except xdr.XdrError as flaw:
        raise Wrong(f'operation {got.header.opttype} does not decode: {flaw}') from flaw


def write(t, send_bytes):
    """Returns a WRITE whose inline Send has this length; its Reply is short."""
    call = t.write(b'')
    return t.write(bytes(send_bytes - header.min_bytes(2, header.MSG) - len(call)))


# ---------------------------------------------------------------- the other end is a responder

def greet(hand, *values, **fields):
    """Sends INIT_XCHAR. Returns the values of the acceptor's INIT_XCHAR by id."""
    got = own_init(hand, hand.send(init(*values, **fields)))
    return wire.values_known(decoded(wire.decode_init, got)[0])


def own_init(hand, sent):
    """Returns the acceptor's answer to INIT_XCHAR: its own INIT_XCHAR."""
    got = hand.reply(sent.xid, 'the INIT_XCHAR of the acceptor')
    if got.header.proc == header.ERROR and got.header.err == header.INVAL_OPTION:
        raise Unfit('it does not know characteristics')
    if not is_operation(got, wire.INIT_XCHAR):
        raise Wrong('INIT_XCHAR is answered, but not by one')
    return got


def greeted(t, *values, **start):
    """Returns the Hand of a connection after both INIT_XCHARs."""
    hand = t.connect(**start)
    greet(hand, *values)
    return hand


def ask(hand, call, **fields):
    """Sends a Call inline in version two and waits for the answer."""
    return hand.ask(call, vers=2, **fields)


def barrier(t, hand):
    """Checks by a Call that earlier messages were handled without an effect."""
    got = ask(hand, t.null())
    t.hold((got.header.vers, got.header.proc) == (2, header.MSG),
           f'a Call of version two is not served but: {header.describe(got.data)}')
    return got


def all_served(t, hand, sent):
    """Checks that each of these Calls gets a Reply in version two, in any order."""
    waiting = {message.xid for message in sent}
    while waiting:
        got = hand.next('a Reply')
        t.hold(got.header.xid in waiting, 'an answer to nothing, or a second one')
        t.hold((got.header.vers, got.header.proc) == (2, header.MSG),
               f'a Call is not served but: {header.describe(got.data)}')
        waiting.remove(got.header.xid)


def refused(t, hand, message, err):
    """Sends a message that must be refused by this error with its XID, and checks that Calls are still served."""
    sent = hand.send(message)
    xid = sent.xid if isinstance(sent, header.Header) else rpc.xid_of(sent)
    is_refusal(t, hand.reply(xid, 'an RDMA_ERROR'), err)


def is_refusal(t, got, err):
    """Returns whether an answer is this error of version two, with its 20 bytes."""
    t.hold(got.header.proc == header.ERROR, 'it is answered, but not by an RDMA_ERROR')
    t.hold((got.header.vers, got.header.err) == (2, err),
           f'error {got.header.err} of version {got.header.vers} instead of {err} of version 2')
    t.hold(len(got.data) == 20, f'the error has {len(got.data)} bytes, not 20')
    t.hold(got.header.credit >= 1, 'the error grants no credit')


def inline_reply(hand, call):
    """Sends a Call without a Reply chunk. Its Reply must come inline."""
    got = ask(hand, call)
    if got.header.proc != header.MSG:
        raise Wrong('the Reply does not come inline')
    return got


def chunk_reply(hand, call, room=BIG):
    """Sends a Call with a Reply chunk, which the Reply must use."""
    _key, segment = hand.lend(room, writable=True)
    got = ask(hand, call, reply=[segment])
    if got.header.proc != header.NOMSG:
        raise Wrong('the Reply does not come in the reply chunk')
    return got


def disposition(t, hand, message):
    """Sends a REQ_XCHAR. Returns the three subsets of its RESP_XCHAR, which divide the request."""
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
    """Returns (value, pendclr) of an UPD_XCHAR of this id."""
    if not is_operation(got, wire.UPD_XCHAR):
        raise Wrong('something else comes instead of UPD_XCHAR')
    (which, data), pendclr = decoded(wire.decode_upd, got)
    if which != ident:
        raise Wrong(f'an UPD_XCHAR of {which} instead of {ident}')
    return wire.value_of(which, data), pendclr


def updated(hand, ident):
    """Waits for an UPD_XCHAR of this id. Returns (value, pendclr)."""
    return update(hand.next('an UPD_XCHAR'), ident)


class Wait:
    """Uses up receives while it waits: on verbs, posted receives keep their size."""

    def __init__(self, t, hand):
        self.t = t
        self.hand = hand
        self.calls = POSTED if hand.conn.initiator else 0

    def next(self):
        """Returns the messages before the Reply to one more Call; if all receives are used up, the next message."""
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
    """Requests a receive size and waits until it is in effect. Returns False if it is refused, then or later.

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
    """Requests a larger receive size. Raises Unfit if the peer refuses it: B3-2."""
    if not granted(t, hand, count):
        raise Unfit(f'it refuses receives of {count} bytes')


# ---------------------------------------------------------------- the other end is a requester

def probed(t, call, **start):
    """Makes the requester call. Returns (the Call, the Hand, its INIT_XCHAR)."""
    asked = t.have_called(call)
    hand = t.accept(**start)
    got = hand.next('the first message')
    if got.header.vers != 2:
        raise Wrong(f'the first message is of version {got.header.vers}')
    return asked, hand, got


def called(t, call, *values, credit=16, **start):
    """Answers INIT_XCHAR, too. The third value is the Call as sent."""
    asked, hand, got = probed(t, call, **start)
    if not is_operation(got, wire.INIT_XCHAR):
        raise Unfit('it does not know characteristics')
    hand.send(init(*values, xid=got.header.xid, credit=credit))
    return asked, hand, hand.next('the Call')


def ready(t, *values, **start):
    """Returns the Hand of an idle connection of the requester in version two."""
    asked, hand, got = called(t, t.null(), *values, **start)
    done(t, hand, asked, got)
    return hand


def ready_and_told(t, *values, **start):
    """Returns such a Hand, and the receive size in the requester's INIT_XCHAR."""
    asked, hand, first = probed(t, t.null(), **start)
    if not is_operation(first, wire.INIT_XCHAR):
        raise Unfit('it does not know characteristics')
    told = wire.values_known(decoded(wire.decode_init, first)[0]).get(wire.RBSIZ, 4096)
    hand.send(init(*values, xid=first.header.xid))
    done(t, hand, asked, hand.next('the Call'))
    return hand, told


def answer(hand, got, reply, **fields):
    """Answers a Call inline, or in its Reply chunk if the Reply exceeds 4096 bytes."""
    if not got.header.reply or len(reply) + header.min_bytes(2, header.MSG) <= 4096:
        return hand.answer(got, reply, **fields)
    return hand.answer_long(got, reply, fields.get('credit', 16))


def done(t, hand, asked, got, **fields):
    """Answers a Call of the requester like the server. Its caller must get the Reply."""
    reply = t.server.answer(asked.call)
    answer(hand, got, reply, **fields)
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


def taken(hand):
    """Waits until earlier messages were handled. Returns operations of the requester that came meanwhile."""
    sent = hand.send(operation(UNKNOWN, b''))
    come = []
    while (got := hand.next('INVAL_OPTION')).header.xid != sent.xid:
        come.append(got)
    return come


def next_call(hand):
    """Returns the next message, except operations of the requester itself: refuses a REQ_XCHAR."""
    while True:
        got = hand.next('the Call')
        if is_operation(got, wire.REQ_XCHAR):
            wanted = decoded(wire.decode_req, got)
            hand.send(resp(got.header.xid, rej=range(len(wanted))))
        elif not is_operation(got, wire.UPD_XCHAR):
            return got


def again(t, hand, call):
    """Makes the requester call again. Returns (the Call, the Call as sent)."""
    asked = t.have_called(call)
    return asked, next_call(hand)


def in_order(t, hand):
    """Checks that earlier messages were handled without an effect.

    Two Calls: the first may be on its way already, the second follows the Reply to the first.
    """
    for _ in range(2):
        asked, got = again(t, hand, t.null())
        t.hold(got.data[-len(asked.call):] == asked.call, 'something else comes than the Call')
        done(t, hand, asked, got)


def goes_inline(t, hand, call):
    """Returns whether a Call is sent inline, and answers it."""
    asked, got = again(t, hand, call)
    inline = got.header.proc == header.MSG
    if not inline:
        t.hold(hand.message_of(got) == asked.call, 'the chunk carries something else')
    done(t, hand, asked, got)
    return inline


def wanted(t, hand):
    """Makes long Calls until the requester requests larger receives. Returns its REQ_XCHAR, or None."""
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
    """Makes a requester request larger receives. Returns (the Hand, its REQ_XCHAR, the size)."""
    hand = ready(t)
    request = wanted(t, hand)
    if request is None:
        raise Unfit('long Calls do not make it ask for larger receives')
    values = decoded(wire.decode_req, request)
    t.hold([ident for ident, _data in values] == [wire.RBSIZ], f'it asks for {values}')
    return hand, request, wire.value_of(*values[0])


def long_goes(t, hand, inline, text):
    """Returns whether a Call that used a chunk before is now sent inline."""
    t.hold(goes_inline(t, hand, write(t, LONG)) == inline, text)

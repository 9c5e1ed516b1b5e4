# SPDX-License-Identifier: BSD-3-Clause
"""Transport characteristics: draft-dnoveck-nfsv4-rpcrdma-xcharext-00 sections 3 and 4.

Both ends tell what they are in INIT_XCHAR, ask for changes in REQ_XCHAR, and tell of changes in
RESP_XCHAR and UPD_XCHAR. An end of the model has no receives in memory; receive_size is what they
would all have.
"""
import collections

from model.caller import PLAIN_BYTES
from model.version_two import DEFAULT_BYTES, TWO
from wire import characteristics as wire
from wire import header, xdr

OFTEN = 4               # so many Calls by chunk that would fit, and a larger receive is wanted
STEP_BYTES = 4096


class Characteristics:
    """The part of an end that handles the characteristics of both ends."""

    def __init__(self):
        self.receive_size = max(DEFAULT_BYTES, self.options.inline_threshold_bytes)
        self.told_size = DEFAULT_BYTES   # the last of ours that the peer was told
        self.init_sent = False
        self.peers = {}                  # what the peer told, by id
        self.peer_understands = False          # the peer has sent one of the four operations: B3.1-6
        self.lower_pending = None        # a lower size that the peer asked for: B3.1-7
        self.requests = {}               # xid: values of our REQ_XCHARs without an answer
        self.waiting = {}                # id: value of ours that is asked for or pending
        self.to_tell = collections.deque()
        self.unheard = 0                 # operations without an answer since the peer last spoke
        self.by_chunk = collections.Counter()

    # ------------------------------------------------------------ what holds

    def largest_send(self):
        """Returns the largest Send of this end: B3.1-5."""
        return max(self.options.inline_threshold_bytes, self.options.receive_max_bytes)

    def peer_value(self, ident):
        """Returns the peer's value, or the default: B3-1."""
        return self.peers.get(ident, wire.DEFAULTS[ident])

    def told(self, ident):
        """Returns whether the peer has announced this."""
        return ident in self.peers

    def send_limit_two(self):
        """Returns the largest Send that the peer can receive in version two: X-5, X-14, B3.1-4, B3.1-5."""
        if self.told(wire.RBSIZ):
            limit = min(max(DEFAULT_BYTES, self.peer_value(wire.RBSIZ)), self.largest_send())
        else:
            limit = min(max(DEFAULT_BYTES, self.options.inline_threshold_bytes),
                        max(DEFAULT_BYTES, self.peer_data().recv_bytes))
        return min(limit, max(DEFAULT_BYTES, self.waiting.get(wire.RBSIZ, limit)))

    def receive_limit_two(self):
        """Returns the largest Send that the peer may rely on: B3.1-6."""
        if self.peer_understands:
            return self.told_size
        return min(max(DEFAULT_BYTES, self.options.inline_threshold_bytes),
                   max(DEFAULT_BYTES, self.peer_data().send_bytes))

    def may_invalidate_two(self):
        """Returns whether the peer permits invalidation by its characteristic: X-6, X-14."""
        return self.options.invalidate and self.peer_value(wire.RQREMINV)

    def peer_takes_reverse(self):
        """Returns whether reverse Calls may be sent; without a value, the ULP implies it: B3.3-2."""
        return self.peer_value(wire.BRS) != wire.BRS_NONE

    def reverse_has_chunks(self):
        """Returns whether reverse Calls use chunks: X-16."""
        return (self.in_two() and self.options.reverse_chunks
                and self.peer_value(wire.BRS) == wire.BRS_GENL)

    def fits_receive(self, size):
        """Returns whether a Send fits its receive: B3.1-1."""
        return size <= self.receive_size

    def own_values(self):
        """Returns all characteristics of this end: B4.1-2."""
        reverse = self.options.reverse_chunks
        invalidate = self.options.invalidate and (self.connector or reverse)
        return [(wire.RBSIZ, wire.value_bytes(wire.RBSIZ, self.receive_size)),
                (wire.RQREMINV, wire.value_bytes(wire.RQREMINV, invalidate)),
                (wire.BRS, wire.value_bytes(
                    wire.BRS, wire.BRS_GENL if reverse else wire.BRS_SZLIM))]

    # ------------------------------------------------------------ telling

    def operation(self, opttype, optinfo, xid):
        """Sends an RDMA_OPTIONAL. Its credit field is a request or a grant, as in a Call or Reply: X-10."""
        credit = self.ask() if self.connector else self.grant(0)
        return header.Header(xid, vers=TWO, credit=credit, proc=header.OPTIONAL,
                             opttype=opttype, optinfo=optinfo)

    def init_message(self, xid):
        """Sends INIT_XCHAR. Two of the three values never change. B4.1-1 to -3."""
        self.init_sent = True
        if not self.options.characteristics:
            return self.operation(wire.INIT_XCHAR, wire.encode_init([]), xid)
        self.told_size = self.receive_size
        return self.operation(wire.INIT_XCHAR, wire.encode_init(self.own_values(), {1, 2}), xid)

    def request(self, ident, value):
        """Requests a value of the peer by REQ_XCHAR: B4.2-1."""
        if ident in self.waiting:
            return
        self.waiting[ident] = value

        def tell():
            xid = self.own_xid()
            values = [(ident, wire.value_bytes(ident, value))]
            self.requests[xid] = values
            self.put(self.operation(wire.REQ_XCHAR, wire.encode_req(values), xid))
        self.to_tell.append((0, tell))
        self.tell_more()

    def update(self, ident, value, pendclr=False):
        """Announces a new value of ours by UPD_XCHAR: B4.4-1."""
        def tell():
            self.unheard += 1
            info = wire.encode_upd((ident, wire.value_bytes(ident, value)), pendclr)
            self.put(self.operation(wire.UPD_XCHAR, info, self.own_xid()))
            if ident == wire.RBSIZ:
                self.told_size = value
        self.to_tell.append((1, tell))
        self.tell_more()

    def held(self):
        """Returns the credits that operations of the connector use: X-11."""
        return len(self.requests) + self.unheard if self.connector else 0

    def may_update(self, room):
        """Returns whether an operation may be sent; one without an answer must leave a credit: X-11."""
        if not self.connector:
            return not self.unheard and not self.requests
        return self.may_call() and len(self.pending) + self.held() + room < self.granted

    def tell_more(self):
        """Sends waiting operations."""
        while self.to_tell and self.may_update(self.to_tell[0][0]):
            self.to_tell.popleft()[1]()

    def heard(self):
        """Ends operations without an answer, because the peer has sent a message."""
        if self.unheard:
            self.unheard = 0
            self.tell_more()
            self.send_more()

    def after_probe(self):
        """Settles version two by an answer."""

    # ------------------------------------------------------------ taking operations

    def operations(self):
        """Returns the known operations by opttype; none has an RPC message after it: B4-1."""
        if not self.options.characteristics:
            return {}
        return {wire.INIT_XCHAR: self.take_init, wire.REQ_XCHAR: self.take_req,
                wire.RESP_XCHAR: self.take_resp, wire.UPD_XCHAR: self.take_upd}

    def take_optional(self, message):
        """Handles an RDMA_OPTIONAL that decodes: X-9, X-10, E3.1-1."""
        if self.connector:
            self.take_grant(message.credit)
        operation = self.operations().get(message.opttype)
        if operation is None:
            self.refuse_option(message.xid)
        else:
            try:
                operation(message)
                self.peer_understands = True
            except xdr.XdrError as error:
                self.refuse_header(message.xid, TWO, str(error))
        self.tell_more()
        self.send_more()

    def refuse_option(self, xid):
        """Refuses an unknown operation: E3.1-1."""
        self.put(header.Header(xid, vers=TWO, credit=self.grant(0), proc=header.ERROR,
                               err=header.INVAL_OPTION))

    def take_init(self, message):
        """Handles INIT_XCHAR, the first or a further one: B4.1-4, B4.1-5; it has an answer by X-1 only."""
        values, _nochg = wire.decode_init(message.optinfo)
        self.learn(values)
        if not self.connector and not self.init_sent:
            self.answer_init(message)

    def answer_init(self, message):
        """Sends the acceptor's INIT_XCHAR, with the XID of the connector's."""
        self.put(self.init_message(message.xid))

    def learn(self, values):
        """Takes values of the peer. The last one of an id holds; unknown ids are skipped."""
        for ident, value in wire.values_known(values).items():
            self.peers[ident] = value

    def take_req(self, message):
        """Handles REQ_XCHAR: B4.2-1, B4.3-1."""
        values = wire.decode_req(message.optinfo)
        verdicts = {'done': set(), 'rej': set(), 'pend': set()}
        for index, (ident, data) in enumerate(values):
            verdicts[self.verdict(ident, data)].add(index)
        self.put(self.operation(wire.RESP_XCHAR, wire.encode_resp(**verdicts), message.xid))

    def verdict(self, ident, data):
        """Returns the result for one requested value."""
        if ident not in wire.DEFAULTS:
            return 'rej'
        if ident != wire.RBSIZ:
            return 'done' if (ident, data) in self.own_values() else 'rej'
        size = max(DEFAULT_BYTES, wire.value_of(ident, data))
        if size > self.largest_send():
            return 'rej'
        if size >= self.receive_size:
            return self.raised(size)
        return self.lowered(size)

    def raised(self, size):
        """Raises the receive size: B3.1-3. This end has no old receives to wait for."""
        self.lower_pending = None
        self.receive_size = self.told_size = size
        return 'done'

    def lowered(self, size):
        """Lowers the receive size: B3.1-4, B3.1-7."""
        self.lower_pending = size
        if self.counted_on() > size:
            return 'pend'
        self.give_lower()
        return 'done'

    def counted_on(self):
        """Returns the longest inline Reply that a Call in flight relies on."""
        return max((p.counts_on for p in self.pending.values()), default=0)

    def give_lower(self):
        """Lowers the size of receives."""
        self.receive_size = self.told_size = self.lower_pending
        self.lower_pending = None

    def one_answered(self):
        """Grants a pending lower size if the end of a Call of ours permits it."""
        if self.lower_pending is not None and self.counted_on() <= self.lower_pending:
            self.give_lower()
            self.update(wire.RBSIZ, self.receive_size, pendclr=True)

    def take_resp(self, message):
        """Handles RESP_XCHAR. A value in two subsets or in none counts as rejected: B4.3-1, B4.3-2."""
        subsets = wire.decode_resp(message.optinfo)
        values = self.requests.pop(message.xid, None)
        if values is None:
            self.dropped += 1
            return
        for index, (ident, data) in enumerate(values):
            done, _rej, pend = (index in subset for subset in subsets)
            once = sum(index in subset for subset in subsets) == 1
            if once and pend:
                continue
            self.waiting.pop(ident, None)
            if once and done:
                self.learn([(ident, data)])

    def take_upd(self, message):
        """Handles UPD_XCHAR: B4.4-1, B4.4-2; a lower size takes effect immediately: B3.1-8."""
        (ident, data), pendclr = wire.decode_upd(message.optinfo)
        self.learn([(ident, data)])
        if pendclr:
            self.waiting.pop(ident, None)

    def operation_failed(self, error):
        """Ends the operation of an RDMA_ERROR. Returns whether it was for no Call: X-12."""
        values = self.requests.pop(error.xid, None)
        if values is None:
            return error.xid == self.probed or self.for_operations_only(error)
        for ident, _data in values:
            self.waiting.pop(ident, None)
        return True

    @staticmethod
    def for_operations_only(error):
        """Handles INVAL_OPTION, which answers no Call: X-12."""
        return error.vers == TWO and error.err == header.INVAL_OPTION

    # ------------------------------------------------------------ wanting other sizes

    def rounded(self, size):
        """Returns a receive size for messages of this size."""
        return min(self.largest_send(), -(-size // STEP_BYTES) * STEP_BYTES)

    def often(self, what):
        """Counts an event. Returns whether it has occurred often enough to react."""
        self.by_chunk[what] += 1
        return self.by_chunk[what] % OFTEN == 0

    def watch_sizes(self, pending, most):
        """Handles a sent Call. Data in a chunk that would fit a larger receive may raise the size."""
        if not (self.in_two() and self.peer_understands and self.connector):
            return
        whole = len(pending.call) + PLAIN_BYTES
        if pending.sent.proc == header.NOMSG and whole <= self.largest_send():
            if self.often('call'):
                self.request(wire.RBSIZ, self.rounded(whole))
        most += PLAIN_BYTES
        if pending.landing and self.receive_size < most <= self.options.receive_max_bytes:
            if self.often('reply'):
                self.receive_size = self.rounded(most)
                self.update(wire.RBSIZ, self.receive_size)

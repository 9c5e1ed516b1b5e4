# SPDX-License-Identifier: BSD-3-Clause
"""Both ends of the Connection Configuration Protocol: draft-ietf-nfsv4-rpcrdma-03 section 6.

The draft does not say whether its sizes count the transport header. No Send is longer than the peer's
value, and a message of this end's value fits with the longest header that it takes: A6.2-9.
"""
from model.caller import Pending
from wire import ccp, header, rpc, xdr

MIN_BYTES = 1024
LONGEST_HEADER = 512
PATIENCE_S = 5


class Configuration:
    """Before the first Call a client asks, if it is told to; a server answers.

    It stands before Done and Msgp in an end: what the peer says of itself bounds what those do.
    """

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.conf_xid = None       # of a CONF_RDMA without an answer
        self.call_limit = None     # the peer's, once it has told
        self.reply_limit = None
        self.peer_reads = None
        self.server_align = 0

    # ------------------------------------------------------------ what this end says

    def room(self):
        """Returns the longest inline message that it can receive, with any header: A6.2-9."""
        return max(MIN_BYTES, self.options.inline_threshold_bytes - LONGEST_HEADER)

    def reads_taken(self):
        """Returns the connection's limit of Reads of its memory: A6.2-2; with MPA revision one its own limit."""
        ours, theirs = self.conn.start.ird, self.conn.peer.ord
        return ours if theirs is None else min(ours, theirs)

    def conf_args(self):
        """Returns the arguments of the client."""
        return ccp.Args(self.options.inline_threshold_bytes, self.room(), self.reads_taken())

    def conf_results(self):
        """Returns the results of the server."""
        return ccp.Results(self.room(), self.options.padding_align_bytes, self.reads_taken())

    # ------------------------------------------------------------ what the peer's values do

    def at_least(self, value):
        """Returns the effective size of the peer: A6.2-7."""
        return max(MIN_BYTES, value)

    def send_limit(self):
        """Returns the largest Send: of the connector for a Call, of the acceptor for a Reply."""
        told = self.call_limit if self.connector else self.reply_limit
        if told is None:
            return super().send_limit() if self.conf_xid is None else MIN_BYTES
        return min(self.options.inline_threshold_bytes, self.at_least(told))

    def receive_limit(self):
        """Returns the largest Send that this end can receive: the announced size."""
        if self.connector and self.call_limit is not None:
            return self.room()
        return super().receive_limit()

    def read_depth(self):
        """Returns the limit of concurrent Reads: A6.2-5."""
        depth = super().read_depth()
        return depth if self.peer_reads is None else min(depth, self.peer_reads)

    def call_flaw(self, message):
        """Returns the error of a Call with Read chunks from a client that permits no Reads."""
        if message.reads and self.peer_reads == 0:
            return 'no RDMA Reads at the client'
        return super().call_flaw(message)

    def may_expose(self):
        """Returns whether this end may expose memory for Reads; not to an end that announced zero."""
        return super().may_expose() and self.peer_reads != 0

    def may_pull(self, message):
        """Returns whether this end may Read from the peer."""
        return super().may_pull(message) and self.peer_reads != 0

    def carries(self, message):
        """Returns whether Calls may have Read chunks; not if the server makes no Reads."""
        return super().carries(message) and not (message.reads and self.peer_reads == 0)

    def alignment(self):
        """Returns the alignment of opaques: the server's recommendation, if possible: A6.2-6."""
        own = super().alignment()
        return self.server_align if own > 1 and 1 < self.server_align <= MIN_BYTES else own

    # ------------------------------------------------------------ the client

    def opened(self):
        """Configures a new connection before any other message: A6.1-1."""
        if self.connector and self.options.config_protocol:
            self.configure()
        super().opened()

    def configure(self):
        """Sends the CONF_RDMA Call."""
        self.conf_xid = xid = self.own_xid()
        call = rpc.call(xid, self.options.config_program, ccp.VERSION, ccp.CONF_RDMA,
                        ccp.encode_args(self.conf_args()))
        self.put(header.Header(xid, credit=self.ask(), body=call))
        self.conn.loop.after(PATIENCE_S, lambda: self.conf_is_over(xid))

    def may_send(self):
        """Returns whether Calls may be sent; they wait for the configuration."""
        return self.conf_xid is None and super().may_send()

    def conf_is_over(self, xid, results=None):
        """Ends the configuration. Without results nothing changes: A6.1-2."""
        if self.conf_xid != xid or self.conn.ended:
            return
        self.conf_xid = None
        if results:
            self.call_limit, self.peer_reads = results.maxcall_sendsize, results.maxrdmaread
            self.server_align = results.align
        self.send_more()

    def take_reply(self, message, invalidated):
        """Handles a Reply to CONF_RDMA or to another Call."""
        if self.conf_xid is None or message.xid != self.conf_xid:
            super().take_reply(message, invalidated)
            return
        self.take_grant(message.credit)
        self.conf_is_over(message.xid, self.results_of(message))

    @staticmethod
    def results_of(message):
        """Returns the results of the server, or None."""
        try:
            reply = rpc.decode(message.body)
            if reply.succeeded:
                return ccp.decode_results(reply.result)
        except (rpc.RpcError, xdr.XdrError):
            pass
        return None

    def take_error(self, data):
        """Handles an RDMA_ERROR for CONF_RDMA or for another Call."""
        xid = header.decode_fixed(data)[0]
        if self.conf_xid is not None and xid == self.conf_xid:
            self.conf_is_over(xid)
        else:
            super().take_error(data)

    def call(self, call, done=None):
        """Makes a Call; the configuration program is not forwarded: A6.2-8."""
        if self.connector and self.options.config_protocol and self.is_conf(call):
            return self.no_such_program(call, done)
        return super().call(call, done)

    @staticmethod
    def no_such_program(call, done):
        """Answers a Call immediately."""
        pending = Pending(rpc.xid_of(call), call, done)
        pending.reply = rpc.accepted(pending.xid, stat=rpc.PROG_UNAVAIL)
        if done:
            done(pending)
        return pending

    # ------------------------------------------------------------ the server

    def is_conf(self, call):
        """Returns whether a Call is of the configuration program."""
        return call[12:16] == xdr.u32(self.options.config_program)

    def own_reply(self, work):
        """Returns the Reply to a Call of the configuration program, which is not forwarded: A6.2-8."""
        if self.connector or not self.is_conf(work.call):
            return super().own_reply(work)
        if not self.options.config_protocol:
            return rpc.accepted(work.message.xid, stat=rpc.PROG_UNAVAIL)        # A6.2-10
        call = rpc.decode(work.call)
        if call.vers != ccp.VERSION:
            return rpc.accepted(call.xid, stat=rpc.PROG_MISMATCH, low=ccp.VERSION, high=ccp.VERSION)
        if call.proc == 0:
            return rpc.accepted(call.xid)
        if call.proc != ccp.CONF_RDMA:
            return rpc.accepted(call.xid, stat=rpc.PROC_UNAVAIL)
        return self.conf_reply(call)

    def conf_reply(self, call):
        """Returns the Reply to CONF_RDMA."""
        try:
            args = ccp.decode_args(call.args)
        except xdr.XdrError:
            return rpc.accepted(call.xid, stat=rpc.GARBAGE_ARGS)
        if self.may_configure():
            self.reply_limit, self.peer_reads = args.maxreply_sendsize, args.maxrdmaread
        return rpc.accepted(call.xid, ccp.encode_results(self.conf_results()))

    def may_configure(self):
        """Returns whether CONF_RDMA is valid: only once, and while no other Call is in flight: A6.1-2."""
        return self.reply_limit is None and len(self.works) <= 1 and not self.exposed

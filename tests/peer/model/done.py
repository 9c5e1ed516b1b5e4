# SPDX-License-Identifier: BSD-3-Clause
"""Replies as read chunks, and RDMA_DONE: draft-ietf-nfsv4-rpcrdma-03 sections 3.6, 3.8 and 5."""
from model.answerer import Work
from wire import header


class Done:
    """The draft's additional form of Replies, which RFC 8166 has removed (A-D2)."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.exposed = {}          # xid: the key of a Reply that the client has not pulled
        self.pulling = {}          # xid: the Work of a Reply that is being pulled

    # ------------------------------------------------------------ the server

    def no_room(self, work, out):
        """Exposes a Reply that fits nowhere, so that the client Reads it: A5.1-3, A5.2-3."""
        if self.may_expose():
            self.expose(work, out)
        else:
            super().no_room(work, out)

    def may_expose(self):
        """Returns whether one more Reply may wait for its RDMA_DONE: A3.8-5."""
        return (self.in_draft03() and not self.connector
                and len(self.exposed) < self.grant(0))

    def expose(self, work, out):
        """Exposes the Reply until its RDMA_DONE."""
        key = self.conn.expose(out.body, readable=True)
        out.reads = [header.ReadSegment(0, key.stag, len(key.memory), key.to)]
        out.proc, out.body = header.NOMSG, b''
        xid = out.xid
        self.works.pop(xid)
        self.exposed[xid] = key
        self.put(out, self.key_to_invalidate(work.message))
        self.conn.loop.after(self.options.done_timeout_s, lambda: self.done_is_late(xid, key))

    def done_is_late(self, xid, key):
        """Handles the timeout of an RDMA_DONE: A3.8-3."""
        if self.exposed.get(xid) is not key or self.conn.ended:
            return
        if self.options.done_policy == 'close':
            self.conn.close()
        else:
            self.release(xid)

    def release(self, xid):
        """Invalidates the memory of a Reply: A3.8-2."""
        self.conn.withdraw(self.exposed.pop(xid))

    def take_done(self, message):
        """Handles an RDMA_DONE; ignores one without a Reply: A3.8-2."""
        if message.xid in self.exposed:
            self.release(message.xid)
        else:
            super().take_done(message)

    def take_call(self, message):
        """Handles a Call, whose XID must not be that of an exposed Reply: A3.8-5."""
        if message.xid in self.exposed:
            self.conn.close()
        else:
            super().take_call(message)

    # ------------------------------------------------------------ the client

    def take_reply(self, message, invalidated):
        """Handles a Reply, which may have Read chunks."""
        if message.reads and self.may_pull(message):
            work = self.pulling[message.xid] = Work(message)
            self.pull(work)
        else:
            super().take_reply(message, invalidated)

    def may_pull(self, message):
        """Returns whether the Read chunks of a Reply are read."""
        return self.in_draft03() and message.xid in self.pending and message.xid not in self.pulling

    def call_is_here(self, work):
        """Handles a complete Call or Reply."""
        if self.pulling.get(work.message.xid) is work:
            del self.pulling[work.message.xid]
            self.reply_is_pulled(work)
        else:
            super().call_is_here(work)

    def reply_is_pulled(self, work):
        """Sends RDMA_DONE for a Reply, and delivers the Reply to its caller: A3.6-4."""
        message = work.message
        self.say_done(message.xid)
        whole = self.joined(message, work.chunks)
        if whole is None or self.body_too_short(whole):
            self.dropped += 1
            return
        message.proc, message.reads, message.body = header.MSG, [], whole
        super().take_reply(message, None)

    def say_done(self, xid):
        """Sends RDMA_DONE, which requests credits like a Call: A3.8-6."""
        self.put(header.Header(xid, vers=1, credit=self.ask(), proc=header.DONE))

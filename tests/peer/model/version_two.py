# SPDX-License-Identifier: BSD-3-Clause
"""Which version a connection speaks, and what is different in version two.

draft-cel-nfsv4-rpcrdma-version-two-00 sections 3 and 5. A connector that tries version two sends an
INIT_XCHAR of its own first and keeps its Calls until an answer, or a second of silence, tells the
version.
"""
import secrets
import time

from wire import header

ONE, TWO = 1, 2
DEFAULT_BYTES = 4096        # of either way in version two, from the start: E2.3-1, E5.2-3
SILENCE_S = 1.0
KEPT_S = 600


class ServerMemory:
    """What connectors remember of one server: until when it counts as one of version one."""

    def __init__(self, now=time.monotonic):
        self.now = now
        self._until = None

    def remember_one(self):
        """The server does not speak version two, or seems not to: E5.2-2."""
        self._until = self.now() + KEPT_S

    def forget(self):
        """It does."""
        self._until = None

    def one_only(self):
        """Whether no attempt is to be made."""
        return self._until is not None and self.now() < self._until


class VersionTwo:
    """The part of an end that settles its version, and keeps to it."""

    def __init__(self, memory):
        self.memory = memory or ServerMemory()
        self.version = None         # settled
        self.assumed = None         # after silence: what the first Call goes in
        self.probe = None           # the XID of an INIT_XCHAR that is not answered yet
        self.probed = None          # the same, for good
        self.started = False        # a Call has been sent
        self.moved = False          # a Call went once more in another version
        self.silence_s = SILENCE_S
        self.on_unsettled_end = None    # whoever makes the one more connection: X-1

    # ------------------------------------------------------------ what may be spoken

    def versions(self):
        """The range of versions of this end."""
        if self.connector:
            return ONE, self.options.connect_version
        return ONE, self.options.listen_version

    def speaks(self, version):
        """Whether a message of this version is taken on this connection: E5.3-1, X-15."""
        if self.version is not None:
            return version == self.version
        low, high = self.versions()
        return low <= version <= high

    def version_range(self):
        """What ERR_VERS tells: once a version is settled, that one alone."""
        if self.version is not None:
            return self.version, self.version
        return self.versions()

    def in_two(self):
        """Whether version two is settled."""
        return self.version == TWO

    def settle(self, version):
        """From now on the connection speaks this version: X-15."""
        self.version = version

    def settled_by_call(self, message):
        """A Call of the peer's that is understood settles its version, an INIT_XCHAR alone does not: X-15, X-19."""
        if self.version is None:
            self.settle(message.vers)

    def own_xid(self):
        """An XID for a message of this end's own, unlike that of any Call: X-12."""
        while True:
            xid = secrets.randbits(32)
            if xid not in self.pending and xid not in self.works:
                return xid

    # ------------------------------------------------------------ the connector's probe

    def tries_two(self):
        """Whether a connection begins with an attempt at version two."""
        return (self.connector and self.options.connect_version >= TWO
                and not self.memory.one_only())

    def begin(self):
        """The connection is open: E5-1, E5-2."""
        if self.tries_two():
            self.probe = self.probed = self.own_xid()
            self.put(self.first_message(self.probe))
            self.loop.after(self.silence_s, self.silence)
        else:
            self.send_more()

    def first_message(self, xid):
        """What is sent to learn the version: X-1."""
        return self.init_message(xid)

    def silence(self):
        """Nothing came in a second: version one is assumed, E5.2-2."""
        if self.probe is None or not self.conn.open:
            return
        self.probe = None
        self.assumed = ONE
        self.memory.remember_one()
        self.send_more()

    def xid_is_taken(self, xid):
        """Whether a message of our own with this XID is not over: a Call with it waits, X-12."""
        return xid in (self.probe, *self.requests)

    def may_call(self):
        """Whether Calls may go: none beside the probe, no reverse one to a peer without support."""
        if self.probe is not None or self.queue and self.xid_is_taken(self.queue[0].xid):
            return False
        return self.connector or self.peer_takes_reverse()

    def probe_answered(self, version):
        """The probe is over, and the version with it."""
        self.probe = None
        self.settle(version)
        if version == TWO:
            self.memory.forget()
            self.after_probe()
        else:
            self.memory.remember_one()

    def heard_two(self):
        """A message of version two has come: that settles it, whatever it says."""
        if self.probe is not None:
            self.probe_answered(TWO)

    def is_late(self, xid, version, proc):
        """An answer to INIT_XCHAR after the first Call of version one: dropped, X-1."""
        if not self.connector or self.assumed != ONE or self.version == TWO or not self.started:
            return False
        return version == TWO and (proc == header.OPTIONAL or xid == self.probed)

    # ------------------------------------------------------------ ERR_VERS

    def common_version(self, error):
        """The highest version of both ends, or None."""
        low, high = self.versions()
        version = min(high, error.high)
        return version if version >= max(low, error.low) else None

    def take_err_vers(self, error):
        """An ERR_VERS: of the probe, or of the first Call. Whether it is dealt with."""
        if self.probe is not None and error.xid == self.probe:
            version = self.common_version(error)
            if version is None:
                self.nothing_common()
            else:
                self.probe_answered(version)
                self.send_more()
            return True
        pending = self.pending.get(error.xid)
        if pending is None or self.version is not None or self.moved:
            return False
        version = self.common_version(error)
        if version == pending.sent.vers:
            return False
        if version is None:
            self.nothing_common()
        else:
            self.once_more(pending, version)
        return True

    def once_more(self, pending, version):
        """A Call that was refused for its version was not executed: it goes in the common one."""
        self.moved = True
        self.memory.forget()
        self.settle(version)
        self.give_back(pending)
        pending.sent = self.planned(pending)
        self.put(pending.sent)

    def nothing_common(self):
        """E5-3: there is no version to go on in."""
        self.probe = None
        self.conn.close()
        for pending in list(self.pending.values()):
            self.over(pending, error=header.Header(pending.xid, proc=header.ERROR,
                                                   err=header.ERR_VERS))

    def lost(self):
        """The connection is lost: before its version is settled it has carried no Call, E5.2-2."""
        if self.probe is None:
            return
        self.probe = None
        self.memory.remember_one()
        if self.on_unsettled_end:
            self.on_unsettled_end()

    # ------------------------------------------------------------ headers of version two

    def reserved(self, message):
        """RDMA_MSGP and RDMA_DONE, which version two does not have: E4.2-5."""
        return message.vers == TWO and message.proc in (header.MSGP, header.DONE)

    def is_long_call(self, message):
        """Whether an RDMA_NOMSG is a Call: X-13; in version one no Reply of RFC 8166 has a read list: D2.5-1."""
        if message.vers == TWO:
            return bool(message.reads)
        if not self.connector:
            return True
        return bool(message.reads) and not self.in_draft03() and not self.waits_for(message.xid)

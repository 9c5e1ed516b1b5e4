# SPDX-License-Identifier: BSD-3-Clause
"""Versions that are not spoken: draft-ietf-nfsv4-rpcrdma-03 section 4.2, RFC 8166 sections 4.5 and 4.5.1."""
import struct

from scene.scenario import requester, responder
from wire import header


@responder('A4.2-1')
def an_unknown_version_is_err_vers_with_a_range(t):
    """A Call in an unsupported version gets the range of supported versions."""
    hand = t.connect()
    for vers in (0, 3, 99, 0xffffffff):
        got = hand.ask(t.null(), vers=vers)
        t.hold(got.header.proc == header.ERROR and got.header.err == header.ERR_VERS,
               f'version {vers} is not answered with ERR_VERS but: {header.describe(got.data)}')
        low, high = got.header.low, got.header.high
        t.hold(low <= 1 <= high and not low <= vers <= high,
               f'version {vers} is not spoken, {low} to {high} are')
    hand.barrier(t.null())


@an_unknown_version_is_err_vers_with_a_range.wrong
def _(end):
    end.refuse_version = lambda xid: end.refuse_header(xid, 1, '')


@an_unknown_version_is_err_vers_with_a_range.wrong
def _(end):
    end.version_range = lambda: (1, 3)


@an_unknown_version_is_err_vers_with_a_range.wrong
def _(end):
    right = end.refuse_version
    end.refuse_version = lambda xid: right(0)


@an_unknown_version_is_err_vers_with_a_range.wrong
def _(end):
    end.speaks = lambda version: version


@responder('A4.2-1', needs={'rfc'})
def err_vers_has_the_version_of_its_call(t):
    """RFC 8166 section 4.5; the draft lets it have any that the requester speaks."""
    hand = t.connect()
    for vers in (0, 3, 99, 0xffffffff):
        got = hand.ask(t.null(), vers=vers)
        t.hold(got.header.proc == header.ERROR and got.header.err == header.ERR_VERS,
               f'version {vers} is not answered with ERR_VERS but: {header.describe(got.data)}')
        t.hold(got.header.vers == vers, f'a Call of version {vers} is refused in version {got.header.vers}')


@err_vers_has_the_version_of_its_call.wrong
def _(end):
    right = end.refuse_version

    def in_its_own(xid):
        end.version_refused = 1
        right(xid)
    end.refuse_version = in_its_own


@requester('A4.2-1')
def err_vers_ends_its_call(t):
    """The error has the version of the Call (RFC 8166). That Call ends, and others continue."""
    hand = t.working()
    other, late = t.next_called(hand, t.null())
    asked, got = t.next_called(hand, t.null())
    hand.send(header.Header(got.header.xid, vers=got.header.vers, proc=header.ERROR, err=header.ERR_VERS,
                            low=3, high=4))
    t.refused_by_caller(hand, asked, 'ERR_VERS')
    t.hold(not other.over, 'ERR_VERS ends another Call')
    hand.answer_null(late)
    t.answered(other)


@err_vers_ends_its_call.wrong
def _(end):
    end.take_error = lambda data: None


@err_vers_ends_its_call.wrong
def _(end):
    end.take_error = lambda data: end.conn.close()


@requester('A4.2-1', needs={'draft'})
def err_vers_is_understood_in_any_version(t):
    """The version of the error itself has no meaning: the Call of its XID ends."""
    hand = t.working()
    for vers in (1, 2, 99, 0):
        asked, got = t.next_called(hand, t.null())
        hand.send(struct.pack('>7I', got.header.xid, vers, 16, header.ERROR, header.ERR_VERS, 1, 1))
        t.refused_by_caller(hand, asked, f'ERR_VERS in version {vers}')


@err_vers_is_understood_in_any_version.wrong
def _(end):
    right = end.take_error
    end.take_error = lambda data: data[4:8] == b'\0\0\0\1' and right(data)

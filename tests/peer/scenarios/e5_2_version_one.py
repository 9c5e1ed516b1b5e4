# SPDX-License-Identifier: BSD-3-Clause
"""Ends of version one alone: version-two-00 sections 5 and 5.2, RFC 8166 section 4.5."""
from scene import two
from scene.scenario import Unfit, requester, responder
from wire import header


@responder('E5.2-1', keys={'listen_version': 1})
def version_two_is_refused_and_version_one_served(t):
    """Each message of version two gets ERR_VERS 1..1; Calls of version one are served."""
    hand = t.connect()
    for _ in range(2):
        for message in (two.init(), two.upd(two.size(4096)), two.operation(two.UNKNOWN, bytes(4)),
                        header.Header(0x20, vers=2, credit=1, proc=header.MSGP, body=bytes(12)),
                        header.Header(0x21, vers=2, credit=1, proc=header.DONE, body=bytes(12)),
                        header.Header(0x22, vers=2, credit=1, body=b'\0\0\0\x22' + t.null()[4:])):
            hand.send(message)
            got = hand.reply(message.xid, 'ERR_VERS')
            if got.header.vers == 2 and got.header.proc in (header.MSG, header.OPTIONAL):
                raise Unfit('it speaks version two')
            t.hold((got.header.proc, got.header.err) == (header.ERROR, header.ERR_VERS),
                   'it is answered, but not by ERR_VERS')
            t.hold((got.header.low, got.header.high) == (1, 1),
                   f'the range is {got.header.low}..{got.header.high}')
        t.hold(hand.ask(t.null()).header.proc == header.MSG, 'version one is not served')


@version_two_is_refused_and_version_one_served.wrong
def _(end):
    end.version_range = lambda: (1, 2)


@version_two_is_refused_and_version_one_served.wrong
def _(end):
    end.refuse_version = lambda xid: None


@version_two_is_refused_and_version_one_served.wrong
def _(end):
    right = end.refuse_version
    end.refuse_version = lambda xid: right(xid ^ 1)


@requester('E5-3')
def a_connector_of_version_one_stops_at_a_server_of_version_two(t):
    """A Call of version one gets ERR_VERS 2..2. The requester sends nothing more, and closes the connection."""
    _asked, hand, got = t.called(t.null())
    hand.send(two.error(got.header.xid, header.ERR_VERS, low=2, high=2, vers=2))
    hand.ends()
    hand.quiet()


@a_connector_of_version_one_stops_at_a_server_of_version_two.wrong
def _(end):
    end.nothing_common = lambda: None


@a_connector_of_version_one_stops_at_a_server_of_version_two.wrong
def _(end):
    end.common_version = lambda error: 2

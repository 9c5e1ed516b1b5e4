# SPDX-License-Identifier: BSD-3-Clause
"""The inline threshold of version two: draft-cel-nfsv4-rpcrdma-version-two-00 section 2.3."""
from scene import two
from scene.scenario import requester, responder
from wire import header

DIALECT = 'version two'
SMALL = {'inline_threshold_bytes': 1024}


@responder('E2.3-1', keys=SMALL, needs={'files'})
def a_responder_takes_calls_of_4096_bytes(t):
    """It accepts as many concurrent Calls of 4096 bytes as it grants, with any private data."""
    hand = t.connect(send=1024, recv=1024)
    count = min(two.barrier(t, hand).header.credit, 16)
    sent = [hand.call(two.write(t, 4096), vers=2) for _ in range(count)]
    two.all_served(t, hand, sent)


@a_responder_takes_calls_of_4096_bytes.wrong
def _(end):
    end.receive_size = 4095


@responder('E2.3-1', keys=SMALL, needs={'files'})
def a_responder_sends_4096_bytes(t):
    """A Reply of up to 4096 bytes comes inline, even if the private data have 1024."""
    hand = t.connect(send=1024, recv=1024)
    got = two.inline_reply(hand, t.readdir(3400))
    t.hold(len(got.data) > 3000, f'the Reply has {len(got.data)} bytes only')


@a_responder_sends_4096_bytes.wrong
def _(end):
    end.send_limit = lambda: 1024


@responder('E2.3-1', keys={'inline_threshold_bytes': 32768}, needs={'files'})
def a_responder_sends_no_more_than_4096_bytes_untold(t):
    """A longer Reply uses the Reply chunk if the requester has announced no larger receives."""
    hand = t.connect(data=b'')
    two.chunk_reply(hand, t.readdir(6000))


@a_responder_sends_no_more_than_4096_bytes_untold.wrong
def _(end):
    end.send_limit = lambda: 32768


@requester('E2.3-1', keys=two.with_keys(**SMALL))
def a_requester_takes_replies_of_4096_bytes(t):
    """A Reply of 4096 bytes with its header is accepted inline, even if the private data have 1024."""
    hand = two.ready(t, send=1024, recv=1024)
    asked, got = two.again(t, hand, t.echo(b'', 4096 - 28 - 28))
    reply = t.server.answer(asked.call)
    hand.answer(got, reply)
    t.hold(len(reply) == 4096 - 28, f'the Reply has {len(reply)} bytes')
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@a_requester_takes_replies_of_4096_bytes.wrong
def _(end):
    end.receive_size = 4092


@requester('E2.3-1', keys=two.with_keys(inline_threshold_bytes=32768))
def a_requester_sends_4096_bytes_and_no_more_untold(t):
    """Without private data and characteristics of the peer 4096 bytes go inline, 4100 by chunk."""
    asked, hand, first = two.probed(t, t.null(), data=b'')
    hand.send(two.error(first.header.xid, header.INVAL_OPTION))
    two.done(t, hand, asked, hand.next('the Call'))
    t.hold(two.goes_inline(t, hand, two.write(t, 4096)), '4096 bytes do not go inline')
    t.hold(not two.goes_inline(t, hand, two.write(t, 4100)), '4100 bytes go inline')


@a_requester_sends_4096_bytes_and_no_more_untold.wrong
def _(end):
    end.send_limit = lambda: 4095


@a_requester_sends_4096_bytes_and_no_more_untold.wrong
def _(end):
    end.send_limit = lambda: 32768

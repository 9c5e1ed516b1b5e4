# SPDX-License-Identifier: BSD-3-Clause
"""Version negotiation: draft-cel-nfsv4-rpcrdma-version-two-00 section 5."""
from model.version_two import ONE, TWO
from scene import two
from scene.scenario import requester, responder
from wire import header

DIALECT = 'version two'

def common(first, hand, low, high):
    """Answers the first message by ERR_VERS."""
    hand.send(two.error(first.header.xid, header.ERR_VERS, low=low, high=high, vers=1))


@requester('E5-1', keys=two.KEYS)
def one_message_is_outstanding_until_a_grant_comes(t):
    """Calls wait for the answer to the first message; its grant applies to them."""
    asked = [t.have_called(t.null()) for _ in range(5)]
    hand = t.accept()
    first = hand.next('the first message')
    t.loop.run(0.02)
    hand.quiet()
    hand.send(two.init(xid=first.header.xid, credit=3))
    calls = [hand.next(f'Call {n} of 3') for n in range(3)]
    t.loop.run(0.02)
    hand.quiet()
    for got in calls:
        hand.answer_null(got, credit=3)
    for n in range(2):
        hand.answer_null(hand.next(f'Call {n + 4}'), credit=3)
    for call in asked:
        t.answered(call)


@one_message_is_outstanding_until_a_grant_comes.wrong
def _(end):
    right = end.begin

    def eager():
        right()
        end.settle(TWO)
        end.probe = None
        end.send_more()
    end.begin = eager


@one_message_is_outstanding_until_a_grant_comes.wrong
def _(end):
    end.take_grant = lambda credit: setattr(end, 'granted', credit + 1)


@requester('E5-1', keys=two.KEYS)
def an_error_grants_nothing(t):
    """After INVAL_OPTION and ERR_VERS one Call goes alone, whatever the credit."""
    for version, fields in ((2, {'err': header.INVAL_OPTION}),
                            (1, {'err': header.ERR_VERS, 'low': 1, 'high': 1})):
        asked = [t.have_called(t.null()) for _ in range(3)]
        hand = t.accept()
        first = hand.next('the first message')
        hand.send(two.error(first.header.xid, credit=9, **fields))
        got = hand.next('the Call')
        t.hold(got.header.vers == version, f'version {version} is not settled by it')
        t.loop.run(0.02)
        hand.quiet()
        hand.answer_null(got, credit=2)
        for n in range(2):
            hand.answer_null(hand.next(f'Call {n + 2}'))
        for call in asked:
            t.answered(call)
        t.hang_up(hand)


@an_error_grants_nothing.wrong
def _(end):
    right = end.take_error

    def with_grant(data):
        end.take_grant(header.decode(data).credit)
        right(data)
    end.take_error = with_grant


@an_error_grants_nothing.wrong
def _(end):
    right = end.take_err_vers

    def with_grant(error):
        end.take_grant(error.credit)
        return right(error)
    end.take_err_vers = with_grant


@requester('E5-2', keys=two.KEYS)
def the_first_message_is_a_small_one_of_version_two(t):
    """A valid message of version two of at most 1024 bytes, even if the Call is longer."""
    _asked, _hand, got = two.probed(t, t.echo(bytes(3000)), send=1024, recv=1024)
    t.hold(len(got.data) <= 1024, f'it has {len(got.data)} bytes')
    t.hold(got.header.credit >= 1, 'it asks for no credit')
    t.hold(not header.faults(got.header), f'it is not valid: {header.faults(got.header)}')


@the_first_message_is_a_small_one_of_version_two.wrong
def _(end):
    end.tries_two = lambda: False


@the_first_message_is_a_small_one_of_version_two.wrong
def _(end):
    right = end.own_values
    end.own_values = lambda: right() + [(0xffffff01, bytes(1000))]


@responder('E5.1-1')
def the_first_call_of_version_two_is_answered_in_it(t):
    """The answer has its XID, and is no error."""
    hand = t.connect(send=1024, recv=1024)
    got = two.ask(hand, t.null(), credit=1)
    t.hold(got.header.vers == 2, f'the answer is of version {got.header.vers}')
    t.hold(got.header.proc == header.MSG, 'the answer is an error')


@the_first_call_of_version_two_is_answered_in_it.wrong
def _(end):
    end.versions = lambda: (ONE, ONE)


@the_first_call_of_version_two_is_answered_in_it.wrong
def _(end):
    right = end.put

    def in_one(message, invalidate=None):
        message.vers = 1
        right(message, invalidate)
    end.put = in_one


@requester('E5.1-1', keys=two.with_keys(inline_threshold_bytes=1024))
def both_ends_take_4096_bytes_once_two_is_settled(t):
    """A Call of 4096 bytes with its header goes inline, and so does its Reply."""
    hand = two.ready(t, send=1024, recv=1024)
    t.hold(two.goes_inline(t, hand, two.write(t, 4096)), 'the Call does not go inline')
    call = t.read(4096 - 28 - 640)
    asked, got = two.again(t, hand, call)
    t.hold(not got.header.reply, 'a reply chunk is offered for a Reply that fits')
    two.done(t, hand, asked, got)


@both_ends_take_4096_bytes_once_two_is_settled.wrong
def _(end):
    end.send_limit = lambda: 1024


@both_ends_take_4096_bytes_once_two_is_settled.wrong
def _(end):
    end.fits_receive = lambda size: size <= 1024


@requester('E5.2-1', keys=two.KEYS)
def after_err_vers_calls_go_in_a_common_version(t):
    """After ERR_VERS 1..1 all Calls of this connection use version one, each exactly once."""
    asked, hand, first = two.probed(t, t.null())
    common(first, hand, 1, 1)
    got = hand.next('the Call')
    for _ in range(3):
        t.hold((got.header.vers, got.header.proc) == (1, header.MSG),
               'it is no Call of version one')
        t.hold(got.body == asked.call, 'it is another Call')
        two.done(t, hand, asked, got)
        asked, got = two.again(t, hand, t.null())


@after_err_vers_calls_go_in_a_common_version.wrong
def _(end):
    end.call_version = lambda: TWO


@after_err_vers_calls_go_in_a_common_version.wrong
def _(end):
    end.common_version = lambda error: None


@requester('E5.2-1', keys=two.KEYS)
def the_highest_common_version_is_taken(t):
    """ERR_VERS 1..7 permits version two, although it is an error."""
    asked, hand, first = two.probed(t, t.null())
    common(first, hand, 1, 7)
    got = hand.next('the Call')
    t.hold(got.header.vers == 2, f'the Call goes in version {got.header.vers}')
    two.done(t, hand, asked, got)


@the_highest_common_version_is_taken.wrong
def _(end):
    end.common_version = lambda error: error.low


@the_highest_common_version_is_taken.wrong
def _(end):
    end.common_version = lambda error: error.high


@requester('E5.2-2', keys=two.KEYS)
def a_server_of_version_one_is_remembered(t):
    """After ERR_VERS the next connection begins with a Call of version one."""
    asked, hand, first = two.probed(t, t.null())
    common(first, hand, 1, 1)
    two.done(t, hand, asked, hand.next('the Call'))
    t.hang_up(hand)
    asked, hand, got = t.called(t.null())
    t.hold((got.header.vers, got.header.proc) == (1, header.MSG), 'version two is tried again')
    two.done(t, hand, asked, got)


@a_server_of_version_one_is_remembered.wrong
def _(end):
    end.memory.one_only = lambda: False


@requester('E5.2-2', keys=two.KEYS)
def a_connection_lost_right_after_err_vers_makes_no_loop(t):
    """The next connection, of any client, begins with a Call of version one."""
    asked, hand, first = two.probed(t, t.null())
    common(first, hand, 1, 1)
    hand.conn.close()
    t.settle(lambda: t.play.accepted or t.play.gone, 'the end or another connection')
    if not t.play.accepted:
        asked = t.have_called(t.null())
    hand = t.accept()
    got = hand.next('the Call')
    t.hold((got.header.vers, got.header.proc) == (1, header.MSG), 'version two is tried again')
    two.done(t, hand, asked, got)


@a_connection_lost_right_after_err_vers_makes_no_loop.wrong
def _(end):
    end.memory.remember_one = lambda: None


@requester('E5.2-2', keys=two.KEYS)
def a_connection_lost_before_any_answer_makes_no_loop(t):
    """Another connection begins with the same Call in version one, and the caller notices nothing."""
    asked, hand, _first = two.probed(t, t.null())
    hand.conn.close()
    hand = t.accept()
    got = hand.next('the Call')
    t.hold((got.header.vers, got.header.proc) == (1, header.MSG), 'version two is tried again')
    t.hold(got.body == asked.call, 'it is another Call')
    two.done(t, hand, asked, got)


@a_connection_lost_before_any_answer_makes_no_loop.wrong
def _(end):
    end.memory.remember_one = lambda: None


@a_connection_lost_before_any_answer_makes_no_loop.wrong
def _(end):
    end.lost = lambda: None


@requester('E5.2-2', keys=two.KEYS)
def silence_is_taken_for_version_one(t):
    """A server that drops the first message gets Calls of version one, then and later."""
    asked, hand, _first = two.probed(t, t.null())
    for _ in range(2):
        got = hand.next('the Call')
        t.hold((got.header.vers, got.header.proc) == (1, header.MSG), 'it is none of version one')
        two.done(t, hand, asked, got)
        t.hang_up(hand)
        asked = t.have_called(t.null())
        hand = t.accept()


@silence_is_taken_for_version_one.wrong
def _(end):
    end.silence = lambda: None


@silence_is_taken_for_version_one.wrong
def _(end):
    end.memory.remember_one = lambda: None


@responder('E5.2-3', keys={'inline_threshold_bytes': 1024}, needs={'files'})
def receives_have_4096_bytes_from_the_start(t):
    """The first message may be a Call of 4096 bytes, even if the private data have 1024."""
    hand = t.connect(send=1024, recv=1024)
    got = two.ask(hand, two.write(t, 4096))
    t.hold(got.header.proc == header.MSG, 'it is not served')


@receives_have_4096_bytes_from_the_start.wrong
def _(end):
    end.receive_size = 1024


@requester('E5.2-3', keys=two.KEYS)
def version_one_brings_its_own_threshold(t):
    """After ERR_VERS a Call keeps to the 1024 bytes of version one without another announcement."""
    asked, hand, first = two.probed(t, t.echo(bytes(2000)), data=b'')
    common(first, hand, 1, 1)
    got = hand.next('the Call')
    t.hold(len(got.data) <= 1024, f'a Send of {len(got.data)} bytes in version one')
    t.hold(hand.message_of(got) == asked.call, 'the chunk carries something else')
    reply = t.server.answer(asked.call)
    t.hold(got.header.reply, 'no room for a Reply of 2000 bytes')
    landing = got.reply_chunk()[0]
    hand.conn.write(landing.handle, landing.offset, reply)
    landing.length = len(reply)
    hand.send(header.Header(got.header.xid, proc=header.NOMSG, credit=4, reply=[landing]))
    t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@version_one_brings_its_own_threshold.wrong
def _(end):
    end.send_limit = lambda: 4096


@version_one_brings_its_own_threshold.wrong
def _(end):
    end.receive_limit = lambda: 1 << 21


@responder('E5.3-1')
def a_reply_has_the_version_of_its_call(t):
    """Each Reply has the version of its Call, on two concurrent connections."""
    hands = {1: t.connect(), 2: t.connect()}
    for _ in range(3):
        for version, hand in hands.items():
            got = hand.ask(t.null(), vers=version)
            t.hold(got.header.proc == header.MSG, f'version {version} is not served')
            t.hold(got.header.vers == version,
                   f'a Call of version {version} is answered in version {got.header.vers}')


@a_reply_has_the_version_of_its_call.wrong
def _(end):
    end.put = lambda message, invalidate=None: end.conn.send(
        header.encode(header.Header(message.xid, vers=2, credit=1, body=message.body)))


@a_reply_has_the_version_of_its_call.wrong
def _(end):
    end.speaks = lambda version: version == TWO


@requester('E5-3', keys=two.KEYS)
def nothing_in_common_ends_the_connection(t):
    """After ERR_VERS 3..9 the connection closes without a Call, no other follows, and the caller fails."""
    asked, hand, first = two.probed(t, t.null())
    common(first, hand, 3, 9)
    hand.ends()
    hand.quiet()
    t.settle(lambda: asked.over or t.play.gone or t.play.accepted, 'the end at the caller')
    t.loop.run(0.02)
    t.hold(not t.play.accepted, 'it connects once more')


@nothing_in_common_ends_the_connection.wrong
def _(end):
    end.common_version = lambda error: ONE


@nothing_in_common_ends_the_connection.wrong
def _(end):
    end.nothing_common = lambda: None


@nothing_in_common_ends_the_connection.wrong
def _(end):
    end.nothing_common = lambda: (end.conn.close(), end.lost())

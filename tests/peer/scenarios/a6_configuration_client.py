# SPDX-License-Identifier: BSD-3-Clause
"""The Connection Configuration Protocol, at the client: draft-ietf-nfsv4-rpcrdma-03 section 6."""
from scene import draft03
from scene.configuration import CONF_CLIENT, agree, asked, configured
from scene.scenario import requester
from wire import ccp, header, rpc

DIALECT = 'configuration protocol'
OTHER_PROGRAM = 400123


@requester('A6.1-1', keys=CONF_CLIENT)
def before_the_answer_nothing_else_is_sent(t):
    """CONF_RDMA comes alone, in at most 1024 bytes; then the waiting Calls follow in their order."""
    calls = [t.echo(bytes(draft03.LONG + number), 0) for number in range(3)]
    for call in calls:
        t.have_called(call)
    hand = t.accept()
    got, _args = asked(t, hand)
    t.hold(len(got.data) <= 1024, f'CONF_RDMA has {len(got.data)} bytes with its header')
    hand.quiet()
    agree(hand, got, credit=1)
    for call in calls:
        got = hand.next('a Call that waited')
        t.hold(hand.message_of(got) == call, 'the Calls do not come as they were made')
        hand.quiet()
        hand.answer_null(got, credit=1)


@before_the_answer_nothing_else_is_sent.wrong
def _(end):
    end.may_send = lambda: end.conn.open and len(end.pending) < end.granted


@before_the_answer_nothing_else_is_sent.wrong
def _(end):
    put = end.put

    def with_credential(message, invalidate=None):
        if end.is_conf(message.body):
            words = message.body[:24]
            message.body = words + rpc.call(0, 0, 0, 0, cred=rpc.Auth(1, bytes(400)))[24:]
            message.body += bytes(1024)
        put(message, invalidate)
    end.put = with_credential


@before_the_answer_nothing_else_is_sent.wrong
def _(end):
    end.configure = lambda: None


def _no_answers():
    """Returns invalid answers to CONF_RDMA by name."""
    answers = {name: lambda xid, stat=stat: rpc.accepted(xid, stat=stat, low=2, high=3)
               for stat, name in enumerate(rpc.ACCEPT_NAMES) if stat != rpc.SUCCESS}
    answers['AUTH_TOOWEAK'] = lambda xid: rpc.denied(xid, rpc.AUTH_TOOWEAK)
    answers['two words'] = lambda xid: rpc.accepted(xid, bytes(8))
    return answers


def _goes_on(t, hand, calls, what):
    """Checks that the waiting Calls come in the form for private data of 2048 bytes."""
    for call in calls:
        got = hand.next(f'a Call behind {what}')
        t.hold(hand.message_of(got) == call, f'behind {what} another Call comes')
        t.hold(bool(got.header.reads) == (len(call) > 2000),
               f'behind {what} the sizes of private data do not hold')
        hand.answer_null(got)


def _calls(t):
    return [t.write(t.pattern(size)) for size in (100, 1500, 2500)]


def _begin(t):
    calls = _calls(t)
    waiting = [t.have_called(call) for call in calls]
    hand = t.accept(recv=2048)
    return calls, waiting, hand, asked(t, hand)[0]


@requester('A6.1-2', keys=CONF_CLIENT)
def without_a_good_answer_private_data_holds(t):
    """After any other answer of the server the waiting Calls continue, and none is lost."""
    for what, make in _no_answers().items():
        calls, waiting, hand, got = _begin(t)
        hand.answer(got, make(got.header.xid))
        _goes_on(t, hand, calls, what)
        for each in waiting:
            t.answered(each)
        t.hang_up(hand)


def _loses_calls(end):
    right = end.conf_is_over

    def forgets(xid, results=None):
        if not results:
            end.queue.clear()
        right(xid, results)
    end.conf_is_over = forgets


def _gives_up(end):
    right = end.conf_is_over
    end.conf_is_over = lambda xid, results=None: (
        right(xid, results) if results else end.conn.close())


def _takes_defaults(end):
    right = end.conf_is_over
    end.conf_is_over = lambda xid, results=None: right(xid, results or ccp.Results(1024, 0, 16))


for _bend in (_loses_calls, _gives_up, _takes_defaults):
    without_a_good_answer_private_data_holds.wrong(_bend)


@without_a_good_answer_private_data_holds.wrong
def _(end):
    end.results_of = lambda message: ccp.Results(4096, 0, 16)


@requester('A6.1-2', keys=CONF_CLIENT)
def an_rdma_error_for_it_is_no_good_answer(t):
    """ERR_CHUNK for CONF_RDMA ends neither the connection nor the waiting Calls."""
    calls, waiting, hand, got = _begin(t)
    hand.send(header.Header(got.header.xid, credit=16, proc=header.ERROR, err=header.ERR_CHUNK))
    _goes_on(t, hand, calls, 'ERR_CHUNK')
    for each in waiting:
        t.answered(each)


for _bend in (_loses_calls, _gives_up, _takes_defaults):
    an_rdma_error_for_it_is_no_good_answer.wrong(_bend)


@requester('A6.1-2', keys=CONF_CLIENT)
def without_any_answer_calls_go_on_after_5_s(t):
    """The client waits for its time limit, not much longer. A later answer has no effect."""
    calls = _calls(t)
    waiting = [t.have_called(call) for call in calls]
    begin = t.loop.now()
    hand = t.accept(recv=2048)
    got = asked(t, hand)[0]
    t.settle(lambda: hand.conn.sends or hand.conn.ended, 'the Calls that wait', 8)
    t.hold(t.loop.now() - begin > 4, f'Calls come after {t.loop.now() - begin:.1f} s')
    _goes_on(t, hand, calls, 'silence')
    for each in waiting:
        t.answered(each)
    agree(hand, got, maxcall=1024)
    after, late = t.next_called(hand, t.null())
    t.hold(late.body == after.call, 'another Call comes')
    hand.answer_null(late)
    t.answered(after)


for _bend in (_loses_calls, _gives_up, _takes_defaults):
    without_any_answer_calls_go_on_after_5_s.wrong(_bend)


@without_any_answer_calls_go_on_after_5_s.wrong
def _(end):
    end.configure = lambda: None


@without_any_answer_calls_go_on_after_5_s.wrong
def _(end):
    right = end.conf_is_over
    end.conf_is_over = lambda xid, results=None: results and right(xid, results)


@requester('A6.2-1', keys={**CONF_CLIENT, 'config_program': OTHER_PROGRAM})
def the_program_that_is_configured_is_called(t):
    """The first Call is procedure 1 of version 1 of the program."""
    t.have_called(t.null())
    hand = t.accept()
    asked(t, hand, OTHER_PROGRAM)


@the_program_that_is_configured_is_called.wrong
def _(end):
    end.options.config_program = ccp.PROGRAM


@requester('A6.2-2', keys=CONF_CLIENT)
def three_words_are_said(t):
    """The arguments are the largest Call, the largest Reply and the client's limit of Reads."""
    _what, hand, got, args = configured(t, t.write(t.pattern(draft03.LONG)))
    t.hold(args.maxcall_sendsize >= 1024, f'Calls of {args.maxcall_sendsize} bytes')
    t.hold(args.maxreply_sendsize >= 1024, f'Replies of {args.maxreply_sendsize} bytes')
    t.hold(not got.header.reads or 0 < args.maxrdmaread <= 65535,
           f'{args.maxrdmaread} Reads, and a read chunk')
    depth = hand.conn.peer.ird
    t.hold(depth is None or args.maxrdmaread <= depth,
           f'{args.maxrdmaread} Reads, where its MPA request has {depth}')


@three_words_are_said.wrong
def _(end):
    end.reads_taken = lambda: 64


@three_words_are_said.wrong
def _(end):
    end.conf_args = lambda: ccp.Args(16, 4096, 4096)


@three_words_are_said.wrong
def _(end):
    end.conf_args = lambda: ccp.Args(4096, 4096, 0)


@three_words_are_said.wrong
def _(end):
    put = end.put

    def cut(message, invalidate=None):
        if end.is_conf(message.body):
            message.body = message.body[:-4]
        put(message, invalidate)
    end.put = cut

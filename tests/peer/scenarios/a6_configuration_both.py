# SPDX-License-Identifier: BSD-3-Clause
"""Configuration beside private data, and where it ends: draft-ietf-nfsv4-rpcrdma-03 section 6.2."""
from scene import configuration
from scene.configuration import CONF_CLIENT, CONF_SERVER, conf_call, configure, read_by_chunk
from scene.scenario import requester, responder
from wire import ccp, rpc

DIALECT = 'configuration protocol'


@responder('A6.2-8', keys=CONF_SERVER, needs={'behind'})
def configuration_reaches_no_server_behind(t):
    """Whatever is called of its program, good or bad."""
    hand = t.connect()
    came = []
    t.server.before = came.append
    configure(t, hand)
    for call in (conf_call(proc=0), conf_call(bytes(4)), conf_call(proc=7), conf_call(vers=3)):
        hand.ask(call)
    hand.barrier(t.null())
    t.hold([call.prog for call in came] == [100003], 'a Call of the program is passed on')


@configuration_reaches_no_server_behind.wrong
def _(end):
    right = end.own_reply
    end.own_reply = lambda work: end.answer(work.call) and right(work)


@configuration_reaches_no_server_behind.wrong
def _(end):
    right = end.own_reply
    end.own_reply = lambda work: None if rpc.decode(work.call).vers == 3 else right(work)


@requester('A6.2-8', keys=CONF_CLIENT)
def over_tcp_there_is_no_such_program(t):
    """A TCP client that calls it gets PROG_UNAVAIL, and the server behind never sees the Call."""
    _what, hand, got, _args = configuration.configured(t, t.null())
    hand.answer_null(got)
    asked = t.have_called(conf_call(ccp.encode_args(ccp.Args(4096, 4096, 1))))
    reply = rpc.decode(t.answered(asked))
    t.hold(reply.accept_stat == rpc.PROG_UNAVAIL, 'no PROG_UNAVAIL over TCP')
    _asked, got = t.next_called(hand, t.null())
    t.hold(rpc.decode(got.body).prog == 100003, 'the Call is passed on')


@over_tcp_there_is_no_such_program.wrong
def _(end):
    end.is_conf = lambda call: False


@over_tcp_there_is_no_such_program.wrong
def _(end):
    def system_error(call, done):
        pending = type(end).no_such_program(call, done)
        pending.reply = rpc.accepted(pending.xid, stat=rpc.SYSTEM_ERR)
        return pending
    end.no_such_program = system_error


@responder('A-Δ4', keys=CONF_SERVER, needs={'behind', 'files'})
def a_server_takes_private_data_and_configuration(t):
    """Private data holds until CONF_RDMA says something else, more or less."""
    for private, most in ((2048, 1200), (1024, 3072)):
        hand = t.connect(recv=private)
        for size in (700, 1500, 2500):
            got, moved = read_by_chunk(t, hand, size)
            t.hold(moved == (size + 200 > private), f'{private} in private data: a Reply to a READ '
                   f'of {size} bytes comes ' + ('in the chunk' if moved else 'inline'))
        configure(t, hand, maxreply=most)
        for size in (700, 1500, 2500):
            got, moved = read_by_chunk(t, hand, size)
            t.hold(moved == (size + 200 > most), f'{most} is configured: a Reply to a READ '
                   f'of {size} bytes comes ' + ('in the chunk' if moved else 'inline'))
            t.hold(len(got.data) <= most, f'{len(got.data)} bytes come inline')


@a_server_takes_private_data_and_configuration.wrong
def _(end):
    end.may_configure = lambda: False


@a_server_takes_private_data_and_configuration.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: 1024 if end.reply_limit is None else right()


@requester('A-Δ4', keys=CONF_CLIENT)
def a_client_takes_private_data_and_configuration(t):
    """What the server says in CONF_RDMA holds over what its private data said, more or less."""
    for private, most in ((4096, 1500), (1024, 3072)):
        asked, hand, got, _args = configuration.configured(
            t, t.write(t.pattern(2000)), {'recv': private}, maxcall=most)
        t.hold(bool(got.header.reads) == (most == 1500), f'private data says {private}, CONF_RDMA '
               f'{most}: a Call of 2000 bytes comes ' + ('as chunk' if got.header.reads else 'inline'))
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        hand.answer_null(got)
        t.answered(asked)
        t.hang_up(hand)


@a_client_takes_private_data_and_configuration.wrong
def _(end):
    end.results_of = lambda message: None

# SPDX-License-Identifier: BSD-3-Clause
"""The Connection Configuration Protocol, at the server: draft-ietf-nfsv4-rpcrdma-03 section 6."""
from net.events import Read
from nfs import nfs3
from scene import draft03
from scene.configuration import CONF_SERVER, conf_call, configure, read_by_chunk, status
from scene.parts import data_of
from scene.scenario import Unfit, responder
from wire import ccp, header, rpc

DIALECT = 'configuration protocol'
BEHIND = {'files', 'behind'}
OTHER_PROGRAM = 400123


def _sized_write(t, size, fixed=28):
    """Returns a WRITE whose Send, with a header of `fixed` bytes, has this length."""
    return t.write(t.pattern(size - fixed - (len(t.write(b'')))))


def _configures_always(end):
    end.may_configure = lambda: True


def _ignores(end):
    end.may_configure = lambda: False


@responder('A6.1-1', keys=CONF_SERVER, needs={'files'})
def before_configuration_1024_bytes_pass(t):
    """Without private data a Send of 1024 bytes is accepted, and no longer one comes."""
    hand = t.connect(data=b'')
    hand.result(hand.call(_sized_write(t, 1024)).xid, 'a Call of 1024 bytes with its header')
    for size in (500, 1000, 3000):
        got, _moved = read_by_chunk(t, hand, size)
        t.hold(len(got.data) <= 1024, f'a Send of {len(got.data)} bytes comes')
    configure(t, hand)


@before_configuration_1024_bytes_pass.wrong
def _(end):
    right = end.on_send
    end.on_send = lambda sent: len(sent.data) < 1024 and right(sent)


@before_configuration_1024_bytes_pass.wrong
def _(end):
    end.send_limit = lambda: 4096


@responder('A6.1-2', keys=CONF_SERVER, needs={'files'})
def a_second_configuration_changes_nothing(t):
    """Its answer has the current values, which stay in effect."""
    hand = t.connect()
    first = configure(t, hand, maxreply=1500)
    again = configure(t, hand, maxcall=8192, maxreply=4096, reads=0)
    t.hold(first == again, f'first it says {first}, then {again}')
    got, _moved = read_by_chunk(t, hand, 2000)
    t.hold(len(got.body) <= 1500, f'then a Reply of {len(got.body)} bytes comes inline')


a_second_configuration_changes_nothing.wrong(_configures_always)


@a_second_configuration_changes_nothing.wrong
def _(end):
    right = end.conf_reply
    end.conf_reply = lambda call: (right(call) if end.reply_limit is None
                                   else rpc.accepted(call.xid, stat=rpc.SYSTEM_ERR))


@a_second_configuration_changes_nothing.wrong
def _(end):
    right = end.conf_results

    def smaller():
        end.options.inline_threshold_bytes -= 1024
        return right()
    end.conf_results = smaller


@responder('A6.1-2', keys=CONF_SERVER, needs=BEHIND)
def configuration_among_calls_changes_nothing(t):
    """After a CONF_RDMA during another Call the private data stay in effect."""
    hand = t.connect()
    held = t.hold_back()
    sent = hand.call(t.null())
    t.settle(lambda: held, 'a Call at the server')
    results = configure(t, hand, maxreply=1500)
    t.hold(results.maxcall_sendsize >= 1024, 'no values in force are told')
    t.server.before = None
    t.let_go(held[0])
    hand.result(sent.xid, 'the Call that was in flight')
    got, moved = read_by_chunk(t, hand, 2000)
    t.hold(not moved and len(got.body) > 2000, 'the values of that CONF_RDMA hold')


configuration_among_calls_changes_nothing.wrong(_configures_always)


@responder('A6.2-1', keys=CONF_SERVER)
def configuration_is_a_program_of_two_procedures(t):
    """NULL and CONF_RDMA are served; other procedures, versions and arguments get RPC errors."""
    hand = t.connect()
    t.hold(status(hand, conf_call(proc=0)) == rpc.SUCCESS, 'no NULL')
    t.hold(status(hand, conf_call(proc=2)) == rpc.PROC_UNAVAIL, 'procedure 2 is no PROC_UNAVAIL')
    t.hold(status(hand, conf_call(bytes(8))) == rpc.GARBAGE_ARGS,
           'CONF_RDMA of two words is no GARBAGE_ARGS')
    for vers in (0, 2):
        reply = rpc.decode(hand.ask(conf_call(bytes(12), vers=vers)).body)
        t.hold(reply.accept_stat == rpc.PROG_MISMATCH, f'version {vers} is no PROG_MISMATCH')
        t.hold((reply.low, reply.high) == (1, 1), f'versions {reply.low} to {reply.high} are told')
    configure(t, hand)


def _replies(change):
    def bend(end):
        right = end.own_reply

        def reply(work):
            call = rpc.decode(work.call)
            return change(call) or right(work)
        end.own_reply = reply
    return bend


for _change in (
        lambda c: rpc.accepted(c.xid, stat=rpc.PROC_UNAVAIL) if c.proc == 0 else None,
        lambda c: rpc.accepted(c.xid, stat=rpc.GARBAGE_ARGS) if c.proc == 2 else None,
        lambda c: rpc.accepted(c.xid, bytes(12)) if len(c.args) == 8 else None,
        lambda c: rpc.accepted(c.xid, bytes(12)) if c.vers == 2 else None,
        lambda c: rpc.accepted(c.xid, stat=rpc.PROG_UNAVAIL)):
    configuration_is_a_program_of_two_procedures.wrong(_replies(_change))


@responder('A6.2-1', keys={**CONF_SERVER, 'config_program': OTHER_PROGRAM}, needs={'behind'})
def its_number_can_be_another(t):
    """The draft has no number for the program: the configured one is used."""
    hand = t.connect()
    configure(t, hand, prog=OTHER_PROGRAM)
    t.hold(status(hand, conf_call(bytes(12))) == rpc.PROG_UNAVAIL, 'it has two numbers')


@its_number_can_be_another.wrong
def _(end):
    end.options.config_program = ccp.PROGRAM


@its_number_can_be_another.wrong
def _(end):
    end.is_conf = lambda call: True


@responder('A6.2-2', keys=CONF_SERVER)
def three_words_come_back(t):
    """The results are the largest Call, the alignment and the server's limit of Reads."""
    hand = t.connect()
    results = configure(t, hand)
    t.hold(results.maxcall_sendsize >= 1024, f'Calls of {results.maxcall_sendsize} bytes')
    t.hold(results.align <= results.maxcall_sendsize, f'an alignment of {results.align}')
    t.hold(results.maxrdmaread <= 65535, f'{results.maxrdmaread} Reads')


def _results(change):
    def bend(end):
        right = end.conf_results
        end.conf_results = lambda: ccp.Results(*change(right()))
    return bend


three_words_come_back.wrong(_results(lambda r: (r.align, r.maxcall_sendsize, r.maxrdmaread)))
three_words_come_back.wrong(_results(lambda r: (r.maxrdmaread, r.align, r.maxcall_sendsize)))


@three_words_come_back.wrong
def _(end):
    right = end.conf_reply
    end.conf_reply = lambda call: right(call) + bytes(4)


@three_words_come_back.wrong
def _(end):
    right = end.conf_reply
    end.conf_reply = lambda call: right(call)[:-4]


@responder('A6.2-2', keys=CONF_SERVER)
def no_more_reads_are_told_than_the_connection_has(t):
    """The IRD of the accept limits the announced Reads, for any request of the client."""
    for depth in (0, 1, 4, 16, 64):
        hand = t.connect(ord=depth)
        if hand.conn.peer.ird is None:
            raise Unfit('its MPA has revision one, which negotiates no depth')
        told = configure(t, hand).maxrdmaread
        t.hold(told <= min(depth, hand.conn.peer.ird),
               f'{told} Reads, where {depth} were asked for and {hand.conn.peer.ird} are agreed')
        hand.conn.close()


@no_more_reads_are_told_than_the_connection_has.wrong
def _(end):
    end.reads_taken = lambda: 16


@responder('A6.2-4', keys=CONF_SERVER, needs={'files'})
def no_reply_inline_is_longer_than_the_client_said(t):
    """A longer Reply uses the Reply chunk or a Read chunk."""
    for most in (1500, 2048):
        hand = t.connect()
        configure(t, hand, maxreply=most)
        around = len(hand.ask(t.read(4)).body) - 4
        for size in (most - around - 28, most - around, most - around + 4, most, 3500):
            got, moved = read_by_chunk(t, hand, size)
            t.hold(moved or len(got.body) <= most,
                   f'a Reply of {len(got.body)} bytes comes inline, {most} were said')
        got = hand.ask(t.read(most))
        t.hold(got.header.reads or got.header.proc == header.ERROR,
               'a longer Reply comes inline where there is no reply chunk')


no_reply_inline_is_longer_than_the_client_said.wrong(_ignores)


@no_reply_inline_is_longer_than_the_client_said.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 32


@responder('A6.2-9', keys=CONF_SERVER, needs=BEHIND)
def no_send_is_longer_than_the_client_said(t):
    """The header counts: a Send of exactly that length comes inline, a longer one does not."""
    hand = t.connect()
    configure(t, hand, maxreply=1500)
    around = len(hand.ask(t.read(4)).data) - 4
    for size, inline in ((1500 - around, True), (1504 - around, False)):
        got, moved = read_by_chunk(t, hand, size)
        t.hold(len(got.data) <= 1500, f'a Send of {len(got.data)} bytes, 1500 were said')
        t.hold(moved != inline, f'a Send of {size + around} bytes would '
               + ('fit' if inline else 'be too long'))


no_send_is_longer_than_the_client_said.wrong(_ignores)


@no_send_is_longer_than_the_client_said.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() + 28


@no_send_is_longer_than_the_client_said.wrong
def _(end):
    right = end.send_limit
    end.send_limit = lambda: right() - 4


@responder('A6.2-9', keys=CONF_SERVER, needs={'files'})
def a_call_as_long_as_the_server_said_fits(t):
    """The RPC message has that length, and the header also has chunks of several segments."""
    hand = t.connect()
    most = configure(t, hand, maxcall=1 << 20).maxcall_sendsize
    call = _sized_write(t, min(most, 65536) & ~3, fixed=0)
    _keys, write = hand.lend_pieces(*[64] * 4)
    _keys, reply = hand.lend_pieces(*[256] * 4)
    hand.result(hand.call(call, writes=[write], reply=reply).xid, f'a Call of {len(call)} bytes')


@a_call_as_long_as_the_server_said_fits.wrong
def _(end):
    right = end.on_send
    end.room = lambda: 4096
    end.on_send = lambda sent: right(sent) if len(sent.data) <= 4096 else end.conn.close()


@responder('A6.2-5', keys=CONF_SERVER, needs={'files'})
def no_more_reads_are_under_way_than_the_client_said(t):
    """A Call in eight segments is read one or two segments at a time."""
    for most in (1, 2):
        hand = t.connect()
        configure(t, hand, reads=most)
        call = t.write(t.pattern(8000))
        hand.conn.hold_reads = True
        sent = hand.call(call, proc=header.NOMSG, body=b'',
                         reads=hand.read_chunk(0, call, pieces=8))
        for _ in range(len(sent.reads)):
            t.settle(lambda h=hand: h.conn.reads_waiting, 'the next Read')
            hand.barrier(t.null())
            t.hold(hand.conn.reads_most <= most, f'{hand.conn.reads_most} Reads are under way')
            hand.conn.answer_reads(1)
        hand.result(sent.xid, 'a Call in eight segments')


@no_more_reads_are_under_way_than_the_client_said.wrong
def _(end):
    end.read_depth = lambda: 16


@no_more_reads_are_under_way_than_the_client_said.wrong
def _(end):
    right = end.read_depth
    end.read_depth = lambda: right() + 1


@responder('A6.2-5', keys=CONF_SERVER, needs={'files'})
def where_the_client_said_zero_nothing_is_read(t):
    """A Call with Read chunks is refused without a Read; a long Reply uses no Read chunk either."""
    hand = t.connect()
    configure(t, hand, reads=0)
    got = hand.ask(t.read(draft03.LONG))
    t.hold(not got.header.reads, 'a Reply is lent to a client that said zero')
    call = t.write(t.pattern(2000))
    hand.call(call, proc=header.NOMSG, body=b'', reads=hand.read_chunk(0, call))
    t.settle(lambda: hand.conn.sends or hand.conn.ended, 'an answer to a Call with read chunks')
    t.hold(not [e for e in hand.conn.events if isinstance(e, Read)], 'a Read comes')


@where_the_client_said_zero_nothing_is_read.wrong
def _(end):
    end.read_depth = lambda: 16
    end.call_flaw = lambda message: None


@where_the_client_said_zero_nothing_is_read.wrong
def _(end):
    end.may_expose = lambda: True


@responder('A6.2-6', keys={**CONF_SERVER, 'padding_align_bytes': 512}, needs=BEHIND)
def the_alignment_is_that_for_rdma_msgp(t):
    """A server with a configured alignment recommends it, and accepts aligned Calls."""
    hand = t.connect()
    results = configure(t, hand)
    t.hold(results.align == 512, f'an alignment of {results.align} is recommended, not 512')
    data = t.pattern(1200, 512)
    hand.reply(draft03.call_padded(hand, t.write(data), results.align, 1024).xid)
    call = t.nfs(6, nfs3.read(t.files.scratch, 0, 1200))
    t.hold(data_of(call, draft03.plain(hand.ask(call), call)) == data, 'other data is written')


the_alignment_is_that_for_rdma_msgp.wrong(
    _results(lambda r: (r.maxcall_sendsize, 0, r.maxrdmaread)))


@the_alignment_is_that_for_rdma_msgp.wrong
def _(end):
    end.take_padded = lambda m: end.refuse_header(m.xid, 1, 'RDMA_MSGP')


@responder('A6.2-7', keys={**CONF_SERVER, 'inline_threshold_bytes': 4096}, needs=BEHIND)
def sizes_are_from_1024_to_the_servers_own(t):
    """Replies below 1024 bytes come inline for any value of the client; none above 4096 does."""
    for value in (0, 1, 1023, (1 << 32) - 1):
        hand = t.connect()
        results = configure(t, hand, maxcall=value, maxreply=value)
        t.hold(results.maxcall_sendsize >= 1024, f'Calls of {results.maxcall_sendsize} bytes')
        _got, moved = read_by_chunk(t, hand, 700)
        t.hold(not moved, f'{value} is said: a Reply of 800 bytes is written to the reply chunk')
        got, _moved = read_by_chunk(t, hand, 6000)
        t.hold(len(got.data) <= 4096, f'{value} is said: a Send of {len(got.data)} bytes')


@sizes_are_from_1024_to_the_servers_own.wrong
def _(end):
    end.at_least = lambda value: value


@sizes_are_from_1024_to_the_servers_own.wrong
def _(end):
    end.send_limit = lambda: max(1024, end.reply_limit or 1024)

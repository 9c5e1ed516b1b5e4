# SPDX-License-Identifier: BSD-3-Clause
"""The Connection Configuration Protocol of a scenario, as a client and as a server."""
from scene.client_session import new_xid
from scene.parts import data_of
from scene.scenario import Wrong
from wire import ccp, header, rpc

CONF_SERVER = {'listen_compat': 'draft03', 'config_protocol': True}
CONF_CLIENT = {'connect_compat': 'draft03', 'config_protocol': True}


def conf_call(args=b'', proc=ccp.CONF_RDMA, vers=ccp.VERSION, prog=ccp.PROGRAM):
    """Returns a Call of the program."""
    return rpc.call(new_xid(), prog, vers, proc, args)


def _reply(hand, call):
    """Returns the RPC message of an inline Reply."""
    got = hand.ask(call)
    if got.header.proc != header.MSG:
        raise Wrong(f'configuration is answered by: {header.describe(got.data)}')
    return rpc.decode(got.body)


def configure(t, hand, maxcall=4096, maxreply=4096, reads=16, prog=ccp.PROGRAM):
    """Configures a connection to a server. Returns the server's results."""
    args = ccp.encode_args(ccp.Args(maxcall, maxreply, reads))
    reply = _reply(hand, conf_call(args, prog=prog))
    t.hold(reply.succeeded, 'CONF_RDMA is refused')
    t.hold(len(reply.result) == 12, f'its results have {len(reply.result)} bytes, not 12')
    return ccp.decode_results(reply.result)


def status(hand, call):
    """Makes a Call. Returns its accept_stat."""
    return _reply(hand, call).accept_stat


def asked(t, hand, prog=ccp.PROGRAM):
    """Returns the next Send, which must be CONF_RDMA, and its arguments."""
    got = hand.next('CONF_RDMA')
    t.hold(got.header.proc == header.MSG, f'no CONF_RDMA but: {header.describe(got.data)}')
    call = rpc.decode(got.body)
    t.hold((call.prog, call.vers, call.proc) == (prog, ccp.VERSION, ccp.CONF_RDMA),
           f'no CONF_RDMA but procedure {call.proc} of program {call.prog} version {call.vers}')
    t.hold(len(call.args) == 12, f'its arguments have {len(call.args)} bytes, not 12')
    return got, ccp.decode_args(call.args)


def agree(hand, got, maxcall=4096, align=0, reads=16, credit=16):
    """Answers CONF_RDMA."""
    result = ccp.encode_results(ccp.Results(maxcall, align, reads))
    hand.answer(got, rpc.accepted(got.header.xid, result), credit)


def configured(t, call, start=None, **values):
    """Makes a client call, which configures first. Returns (the Call, the Hand, the CONF_RDMA, its arguments)."""
    what = t.have_called(call)
    hand = t.accept(**(start or {}))
    got, args = asked(t, hand)
    agree(hand, got, **values)
    return what, hand, hand.next('the Call behind CONF_RDMA'), args


def read_by_chunk(t, hand, size, room=8192):
    """Makes a READ with a Reply chunk. Returns (the Send, whether the Reply used the chunk)."""
    call = t.read(size)
    key, segment = hand.lend(room, writable=True)
    got = hand.ask(call, reply=[segment])
    moved = got.header.proc == header.NOMSG
    whole = bytes(key.memory[:got.reply_chunk()[0].length]) if moved else got.body
    t.hold(data_of(call, whole) == t.pattern(size), 'other data comes')
    return got, moved

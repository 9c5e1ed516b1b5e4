# SPDX-License-Identifier: BSD-3-Clause
"""RPC above the transport: draft-ietf-nfsv4-rpcrdma-03 sections 8 and 11, RFC 8166
sections 4.5 and 8.2."""
from nfs import nfs3
from scene.client_session import is_rpc_error, new_xid
from scene.scenario import requester, responder
from wire import header, rpc, xdr

GSS_PROC_DATA, INTEGRITY, PRIVACY = 0, 2, 3


@responder('A8-1')
def errors_of_rpc_come_as_replies(t):
    """An unknown program, version or procedure, bad arguments, and another RPC version each get their answer."""
    hand = t.connect()
    nfs, version, sys = nfs3.PROGRAM, t.files.version, rpc.auth_sys()
    with_args = {3: 6, 4: 1}[version]       # READ, COMPOUND
    for what, call, status in (
            ('program', rpc.call(new_xid(), 0x2ffffffe, 1, 1), rpc.PROG_UNAVAIL),
            ('version', rpc.call(new_xid(), nfs, 77, 1), rpc.PROG_MISMATCH),
            ('procedure', rpc.call(new_xid(), nfs, version, 99, cred=sys), rpc.PROC_UNAVAIL),
            ('arguments', rpc.call(new_xid(), nfs, version, with_args, bytes(4), cred=sys), rpc.GARBAGE_ARGS),
            ('RPC', rpc.call(new_xid(), nfs, version, 0, rpcvers=3), None)):
        got = hand.ask(call)
        t.hold(got.header.proc == header.MSG and is_rpc_error(got.body),
               f'a bad {what} is answered {header.describe(got.data)}')
        reply = rpc.decode(got.body)
        if status is not None and what != 'version':
            t.hold(reply.accept_stat == status, f'a bad {what} has status {reply.accept_stat}')
    hand.barrier(t.null())


@errors_of_rpc_come_as_replies.wrong
def _(end):
    right = end.reply_is_here
    end.reply_is_here = lambda work, reply: (
        end.refuse(work, '') if is_rpc_error(reply) else right(work, reply))


@errors_of_rpc_come_as_replies.wrong
def _(end):
    right = end.reply_is_here
    end.reply_is_here = lambda work, reply: right(
        work, rpc.accepted(work.message.xid, stat=rpc.SYSTEM_ERR) if is_rpc_error(reply) else reply)


@requester('A8-1')
def errors_of_rpc_reach_the_caller(t):
    """Each kind of refusal arrives unchanged."""
    hand = t.working()
    for status in range(1, 6):
        asked, got = t.next_called(hand, t.null())
        reply = rpc.accepted(got.header.xid, stat=status, low=2, high=4)
        hand.answer(got, reply)
        t.hold(t.answered(asked) == reply, f'accept_stat {status} arrives as something else')
    for status in (None, 1, 5):
        asked, got = t.next_called(hand, t.null())
        reply = rpc.denied(got.header.xid, status)
        hand.answer(got, reply)
        t.hold(t.answered(asked) == reply, f'auth_stat {status} arrives as something else')


@errors_of_rpc_reach_the_caller.wrong
def _(end):
    right = end.reply_of

    def general(pending, message):
        reply = right(pending, message)
        if reply and is_rpc_error(reply):
            return rpc.accepted(pending.xid, stat=rpc.SYSTEM_ERR)
        return reply
    end.reply_of = general


@responder('A8-2')
def a_call_is_served_again_after_the_connection_was_lost(t):
    """The requester connects again, and repeats unanswered Calls with the same XIDs."""
    call = t.null()
    for reset in (False, True):
        hand = t.connect()
        hand.call(call)
        hand.conn.close(reset)
    hand = t.connect()
    hand.result(hand.call(call).xid, 'a Call that is repeated on a new connection')


@a_call_is_served_again_after_the_connection_was_lost.wrong
def _(end):
    right = end.take_call
    seen = getattr(end.options, 'seen', set())
    end.options.seen = seen

    def once(message):
        if message.xid not in seen:
            seen.add(message.xid)
            right(message)
    end.take_call = once


@requester('A8-2')
def a_lost_connection_is_made_again(t):
    """The grant ends with the connection: the new one begins with a single Call."""
    hand = t.working(credit=16)
    _asked, _got = t.next_called(hand, t.null())
    t.hang_up(hand)
    asked = [t.have_called(t.echo(bytes(6000), 0)) for _ in range(3)]
    hand = t.accept()
    for _ in asked:
        got = hand.next('a Call on the new connection')
        hand.message_of(got)
        hand.quiet()
        hand.answer_null(got, credit=1)
    t.settle(lambda: all(a.over for a in asked), 'the last Reply')


@a_lost_connection_is_made_again.wrong
def _(end):
    right = end.take_grant
    end.granted = getattr(end.options, 'granted', 1)

    def kept(credit):
        right(credit)
        end.options.granted = credit
    end.take_grant = kept


def _gss(service, seq=1):
    """A credential of RPCSEC_GSS for data (RFC 2203 section 5)."""
    words = b''.join(map(xdr.u32, (1, GSS_PROC_DATA, seq, service)))
    return rpc.Auth(6, words + xdr.var(b'a context of GSS'))


def _gss_call(proc, args, service):
    return rpc.call(new_xid(), nfs3.PROGRAM, nfs3.VERSION, proc, args, cred=_gss(service),
                    verf=rpc.Auth(6, b'a checksum'))


@responder('A11-1', needs={'behind'})
def messages_of_rpcsec_gss_pass_untouched(t):
    """Integrity and privacy make arguments and results one opaque body, which cannot be reduced."""
    hand = t.connect()
    seen = []
    body, checksum = xdr.var(bytes(4) + t.pattern(900)), rpc.Auth(6, b'another checksum')

    def secured(call):
        seen.append(call)
        return rpc.accepted(call.xid, body, verf=checksum)
    t.server.before = secured
    for service in (INTEGRITY, PRIVACY):
        _key, segment = hand.lend(2000, writable=True)
        args = xdr.var(t.pattern(300, service))
        got = hand.result(hand.call(_gss_call(6, args, service), writes=[[segment]]).xid)
        t.hold(got.body == rpc.accepted(got.header.xid, body, verf=checksum), 'another Reply comes')
        t.hold(not any(s.length for chunk in got.header.writes for s in chunk),
               'a part of the results is written')
        t.hold((seen[-1].args, seen[-1].cred) == (args, _gss(service)), 'another Call arrives')


@messages_of_rpcsec_gss_pass_untouched.wrong
def _(end):
    right = end.reduced

    def blind(work, reply):
        writes, body = right(work, reply)
        writes[0] = end.written(work.message.writes[0], reply[-900:])
        return writes, body[:-900]
    end.reduced = blind


@messages_of_rpcsec_gss_pass_untouched.wrong
def _(end):
    right = end.answer
    end.answer = lambda call: right(rpc.call(*(lambda m: (m.xid, m.prog, m.vers, m.proc, m.args))(
        rpc.decode(call))))


@requester('A11-1', keys={'ddp': 'nfs'})
def secured_calls_move_whole(t):
    """A WRITE and a READ with privacy move as whole messages, with only a Reply chunk."""
    hand = t.working()
    for proc, size in ((7, 20000), (6, 40)):
        asked, got = t.next_called(hand, _gss_call(proc, xdr.var(t.pattern(size)), PRIVACY))
        t.hold(all(entry.position == 0 for entry in got.header.reads), 'a part of it is a chunk')
        t.hold(not got.header.writes, 'a part of its results is to land alone')
        t.hold(hand.message_of(got) == asked.call, 'another Call comes')
        reply = rpc.accepted(got.header.xid, xdr.var(bytes(400)), verf=rpc.Auth(6, b'checksum'))
        hand.answer(got, reply)
        t.hold(t.answered(asked) == reply, 'another Reply reaches the caller')


@secured_calls_move_whole.wrong
def _(end):
    right = end.offer_room

    def as_read(pending, message):
        right(pending, message)
        message.writes = [[end.segment(end.lend(pending, 4096, writable=True))]]
    end.offer_room = as_read


@secured_calls_move_whole.wrong
def _(end):
    def move(pending, message):
        at = len(pending.call) - 20000
        key = end.lend(pending, pending.call[at:], readable=True)
        message.body = pending.call[:at]
        message.reads = [header.ReadSegment(at, key.stag, 20000, key.to)]
    end.move = move

# SPDX-License-Identifier: BSD-3-Clause
"""Calls in RDMA_MSGP, at the server: draft-ietf-nfsv4-rpcrdma-03 section 3.5."""
from nfs import nfs3, others, padding
from scene import draft03
from scene.draft03 import SERVER, call_padded
from scene.client_session import new_xid
from scene.parts import parted
from scene.scenario import responder
from wire import header, rpc

DIALECT = 'draft-03'
SIZE = 1024


def _write(t, number):
    """Returns (data, Call) of a WRITE of SIZE bytes, with different data for each number."""
    data = t.pattern(SIZE, 4096 * number)
    return data, t.write(data)


def _always(end):
    draft03.plain_by(end, lambda m: setattr(m, 'thresh', min(m.thresh, SIZE)))


def _from_a_short_header(end):
    end.base = lambda message: 36


def _powers_alone(end):
    draft03.plain_by(end, lambda m: setattr(m, 'align', 1 << max(0, m.align.bit_length() - 1)))


def _not_credentials(end):
    class Walker(padding.Walker):
        """An end that does not expect pads at credentials."""

        def auth(self):
            """An end that reads messages without removing pads."""
            align, self.align = self.align, 0
            super().auth()
            self.align = align
    end.walker = Walker


@responder('A3.5-3', keys=SERVER, needs={'files'})
def pads_of_a_call_are_passed_over(t):
    """Pads precede each opaque that reaches the threshold, and no other."""
    hand = t.connect()
    for number, (align, thresh) in enumerate(
            ((256, SIZE - 1), (256, SIZE), (256, SIZE + 1), (64, SIZE), (1000, SIZE)), 1):
        data, call = _write(t, number)
        hand.result(call_padded(hand, call, align, thresh).xid,
                    f'a WRITE of {SIZE} bytes, alignment {align}, threshold {thresh}')
        t.hold(t.written(hand, SIZE) == data, f'alignment {align}, threshold {thresh}: '
               'other data is written')


pads_of_a_call_are_passed_over.wrong(draft03.above_alone)
pads_of_a_call_are_passed_over.wrong(draft03.no_pads)
pads_of_a_call_are_passed_over.wrong(_always)


@responder('A3.5-1', keys=SERVER, needs={'files'})
def alignment_and_threshold_come_before_the_lists(t):
    """A Call in an RDMA_MSGP with pads of both kinds is served."""
    hand = t.connect()
    data, call = _write(t, 1)
    hand.result(call_padded(hand, call, 512, 1000).xid, 'a WRITE in an RDMA_MSGP')
    t.hold(t.written(hand, SIZE) == data, 'other data is written')


alignment_and_threshold_come_before_the_lists.wrong(draft03.swapped)


@alignment_and_threshold_come_before_the_lists.wrong
def _(end):
    end.take_padded = lambda m: end.refuse_header(m.xid, 1, 'RDMA_MSGP')


@responder('A3.5-4', keys=SERVER, needs={'files'})
def pads_are_counted_from_the_begin_of_the_send(t):
    """Alignment includes the header, with lists of any length."""
    hand = t.connect()
    for number, room in enumerate((0, 1, 3), 1):
        data, call = _write(t, number)
        _keys, segments = hand.lend_pieces(*[64] * room)
        hand.result(call_padded(hand, call, 512, SIZE, writes=[[s] for s in segments]).xid,
                    f'an RDMA_MSGP with {room} write chunks')
        t.hold(t.written(hand, SIZE) == data, 'other data is written')


pads_are_counted_from_the_begin_of_the_send.wrong(draft03.from_the_message)
pads_are_counted_from_the_begin_of_the_send.wrong(_from_a_short_header)


@responder('A4.1-5', keys=SERVER, needs={'files'})
def an_rdma_msgp_has_all_lists(t):
    """A READ in an RDMA_MSGP is answered in its Write chunk, and one with a Reply chunk there."""
    hand = t.connect()
    key, segment = hand.lend(8000, writable=True)
    got = hand.result(call_padded(hand, t.read(8000), 64, 1024, writes=[[segment]]).xid, 'a READ')
    t.hold(got.write_chunk()[0].length == 8000, 'no data is written')
    t.hold(key.memory == t.pattern(8000), 'other data is written')
    key, segment = hand.lend(9000, writable=True)
    got = hand.reply(call_padded(hand, t.read(8000), 64, 1024, reply=[segment]).xid)
    t.hold(got.header.proc == header.NOMSG and got.header.reply, 'the reply chunk is not used')
    t.hold(t.pattern(8000) in key.memory, 'other data is written')


@an_rdma_msgp_has_all_lists.wrong
def _(end):
    right = end.take_padded

    def without_lists(message):
        message.writes, message.reply = [], None
        right(message)
    end.take_padded = without_lists


def _padded_echo(t, size, align, thresh):
    """Returns (Call, header) of an ECHO in an RDMA_MSGP with aligned data."""
    call = t.echo(bytes(size), 0)
    message = header.Header(int.from_bytes(call[:4], 'big'), proc=header.MSGP, credit=16,
                            align=align, thresh=thresh, body=call)
    places = [(len(call) - size, size)]
    message.body = padding.padded(call, places, align, thresh, header.head_bytes(message))
    return message


@responder('A3.5-5', keys=SERVER, needs={'behind'})
def without_knowing_its_opaques_an_rdma_msgp_is_refused(t):
    """An unknown program gets ERR_CHUNK, unless the whole message is below the threshold."""
    hand = t.connect()
    for size, align, thresh in ((2000, 64, 1024), (1200, 1000, 1024), (200, 64, 16)):
        message = hand.send(_padded_echo(t, size, align, thresh))
        hand.refused(message.xid, f'an RDMA_MSGP of a program unknown, {size} bytes')
    t.hold(not t.server.log, 'it is passed on all the same')
    for size, thresh in ((200, 1024), (2000, 4000)):
        message = hand.send(_padded_echo(t, size, 64, thresh))
        hand.result(message.xid, f'an RDMA_MSGP of {size} bytes, threshold {thresh}')


without_knowing_its_opaques_an_rdma_msgp_is_refused.wrong(draft03.no_pads)


@without_knowing_its_opaques_an_rdma_msgp_is_refused.wrong
def _(end):
    draft03.plain_by(end, lambda m: setattr(m, 'thresh', 0))


@responder('A3.5-5', keys=SERVER, needs={'files'})
def an_alignment_of_zero_or_one_means_no_pads(t):
    """A WRITE above the threshold then comes without pads."""
    hand = t.connect()
    for align in (0, 1):
        data, call = _write(t, align + 1)
        hand.result(call_padded(hand, call, align, 512).xid, f'an RDMA_MSGP with alignment {align}')
        t.hold(t.written(hand, SIZE) == data, 'other data is written')


@an_alignment_of_zero_or_one_means_no_pads.wrong
def _(end):
    draft03.plain_by(end, lambda m: setattr(m, 'align', max(m.align, 8)))


@an_alignment_of_zero_or_one_means_no_pads.wrong
def _(end):
    right = end.sane
    end.sane = lambda align: align > 0 and right(align)


@responder('A3.5-6', keys=SERVER, needs={'files'})
def no_alignment_does_harm(t):
    """Alignments that are no power of two are used, up to the size of a receive."""
    hand = t.connect()
    for number, align in enumerate((3, 7, 24, 1023), 1):
        data, call = _write(t, number)
        hand.result(call_padded(hand, call, align, SIZE).xid, f'an RDMA_MSGP aligned to {align}')
        t.hold(t.written(hand, SIZE) == data, f'alignment {align}: other data is written')
    hand.result(call_padded(hand, t.null(), 4096, SIZE).xid, 'a NULL aligned to the receive')
    for align in (1 << 31, (1 << 32) - 1):
        _data, call = _write(t, 9)
        message = header.Header(int.from_bytes(call[:4], 'big'), proc=header.MSGP, credit=16,
                                align=align, thresh=SIZE, body=call)
        hand.not_executed(hand.send(message).xid, f'an alignment of {align}')
        hand.barrier(t.null())
    t.hold(t.written(hand, SIZE) == data, 'a WRITE that cannot be decoded is executed')


no_alignment_does_harm.wrong(_powers_alone)


@no_alignment_does_harm.wrong
def _(end):
    draft03.plain_by(end, lambda m: setattr(m, 'align', m.align if m.align <= 4096 else 0))


@no_alignment_does_harm.wrong
def _(end):
    end.sane = lambda align: align < end.options.inline_threshold_bytes


@no_alignment_does_harm.wrong
def _(end):
    right = end.plain
    end.plain = lambda m: end.conn.close() or b'' if m.align > 4096 else right(m)


@responder('A3.5-6', keys={**SERVER, 'inline_threshold_bytes': 16384}, needs={'behind', 'files'})
def an_alignment_may_leave_the_data_to_a_second_buffer(t):
    """The document's example: aligned to 4096, with a credential and a file handle before the data."""
    hand = t.connect(send=16384, recv=16384)
    for number, size in enumerate((SIZE, 4096, 5001), 1):
        data = t.pattern(size, 4096 * number)
        call = t.write(data)
        sent = call_padded(hand, call, 4096, SIZE)
        t.hold(header.encode(sent).find(data) == 4096, 'the pads of the scenario are wrong')
        hand.result(sent.xid, f'a WRITE of {size} bytes, aligned to 4096')
        t.hold(t.written(hand, size) == data, 'other data is written')


an_alignment_may_leave_the_data_to_a_second_buffer.wrong(draft03.from_the_message)


@an_alignment_may_leave_the_data_to_a_second_buffer.wrong
def _(end):
    end.sane = lambda align: align <= 1024


def _many_opaques(t):
    """Returns Calls with several opaques and strings."""
    fh, xid = t.files.names, new_xid
    data = t.pattern(200)
    return {
        'SYMLINK': t.nfs(10, nfs3.symlink(fh, b'link', b'/somewhere/else/' * 9)),
        'WRITE': t.nfs(7, nfs3.write(t.files.scratch, 0, data)),
        'SETACL': rpc.call(xid(), others.ACL_PROGRAM, others.ACL_VERSION, others.SETACL,
                           others.setacl(fh, [(1, 0, 7), (4, 0, 5)]), cred=rpc.auth_sys()),
        'COMPOUND': rpc.call(xid(), nfs3.PROGRAM, others.NFS4, others.COMPOUND,
                             others.compound_write(b'a tag', fh, b'a name', data),
                             cred=rpc.auth_sys(gids=range(9)), verf=rpc.Auth(0, bytes(12))),
    }


@responder('A3.5-7', keys={**SERVER, 'inline_threshold_bytes': 16384}, needs={'behind'})
def every_opaque_of_a_call_has_its_pads(t):
    """The server gets credential, verifier, handles, names and data without pads."""
    hand = t.connect(send=16384, recv=16384)
    hand.barrier(t.null())
    came = []
    t.server.before = came.append
    for align, thresh in ((64, 4), (8, 6), (3, 1), (256, 144), (100, 36), (4096, 144), (4096, 145),
                          (1, 4), (0, 4)):
        for name, call in _many_opaques(t).items():
            got = hand.reply(call_padded(hand, call, align, thresh).xid)
            t.hold(got.header.proc != header.ERROR, f'{name} is refused: alignment {align}, '
                   f'threshold {thresh}')
            t.hold(came and came.pop() == rpc.decode(call), f'another {name} reaches the server')


every_opaque_of_a_call_has_its_pads.wrong(_not_credentials)
every_opaque_of_a_call_has_its_pads.wrong(draft03.no_pads)
every_opaque_of_a_call_has_its_pads.wrong(draft03.from_the_message)


@responder('A3.5-8', keys=SERVER, needs={'behind', 'files'})
def positions_of_chunks_do_not_count_pads(t):
    """The data of a WRITE is in a Read chunk without pads. Its position does not count pads either."""
    hand = t.connect()
    for number, (align, thresh) in enumerate(((64, 16), (512, 8), (24, 1)), 1):
        data, call = _write(t, number)
        position, payload, rest = parted(call)
        sent = call_padded(hand, call, align, thresh, body=rest,
                           reads=hand.read_chunk(position, payload, pieces=2))
        hand.result(sent.xid, 'an RDMA_MSGP with a read chunk')
        t.hold(t.written(hand, SIZE) == data, 'other data is written')


@positions_of_chunks_do_not_count_pads.wrong
def _(end):
    right = end.plain

    def counts(message):
        padded = len(message.body)
        body = right(message)
        for entry in message.reads:
            entry.position -= padded - len(body)
        return body
    end.plain = counts


@positions_of_chunks_do_not_count_pads.wrong
def _(end):
    draft03.plain_by(end, lambda m: m.reads and setattr(m, 'body', m.body + bytes(m.align)))

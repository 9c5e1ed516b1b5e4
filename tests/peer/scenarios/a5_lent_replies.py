# SPDX-License-Identifier: BSD-3-Clause
"""Long Replies as read chunks: draft-ietf-nfsv4-rpcrdma-03 sections 5.1 and 5.2, at the server."""
from nfs import nfs3
from scene import draft03
from scene.draft03 import LONG, SERVER
from scene.parts import data_of
from scene.scenario import responder
from wire import header, rpc

DIALECT = 'draft-03'


def _refuses(end):
    end.no_room = lambda work, out: end.refuse(work, 'nowhere')


def _shortened(end):
    expose = end.expose

    def shorter(work, out):
        out.body = out.body[:-4]
        expose(work, out)
    end.expose = shorter


@responder('A5.1-3', keys=SERVER, needs={'files'})
def a_reply_that_is_read_is_whole(t):
    """A Reply that fits nowhere is exposed, with every byte; then the connection continues."""
    hand = t.connect()
    for size in (5000, LONG):
        call = t.read(size)
        got = draft03.lent(t, hand, call)
        whole = hand.message_of(got)
        t.hold(whole[:4] == call[:4], 'the Reply has another XID than its header')
        t.hold(data_of(call, whole) == t.pattern(size), 'other data is lent')
        t.hold(rpc.decode(whole).result[-(-size % 4) - size:] == t.pattern(size),
               'the Reply is longer or shorter than it says')
        draft03.done(hand, got.header.xid)
    hand.barrier(t.null())
    hand.quiet()


a_reply_that_is_read_is_whole.wrong(_refuses)
a_reply_that_is_read_is_whole.wrong(_shortened)


@a_reply_that_is_read_is_whole.wrong
def _(end):
    put = end.put

    def moved(message, invalidate=None):
        for entry in message.reads:
            entry.position = 4
        put(message, invalidate)
    end.put = moved


@responder('A5.1-3', keys=SERVER, needs={'files', 'behind'})
def a_large_directory_is_read_in_one_message(t):
    """A whole READDIRPLUS of more than 100 KB is the position-zero chunk of an RDMA_NOMSG."""
    hand = t.connect()
    args = nfs3.readdirplus(t.files.names, dircount=200000, maxcount=200000)
    key, segment = hand.lend(240000, writable=True)
    written = hand.ask(t.nfs(17, args), reply=[segment]).reply_chunk()[0].length
    call = t.nfs(17, args)
    got = draft03.lent(t, hand, call)
    whole = hand.message_of(got)
    t.hold(got.header.proc == header.NOMSG and not any(e.position for e in got.header.reads),
           'it is no RDMA_NOMSG with a chunk at position zero')
    t.hold(len(whole) > 100000, f'the Reply has {len(whole)} bytes')
    t.hold(whole[:4] == call[:4] and whole[4:] == bytes(key.memory[4:written]),
           'other names are lent than are written')
    draft03.done(hand, got.header.xid)
    hand.barrier(t.null())
    t.hold(hand.is_dead(got.read_list()[0]), 'the key lives on behind RDMA_DONE')


a_large_directory_is_read_in_one_message.wrong(_refuses)
a_large_directory_is_read_in_one_message.wrong(_shortened)


@responder('A5.2-3', keys=SERVER, needs={'files'})
def without_a_reply_chunk_a_long_reply_is_lent(t):
    """Without a Reply chunk, a Reply that fits no Send must be read."""
    hand = t.connect()
    call = t.read(LONG)
    whole = hand.message_of(draft03.lent(t, hand, call))
    t.hold(data_of(call, whole) == t.pattern(LONG), 'other data is lent')


without_a_reply_chunk_a_long_reply_is_lent.wrong(_refuses)


@without_a_reply_chunk_a_long_reply_is_lent.wrong
def _(end):
    end.no_room = lambda work, out: None


@responder('A5.2-3', keys=SERVER, needs={'files'})
def a_reply_with_a_too_small_reply_chunk_uses_a_read_chunk(t):
    """A Reply chunk that is four bytes too small is not used; one of the exact size is."""
    hand = t.connect()
    call = t.read(LONG)
    _key, segment = hand.lend(LONG + 1000, writable=True)
    got = hand.ask(call, reply=[segment])
    t.hold(got.header.proc == header.NOMSG and got.header.reply, 'a large reply chunk is not used')
    size = got.reply_chunk()[0].length
    for room in (4, size // 2, size - 4):
        key, segment = hand.lend(room, writable=True)
        again = t.read(LONG)
        got = draft03.lent(t, hand, again, reply=[segment])
        t.hold(data_of(again, hand.message_of(got)) == t.pattern(LONG), 'other data is lent')
        t.hold(not any(s.length for s in got.header.reply or []),
               'the reply chunk that is too small comes back as if used')
        t.hold(not any(key.memory), 'something is written to it')
        draft03.done(hand, got.header.xid)
    _key, segment = hand.lend(size, writable=True)
    got = hand.ask(t.read(LONG), reply=[segment])
    t.hold(not got.header.reads and got.reply_chunk()[0].length == size,
           'a reply chunk that is just large enough is not used')


a_reply_with_a_too_small_reply_chunk_uses_a_read_chunk.wrong(_refuses)


@a_reply_with_a_too_small_reply_chunk_uses_a_read_chunk.wrong
def _(end):
    right = end.no_room

    def begins_to_write(work, out):
        if work.message.reply:
            end.written(work.message.reply, out.body)
        right(work, out)
    end.no_room = begins_to_write


@a_reply_with_a_too_small_reply_chunk_uses_a_read_chunk.wrong
def _(end):
    end.into_reply_chunk = lambda message, out: False

# SPDX-License-Identifier: BSD-3-Clause
"""Responders that keep to the documents otherwise than ours does: what each bends is its own to choose."""
import dataclasses
import itertools

from wire import header, rpc

NO_BUFFER, TOO_LONG = (0x12, 0x02), (0x12, 0x05)


def _receives(end, size):
    """Its receives, and what it sends, are of so many bytes."""
    end.options = dataclasses.replace(end.options, inline_threshold_bytes=size)
    end.receive_size = size
    right = end.on_send
    end.on_send = lambda sent: (right(sent) if len(sent.data) <= size
                                else end.conn.terminate(*TOO_LONG))


def small(end):
    """No more than RFC 8166 section 3.3.3 asks of all."""
    _receives(end, 1024)


def wide(end):
    """64 KiB inline."""
    _receives(end, 65536)


def without_private_data(end):
    """It does not know RFC 8797."""
    small(end)
    end.options.invalidate = False
    end.own_data = lambda: b''


def _grants(count):
    """Grants so many, and has no receive more; before its first answer it has one."""
    def bend(end):
        take, put, under_way, room = end.take_call, end.put, [], [1]

        def take_call(message):
            if len(under_way) >= room[0]:
                end.conn.terminate(*NO_BUFFER)
                return
            under_way.append(message)
            end.loop.after(0.001, lambda: end.conn.ended or take(message))

        def put_all(message, invalidate=None):
            under_way[:] = [m for m in under_way if m.xid != message.xid]
            room[0] = count
            put(message, invalidate)
        end.take_call, end.put, end.grant = take_call, put_all, lambda asked: count
    bend.__name__ = f'grants_{count}'
    return bend


grants_one, grants_four, grants_32 = _grants(1), _grants(4), _grants(32)


def grants_change(end):
    """Another grant in each answer."""
    count = itertools.cycle((32, 5, 17))
    end.grant = lambda asked: next(count)


def never_invalidates(end):
    """It says so."""
    end.options = dataclasses.replace(end.options, invalidate=False)


def version_one_alone(end):
    """It does not know version two."""
    end.options = dataclasses.replace(end.options, listen_version=1, characteristics=False)


def prefers_the_reply_chunk(end):
    """RFC 8166 section 4.3.3 lets it take the reply chunk for short Replies, too."""
    right, limit = end.reply_is_here, end.send_limit

    def reply_is_here(work, reply):
        room = sum(s.length for s in work.message.reply or [])
        end.send_limit = limit if room < len(reply) else lambda: 0
        right(work, reply)
        end.send_limit = limit
    end.reply_is_here = reply_is_here


def answers_the_last_first(end):
    """Of Calls that come together."""
    right, waiting = end.take_call, []

    def flush():
        while waiting and not end.conn.ended:
            right(waiting.pop())

    def take_call(message):
        waiting.append(message)
        if len(waiting) == 1:
            end.loop.after(0.003, flush)
    end.take_call = take_call


def err_vers_in_a_version_of_its_own(end):
    """The draft lets it; and it looks at the version before all but errors."""
    right = end.on_send

    def on_send(sent):
        words = [int.from_bytes(sent.data[at:at + 4], 'big') for at in range(0, 16, 4)]
        if not 28 <= len(sent.data) <= 1024 or words[1] in (1, 2) or words[3] == header.ERROR:
            right(sent)
            return
        end.put(header.Header(words[0], vers=1, credit=8, proc=header.ERROR, err=header.ERR_VERS, low=1, high=1))
    end.on_send = on_send


def moves_what_it_likes(end):
    """The draft has no rule by which a read chunk belongs to an item that may be moved."""
    end.options.strict_chunks = False


def goes_by_the_xid_of_the_header(end):
    """RFC 8166 section 4.2.1 lets it."""
    take = end.take_call

    def take_call(message):
        if message.body:
            message.body = message.xid.to_bytes(4, 'big') + message.body[4:]
        take(message)
    end.take_call = take_call


def says_by_rpc_that_a_reply_fits_nowhere(end):
    """RFC 8267 section 3.1 lets it."""
    def no_room(work, out):
        end.works.pop(work.message.xid)
        end.put(header.Header(out.xid, credit=out.credit, body=rpc.accepted(out.xid, stat=rpc.SYSTEM_ERR)))
    end.no_room = no_room


def garbage_args_for_what_may_not_be_moved(end):
    """One of the two errors that RFC 8166 section 4.5.2 has."""
    right = end.misplaced

    def misplaced(work):
        if right(work):
            end.garbage = lambda work: rpc.accepted(work.message.xid, stat=rpc.GARBAGE_ARGS)
        else:
            vars(end).pop('garbage', None)
        return False
    end.misplaced = misplaced


def drops_below_28_bytes_only(end):
    """RFC 8166 section 4.5: what is longer and no message gets ERR_CHUNK."""
    take = end.take_message
    end.too_short = lambda data: len(data) < 28

    def take_message(xid, version, sent):
        if sent.data[12:28] == bytes(16) and len(sent.data) < 68 and sent.data[32:36] != b'\0\0\0\1':
            end.refuse_header(xid, version, 'no RPC message')
        else:
            take(xid, version, sent)
    end.take_message = take_message


def does_not_look_at_segments(end):
    """Wraps, overlaps and chunks at position zero of an RDMA_MSG, of which no document speaks."""
    right = end.call_flaw

    def call_flaw(message):
        why = right(message)
        return None if why and ('no memory' in why or 'beside' in why) else why
    end.call_flaw = call_flaw


def bounds_what_is_offered(end):
    """RFC 8166 section 3.4.4 lets it hold chunk sizes against what an RPC can move."""
    right = end.call_flaw

    def call_flaw(message):
        chunks = [*message.writes, message.reply or []]
        return ('too large' if any(sum(s.length for s in c) > 1 << 20 for c in chunks)
                else right(message))
    end.call_flaw = call_flaw


# Some of what is asked needs several Calls at once, or private data.
NOT_ALL_CAN_BE_ASKED = (grants_one, without_private_data)
# What these do an RFC forbids, and the draft does not.
OF_THE_DRAFT = (err_vers_in_a_version_of_its_own, moves_what_it_likes)
KINDS = (small, wide, without_private_data, grants_one, grants_four, grants_32, grants_change,
         never_invalidates, version_one_alone, prefers_the_reply_chunk,
         answers_the_last_first, drops_below_28_bytes_only, does_not_look_at_segments, bounds_what_is_offered,
         goes_by_the_xid_of_the_header, says_by_rpc_that_a_reply_fits_nowhere,
         garbage_args_for_what_may_not_be_moved, *OF_THE_DRAFT)

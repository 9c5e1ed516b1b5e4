# SPDX-License-Identifier: BSD-3-Clause
"""RDMA_MSGP in both directions: draft-ietf-nfsv4-rpcrdma-03 section 3.5."""
import dataclasses

from nfs import padding
from wire import header


class Msgp:
    """Pads sent messages if configured, and removes pads from received ones."""

    walker = padding.Walker

    # ------------------------------------------------------------ sending

    def planned(self, pending):
        """Returns the message of a Call."""
        return self.dressed(super().planned(pending), pending.call)

    def alignment(self):
        """Returns the alignment of opaques; less than two means none."""
        return self.options.padding_align_bytes

    def threshold(self):
        """Returns the least length of an opaque that gets pads."""
        return self.options.padding_threshold_bytes

    def dressed(self, message, call):
        """Returns an RDMA_MSG as RDMA_MSGP, if it has something to align and the pads fit."""
        if not self.in_draft03() or message.proc != header.MSG or self.alignment() <= 1:
            return message
        try:
            places = padding.places(message.body, call, padding.moved_by(message))
        except ValueError:
            return message
        thresh = self.threshold()
        if not any(size >= thresh for _at, size in places):
            return message
        padded = self.padded(message, places, self.alignment(), thresh)
        return padded if len(header.encode(padded)) <= self.send_limit() else message

    def padded(self, message, places, align, thresh):
        """Returns the same message as RDMA_MSGP: A3.5-1, A3.5-2."""
        out = dataclasses.replace(message, proc=header.MSGP, align=align, thresh=thresh)
        out.body = padding.padded(message.body, places, align, thresh, self.base(out))
        return out

    @staticmethod
    def base(message):
        """Returns the offset of the RPC message in its Send: A3.5-4."""
        return header.head_bytes(message)

    # ------------------------------------------------------------ receiving

    def take_padded(self, message):
        """Handles an RDMA_MSGP; an undecodable one is a bad header: A3.5-5, A-D1."""
        if not self.in_draft03():
            super().take_padded(message)
            return
        is_call = self.is_call(message)
        try:
            message.body = self.plain(message)
        except ValueError as error:
            if is_call:
                self.refuse_header(message.xid, message.vers, str(error))
            else:
                self.bad_reply(message.xid)
            return
        if self.body_too_short(message.body):
            self.discarded += 1
        elif is_call:
            self.take_call(message)
        else:
            self.take_reply(message, None)

    def plain(self, message):
        """Returns the RPC message without pads. Raises ValueError if their places are unknown."""
        if not self.sane(message.align):
            raise ValueError(f'alignment {message.align}')
        pending = self.pending.get(message.xid)
        return padding.plain(message.body, message.align, message.thresh, self.base(message),
                             pending.call if pending else b'', padding.moved_by(message), self.walker)

    def sane(self, align):
        """Returns whether data can be aligned like this in one receive: A3.5-6."""
        return align <= self.options.inline_threshold_bytes

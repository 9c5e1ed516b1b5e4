# SPDX-License-Identifier: BSD-3-Clause
"""The upper-layer bindings of NFSv3 and NFSv4.1 (RFC 8267): which bytes of a message may be moved to chunks.

A place is (offset of the data in the RPC message, its length without XDR pad). Of what it does not know it
says None.
"""
from nfs import nfs3, nfs4
from wire import rpc, xdr

RPCSEC_GSS = 6
REPLY_HEADER = 24 + rpc.MAX_AUTH_BYTES
AROUND = 88 + 24            # post_op_attr and the words around a payload
SHORT_REPLY = 600           # every Reply that has no payload and no names is shorter


def _nfs3(call):
    """The procedure and the arguments of an NFSv3 Call; of one by RPCSEC_GSS nothing is known: A11-1."""
    try:
        message = rpc.decode(call)
    except ValueError:
        return None, b''
    if (message.prog, message.vers) != (nfs3.PROGRAM, nfs3.VERSION) or message.cred.flavor == RPCSEC_GSS:
        return None, b''
    return nfs3.PROCEDURES.get(message.proc), message.args


COMPOUND = b''.join(map(xdr.u32, (nfs4.PROGRAM, nfs4.VERSION, nfs4.COMPOUND)))


def _compound(call):
    """The COMPOUND of NFSv4 that a Call is, as an rpc.Message, or None; one by RPCSEC_GSS is none here."""
    if call[12:24] != COMPOUND:
        return None
    try:
        message = rpc.decode(call)
    except ValueError:
        return None
    return None if message.cred.flavor == RPCSEC_GSS else message


def _compound_payload(call, message):
    try:
        place = nfs4.args_payload(message.args)
    except xdr.XdrError:
        return None
    return place and (len(call) - len(message.args) + place[0], place[1])


def call_payload(call):
    """Where the payload of a WRITE or SYMLINK is; it need not be there yet."""
    if message := _compound(call):
        return _compound_payload(call, message)
    procedure, args = _nfs3(call)
    try:
        place = procedure and procedure.args_payload(args)
    except xdr.XdrError:
        return None
    return place and (len(call) - len(args) + place[0], place[1])


def movable(call):
    """The positions at which a Call of NFSv3 may have read chunks; None if it is another one."""
    try:
        message = rpc.decode(call)
    except ValueError:
        return None
    if (message.prog, message.vers) != (nfs3.PROGRAM, nfs3.VERSION) or message.proc not in nfs3.PROCEDURES:
        return None
    place = call_payload(call)
    return {place[0]} if place else set()


def reply_payload(call, reply):
    """Where the payload of a READ's or READLINK's Reply is; it need not be there yet."""
    procedure, _args = _nfs3(call)
    compound = _compound(call)
    try:
        message = rpc.decode(reply)
        if not (procedure or compound) or (message.stat, message.accept_stat) != (rpc.ACCEPTED, rpc.SUCCESS):
            return None
        place = (nfs4 if compound else procedure).result_payload(message.result)
    except ValueError:
        return None
    return place and (len(reply) - len(message.result) + place[0], place[1])


def filled(call, reply, data):
    """A reduced Reply with the data of its write chunk put back: A3.7-3."""
    place = reply_payload(call, reply)
    if place is None:
        return reply
    return reply[:place[0]] + data + bytes(-len(data) % 4) + reply[place[0]:]


def _most(procedure, args):
    """The longest payload, or list of names, of a procedure's result; 0 if there is neither."""
    if procedure is nfs3.READLINK:
        return 1024
    if procedure in (nfs3.READ, nfs3.READDIR):
        return procedure.decode_args(args).count
    if procedure is nfs3.READDIRPLUS:
        return procedure.decode_args(args).maxcount
    return 0


def result_limit(call):
    """The longest payload of a READ or READLINK, for a write chunk."""
    procedure, args = _nfs3(call)
    if procedure not in (nfs3.READ, nfs3.READLINK):
        return None
    return _most(procedure, args)


def reply_limit(call):
    """The longest Reply of a Call in bytes."""
    if message := _compound(call):
        try:
            return REPLY_HEADER + nfs4.results_limit(message.args)
        except xdr.XdrError:
            return None
    procedure, args = _nfs3(call)
    if procedure is None:
        return None
    try:
        most = _most(procedure, args)
    except xdr.XdrError:
        return SHORT_REPLY
    return REPLY_HEADER + AROUND + most + 3 if most else SHORT_REPLY

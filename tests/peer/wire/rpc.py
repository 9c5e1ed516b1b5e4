# SPDX-License-Identifier: BSD-3-Clause
"""Messages of ONC RPC version two (RFC 5531)."""

from dataclasses import dataclass
from typing import NamedTuple

from wire import xdr

CALL, REPLY = 0, 1
ACCEPTED, DENIED = 0, 1
SUCCESS, PROG_UNAVAIL, PROG_MISMATCH, PROC_UNAVAIL, GARBAGE_ARGS, SYSTEM_ERR = range(6)
RPC_MISMATCH, AUTH_ERROR = 0, 1
AUTH_BADCRED, AUTH_TOOWEAK = 1, 5
MAX_AUTH_BYTES = 400

ACCEPT_NAMES = ("SUCCESS", "PROG_UNAVAIL", "PROG_MISMATCH", "PROC_UNAVAIL", "GARBAGE_ARGS",
                "SYSTEM_ERR")


class RpcError(ValueError):
    """The bytes are no RPC message."""


class Auth(NamedTuple):
    """A credential or a verifier."""

    flavor: int
    body: bytes = b""


AUTH_NONE = Auth(0)


def auth_sys(uid=0, gid=0, gids=(), machine="peer", stamp=0):
    """A credential of AUTH_SYS."""
    body = xdr.u32(stamp) + xdr.var(machine) + xdr.u32(uid) + xdr.u32(gid)
    return Auth(1, body + xdr.u32(len(gids)) + b"".join(map(xdr.u32, gids)))


@dataclass
class Message:
    """A Call, or a Reply: then `stat` says whether it was accepted.

    `low` and `high` come with PROG_MISMATCH and RPC_MISMATCH; `args` and `result` are what
    follows, for the program to decode.
    """

    xid: int
    type: int
    rpcvers: int = 2
    prog: int = 0
    vers: int = 0
    proc: int = 0
    cred: Auth = AUTH_NONE
    verf: Auth = AUTH_NONE
    args: bytes = b""
    stat: int | None = None
    accept_stat: int | None = None
    reject_stat: int | None = None
    auth_stat: int | None = None
    low: int = 0
    high: int = 0
    result: bytes = b""

    @property
    def succeeded(self):
        """Whether it is a Reply that has a result."""
        return (self.type, self.stat, self.accept_stat) == (REPLY, ACCEPTED, SUCCESS)


def xid_of(data):
    """The XID of a message."""
    return int.from_bytes(data[:4], "big")


def is_call(data):
    """Whether a message is a Call, if it is one at all."""
    return data[4:8] == xdr.u32(CALL)


def is_reply(data):
    """The same of a Reply."""
    return data[4:8] == xdr.u32(REPLY)


def _pack_auth(auth):
    return xdr.u32(auth.flavor) + xdr.var(auth.body)


def call(xid, prog, vers, proc, args=b"", cred=AUTH_NONE, verf=AUTH_NONE, rpcvers=2):
    """A Call."""
    words = b"".join(map(xdr.u32, (xid, CALL, rpcvers, prog, vers, proc)))
    return words + _pack_auth(cred) + _pack_auth(verf) + bytes(args)


def accepted(xid, result=b"", stat=SUCCESS, low=0, high=0, verf=AUTH_NONE):
    """A Reply that accepts the Call, whatever became of it."""
    words = xdr.u32(xid) + xdr.u32(REPLY) + xdr.u32(ACCEPTED) + _pack_auth(verf) + xdr.u32(stat)
    if stat == PROG_MISMATCH:
        words += xdr.u32(low) + xdr.u32(high)
    return words + bytes(result)


def denied(xid, auth_stat=None, low=2, high=2):
    """A Reply that denies the Call: AUTH_ERROR with `auth_stat`, RPC_MISMATCH without."""
    words = xdr.u32(xid) + xdr.u32(REPLY) + xdr.u32(DENIED)
    if auth_stat is None:
        return words + xdr.u32(RPC_MISMATCH) + xdr.u32(low) + xdr.u32(high)
    return words + xdr.u32(AUTH_ERROR) + xdr.u32(auth_stat)


def _auth(reader):
    return Auth(reader.u32(), reader.var(MAX_AUTH_BYTES))


def _call(reader, message):
    message.rpcvers = reader.u32()
    if message.rpcvers != 2:
        raise RpcError(f"RPC version {message.rpcvers}")
    message.prog, message.vers, message.proc = reader.u32(), reader.u32(), reader.u32()
    message.cred, message.verf = _auth(reader), _auth(reader)
    message.args = reader.rest()


def _accepted(reader, message):
    message.verf = _auth(reader)
    message.accept_stat = reader.u32()
    if message.accept_stat > SYSTEM_ERR:
        raise RpcError(f"accept_stat {message.accept_stat}")
    if message.accept_stat == PROG_MISMATCH:
        message.low, message.high = reader.u32(), reader.u32()
    message.result = reader.rest()
    if message.result and message.accept_stat != SUCCESS:
        raise RpcError(f"{len(message.result)} bytes behind "
                       f"{ACCEPT_NAMES[message.accept_stat]}")


def _denied(reader, message):
    message.reject_stat = reader.u32()
    if message.reject_stat == RPC_MISMATCH:
        message.low, message.high = reader.u32(), reader.u32()
    elif message.reject_stat == AUTH_ERROR:
        message.auth_stat = reader.u32()
    else:
        raise RpcError(f"reject_stat {message.reject_stat}")
    reader.end()


def decode(data):
    """A Message."""
    reader = xdr.Reader(data)
    try:
        message = Message(reader.u32(), reader.u32())
        if message.type == CALL:
            _call(reader, message)
            return message
        if message.type != REPLY:
            raise RpcError(f"msg_type {message.type}")
        message.stat = reader.u32()
        if message.stat > DENIED:
            raise RpcError(f"reply_stat {message.stat}")
        (_denied if message.stat else _accepted)(reader, message)
    except xdr.XdrError as error:
        raise RpcError(str(error)) from None
    return message

# SPDX-License-Identifier: BSD-3-Clause
"""Any NFS/RDMA server as the other end. Its files are made once, through the model, and removed at the end.

Here by NFSv3; subject/nfs4.py makes them by NFSv4.1, or does without.
"""
import contextlib
import errno
import secrets
import socket
import sys

from model.end import End, Options
from net import iwarp, stream, tcp
from net.loop import Late
from nfs import mount3, nfs3, tree
from relay.link import Link
from scene.files import NO_FILES, Files
from scene.client_session import is_rpc_error, new_xid
from scene.scenario import Unfit
from wire import ccp, header, rpc, xdr

RPCBIND_PORT, PORTMAP, PORTMAP_VERS, GETPORT, TCP = 111, 100000, 2, 3, 6
DATA_BYTES = 256 * 1024
WRITE_BYTES = 32768
NAMES = 200
NEEDS = {'behind': 'it steers the server behind the responder',
         'reverse': 'it has the server call back',
         'ours': 'it asks for more than the documents do'}
ROUGH = 'it may bring a server down: --rough asks for it'
RFC = 'it asks for what the RFC has and the draft has not: --rfc asks for it'


# What tells whether a dialect is spoken: a NULL Call, of the version of NFS that the server has.
PROBES = {
    'version two': lambda nfs: header.Header(xid=2, vers=2, body=rpc.call(2, nfs3.PROGRAM, nfs, 0)),
    'draft-03': lambda nfs: header.Header(xid=3, proc=header.MSGP, body=rpc.call(3, nfs3.PROGRAM, nfs, 0)),
    'configuration protocol': lambda _nfs: header.Header(xid=4, body=rpc.call(4, ccp.PROGRAM, ccp.VERSION, 0)),
}
NO_MOUNT = ('{why}. --mount HOST:PORT says where MOUNT is; a server without NFSv3 is asked with --nfs 4.1, or with '
            '--nfs null for what needs no files')

MOST_UNHEARD = 3


class Unusable(Exception):
    """The server cannot be judged."""


def _privileged(address, seconds):
    """Returns a connection from a port below 1024 if possible: servers require it by default."""
    family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
    for port in range(1023, 600, -1):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            sock.bind(('', port))
            stream.connect_socket(sock, address, seconds)
            return sock
        except PermissionError:
            sock.close()
            break
        except OSError as error:
            sock.close()
            if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
                raise OSError(f'{address[0]} port {address[1]}: '
                              f'{error.strerror or error}') from error
    return stream.connect(address, seconds)


def over_tcp(loop, address, prog, vers, proc, args):
    """Makes one Call over TCP. Returns the bytes of its result."""
    conn = tcp.RecordConn(loop, _privileged(address, loop.patience))
    try:
        conn.send(rpc.call(new_xid(), prog, vers, proc, args, cred=rpc.auth_sys()))
        reply = rpc.decode(conn.next(f'a Reply of program {prog} over TCP'))
    finally:
        conn.close()
    if not reply.succeeded:
        raise Unusable(f'program {prog} over TCP refuses procedure {proc}')
    return reply.result


def _serves(data):
    """Returns whether an answer is a Reply with a result."""
    try:
        answer = header.decode(data)
    except header.HeaderError:
        return False
    return answer.proc != header.ERROR and not is_rpc_error(answer.body)


class Missing(Unusable):
    """A file or directory does not exist."""


class Server:
    """The server, and its directory for the scenarios."""

    nfs_version = 3
    fault = None                # of a relay in front of it

    def __init__(self, loop, address, mount, export):
        self.loop = loop
        self.address = address
        self.folder = f'rpcrdma-conformance-{secrets.token_hex(4)}'
        self.rough = False          # asks for what may bring it down, too
        self.rfc = False            # asks for what the RFCs alone have, too
        self.created = []           # (folder's handle, name) of what has to go again
        self.end = self._connected()
        self.root = self._root(mount, export)
        self.files = None
        self.unheard = 0            # scenarios in a row in which a connection had no answer at all

    def _root(self, mount, export):
        """Returns the handle of the export."""
        return self._mounted(mount or self._mount_address(), export)

    def _mount_address(self):
        args = b''.join(map(xdr.u32, (mount3.PROGRAM, mount3.VERSION, TCP, 0)))
        try:
            port = xdr.Reader(over_tcp(self.loop, (self.address[0], RPCBIND_PORT), PORTMAP,
                                       PORTMAP_VERS, GETPORT, args)).u32()
        except (OSError, Late) as error:
            raise Unusable(NO_MOUNT.format(why=f'its rpcbind does not say where MOUNT is: {error}')) from error
        if not port:
            raise Unusable(NO_MOUNT.format(why='its rpcbind knows no MOUNT over TCP'))
        return self.address[0], port

    def _mounted(self, address, export):
        found = mount3.result(mount3.MNT, over_tcp(
            self.loop, address, mount3.PROGRAM, mount3.VERSION, mount3.MNT.number,
            mount3.mnt(export)))
        if found.status:
            raise Unusable(f'MOUNT of {export} fails with status {found.status}')
        return found.fh

    def _connected(self):
        end = End(Options(ddp='nfs'), lambda call: None)
        sock = stream.connect(self.address, self.loop.patience)
        end.attach(iwarp.Conn(self.loop, sock, True, iwarp.Start(data=end.own_data()),
                              nudge=True))
        host, port = self.address
        self.loop.until(lambda: end.conn.open or end.conn.ended,
                        f'an MPA reply of {host} port {port}: does it speak iWARP there?')
        if end.conn.ended:
            raise Unusable(f'{host} port {port} does not open an iWARP connection: {end.conn.ended}')
        return end

    def ask(self, call, name):
        """Makes one Call through the model. Returns its decoded Reply, with any RPC status."""
        pending = self.end.call(call)
        self.loop.until(lambda: pending.over or self.end.conn.ended, f'the Reply to {name}')
        if pending.reply is None:
            raise Unusable(f'{name} has no Reply: {pending.error or self.end.conn.ended}')
        return rpc.decode(pending.reply)

    def call(self, name, args):
        """Makes one NFSv3 Call. Returns the decoded result, whose status must be NFS3_OK."""
        procedure = getattr(nfs3, name)
        reply = self.ask(rpc.call(new_xid(), nfs3.PROGRAM, nfs3.VERSION, procedure.number, args,
                                  cred=rpc.auth_sys()), name)
        if not reply.succeeded:
            raise Unusable(f'{name} is refused by RPC')
        result = nfs3.result(procedure, reply.result)
        if result.status:
            error = Missing if result.status == nfs3.NOENT else Unusable
            raise error(f'{name} fails with NFS status {result.status}')
        return result

    def _create(self, folder, name):
        self.created.append(('REMOVE', folder, name))   # before: it may be there without our knowing
        result = self.call('CREATE', nfs3.create(folder, name))
        return result.fh if result.fh else self.call('LOOKUP', nfs3.lookup(folder, name)).fh

    def _mkdir(self, folder, name):
        self.created.append(('RMDIR', folder, name))
        result = self.call('MKDIR', nfs3.mkdir(folder, name))
        return result.fh if result.fh else self.call('LOOKUP', nfs3.lookup(folder, name)).fh

    def prepare(self):
        """Makes the files."""
        top = self._mkdir(self.root, self.folder)
        data, scratch = self._create(top, 'pattern'), self._create(top, 'scratch')
        names = self._mkdir(top, 'names')
        for at in range(0, DATA_BYTES, WRITE_BYTES):
            self.call('WRITE', nfs3.write(data, at, tree.pattern(at, WRITE_BYTES),
                                          nfs3.FILE_SYNC))
        for number in range(NAMES):
            self._create(names, f'name-{number:05d}-{"x" * (number % 40)}')
        self.files = Files(data, scratch, names)
        self.end.conn.close()       # while scenarios run nobody would answer on it

    def renew(self):
        """Renews before each scenario what does not last longer than one."""

    def back(self):
        """Connects again if the connection has closed."""
        if self.end.conn.ended:
            self.end = self._connected()

    def take_away(self, name, folder, what):
        """Removes one file by REMOVE, or directory by RMDIR."""
        self.call(name, (nfs3.remove if name == 'REMOVE' else nfs3.rmdir)(folder, what))

    def _removed(self, name, folder, what):
        """Removes one file or directory. Returns why it could not, or None."""
        try:
            self.back()
            self.take_away(name, folder, what)
        except Missing:
            return None
        except (Unusable, ValueError) as error:
            return error
        return None

    def remove(self):
        """Removes the files, as far as possible, in the order of their dependencies."""
        whys = []
        try:
            while self.created:
                whys.append(self._removed(*self.created.pop()))
        except (OSError, Late) as error:
            whys.append(error)
        if whys and whys[-1]:
            why = next(filter(None, whys))
            print(f'conformance: {self.folder} is left in the export: {why}', file=sys.stderr)

    # ------------------------------------------------------------ which dialects it speaks

    def dialects(self):
        """Returns {name: whether it is supported} for all dialects except version one."""
        return {name: self._speaks(probe(self.nfs_version)) for name, probe in PROBES.items()}

    def _speaks(self, message):
        """Returns whether a Call is answered by a Reply.

        Nothing else is asked meanwhile: Replies have no order, and a Call in version one may be
        refused while the one in version two is still served.
        """
        end = self._connected()
        got = []
        end.conn.on_send = lambda sent: got.append(sent.data)
        end.conn.send(header.encode(message))

        def answers():
            return [data for data in got if data[:4] == xdr.u32(message.xid)]
        with contextlib.suppress(Late):       # it may fall silent for what it does not know
            self.loop.until(lambda: end.conn.ended or answers(), 'an answer to a probe')
        end.conn.close()
        return bool(answers()) and _serves(answers()[0])

    @property
    def gone(self):
        """Returns why the server cannot be tested further, or None."""
        if self.unheard < MOST_UNHEARD:
            return None
        return 'it answers no connection any more'


class Play:
    """The server for one scenario."""

    server = None
    pace = 1

    def __init__(self, loop, scenario, server, pcap=None):
        for need in scenario.needs & NEEDS.keys():
            raise Unfit(NEEDS[need])
        if 'rough' in scenario.needs and not server.rough:
            raise Unfit(ROUGH)
        if 'rfc' in scenario.needs and not server.rfc:
            raise Unfit(RFC)
        if 'files' in scenario.needs and server.files and not server.files.there:
            raise Unfit(NO_FILES)
        if 'files' in scenario.needs:
            try:
                server.renew()
            except Unusable as error:
                raise Unfit(f'its files cannot be used any more: {error}') from error
        self.loop = loop
        self.judged = server
        self.address = server.address
        self.files = server.files
        self.pcap = pcap
        self.tried = []          # a connection each time, or None where there was none to be had

    def connect(self, start):
        """Connects the scenario to the server."""
        self.tried.append(None)
        sock = stream.connect(self.address, self.loop.patience)
        tap = self.pcap.tap(sock, True) if self.pcap else None
        if self.judged.fault:
            sock = self._relayed(sock)
        self.tried[-1] = iwarp.Conn(self.loop, sock, True, start, tap, nudge=True)
        return self.tried[-1]

    def _relayed(self, sock):
        """Returns the near end of a relay in front of a connection to the server."""
        ours, near = socket.socketpair()
        Link(self.loop, near, sock, self.judged.fault)
        return ours

    def close(self):
        """Notes whether the server is still available; the loop closes open sockets."""
        if any(conn is None or conn.peer is None and conn.ended is None for conn in self.tried):
            self.judged.unheard += 1
        elif self.tried:
            self.judged.unheard = 0

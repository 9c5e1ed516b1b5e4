# SPDX-License-Identifier: BSD-3-Clause
"""Servers without NFSv3: files are made by NFSv4.1 (RFC 8881), or there are none and only NULL is called."""
import secrets

from nfs import nfs4, tree
from scene.files import Files4, NoFiles, Session
from scene.client_session import new_xid
from subject.external import DATA_BYTES, NAMES, WRITE_BYTES, Missing, Server, Unusable
from wire import rpc, xdr

SLOTS = 64
DELAY_S = 0.1


class ServerNull(Server):
    """A server with an unknown version of NFS."""

    def _root(self, _mount, _export):
        for version in (4, 3):
            reply = self.ask(NoFiles(version).null(), 'NULL')
            if reply.succeeded:
                self.nfs_version = version
                return None
        raise Unusable('it serves neither NFSv4 nor NFSv3: NULL is refused by RPC')

    def prepare(self):
        """Makes no files."""
        self.files = NoFiles(self.nfs_version)
        self.end.conn.close()


class Server4(Server):
    """A server with files made by NFSv4.1. Each scenario has a separate session with many slots."""

    nfs_version = 4

    def _root(self, _mount, export):
        self.client = self.session = None
        self._new_client()
        self._new_session()
        self.compound('RECLAIM_COMPLETE', nfs4.op(nfs4.RECLAIM_COMPLETE, one=False))
        names = [part for part in export.split('/') if part]
        return self._found(nfs4.op(nfs4.PUTROOTFH), *(nfs4.op(nfs4.LOOKUP, name=name) for name in names))

    # ------------------------------------------------------------ Calls

    def _asked(self, name, operations):
        """Makes a COMPOUND. Returns its status, and [(number, status, result)]."""
        reply = self.ask(rpc.call(new_xid(), nfs4.PROGRAM, nfs4.VERSION, nfs4.COMPOUND,
                                  nfs4.compound(*operations), cred=rpc.auth_sys()), name)
        if not reply.succeeded:
            raise Unusable(f'{name} is refused by RPC: it has no NFSv4. --nfs null asks what needs no files')
        try:
            return nfs4.results(reply.result)
        except xdr.XdrError as error:
            raise Unusable(f'the result of {name} does not decode: {error}') from error

    @staticmethod
    def _good(name, status, found):
        if status == nfs4.MINOR_VERS_MISMATCH:
            raise Unusable('it has NFSv4, and not NFSv4.1: --nfs null asks what needs no files')
        if status:
            where = nfs4.NAMES.get(found[-1][0], '') if found else 'COMPOUND'
            error = Missing if status == nfs4.NOENT else Unusable
            raise error(f'{name} fails with NFS status {status} of {where}')
        return [result for _number, _status, result in found]

    def compound(self, name, *operations):
        """Returns the results of operations after a SEQUENCE. Repeats them while the server asks to wait."""
        tries = max(1, round(self.loop.patience / DELAY_S))
        for _try in range(tries):
            status, found = self._asked(name, (self.session.sequence(), *operations))
            if status != nfs4.DELAY:
                break
            self.loop.run(DELAY_S)
        return self._good(name, status, found)[1:]

    def _alone(self, name, number, **values):
        """Returns the result of one operation that needs no session."""
        status, found = self._asked(name, (nfs4.op(number, **values),))
        return self._good(name, status, found)[0]

    def _found(self, *operations):
        """Returns the file handle after these operations."""
        return self.compound('LOOKUP', *operations, nfs4.op(nfs4.GETFH))[-1].fh

    # ------------------------------------------------------------ client and sessions

    def _new_client(self):
        found = self._alone('EXCHANGE_ID', nfs4.EXCHANGE_ID, verifier=secrets.token_bytes(8),
                            owner=self.folder.encode(), flags=0, protect=0, impl=[])
        self.client, self._sequence = found.client, found.sequence

    def _end_session(self):
        """Destroys the session, which may be gone already."""
        self._asked('DESTROY_SESSION', (nfs4.op(nfs4.DESTROY_SESSION, session=self.session.ident),))

    def _new_session(self):
        found = self._alone('CREATE_SESSION', nfs4.CREATE_SESSION, client=self.client, sequence=self._sequence,
                            flags=0, fore=nfs4.channel(SLOTS), back=nfs4.channel(1), program=0, security=[0])
        self._sequence += 1
        self.session = Session(found.session, max(1, min(SLOTS, found.fore.requests)))

    def renew(self):
        """Makes a session for a scenario. Slots of an earlier session may have missed refused Calls."""
        self.back()
        self.files.session = self.session
        self.end.conn.close()

    def back(self):
        """Connects again, with another session, if the connection has closed."""
        if self.end.conn.ended:
            super().back()
            if self.files:
                self._end_session()
                self._new_session()

    # ------------------------------------------------------------ files

    def _create(self, folder, name):
        self.created.append(('REMOVE', folder, name))
        how = {'sequence': 0, 'access': nfs4.SHARE_BOTH | nfs4.NO_DELEGATION, 'deny': 0, 'client': self.client,
               'owner': b'conformance', 'create': nfs4.OPEN_CREATE, 'mode': nfs4.UNCHECKED,
               'attr': nfs4.attributes(0o666), 'claim': nfs4.CLAIM_NULL, 'name': name.encode()}
        opened = self.compound('OPEN', nfs4.op(nfs4.PUTFH, fh=folder), nfs4.op(nfs4.OPEN, **how))[-1]
        fh = self._found(nfs4.op(nfs4.PUTFH, fh=folder), nfs4.op(nfs4.LOOKUP, name=name.encode()))
        self.compound('CLOSE', nfs4.op(nfs4.PUTFH, fh=fh), nfs4.op(nfs4.CLOSE, sequence=0, stateid=opened.stateid))
        return fh

    def _mkdir(self, folder, name):
        self.created.append(('RMDIR', folder, name))
        self.compound('CREATE', nfs4.op(nfs4.PUTFH, fh=folder),
                      nfs4.op(nfs4.CREATE, type=nfs4.DIRECTORY, name=name.encode(), attr=nfs4.attributes(0o755)))
        return self._found(nfs4.op(nfs4.PUTFH, fh=folder), nfs4.op(nfs4.LOOKUP, name=name.encode()))

    def prepare(self):
        """Makes the files of the scenarios."""
        top = self._mkdir(self.root, self.folder)
        data, scratch = self._create(top, 'pattern'), self._create(top, 'scratch')
        names = self._mkdir(top, 'names')
        for at in range(0, DATA_BYTES, WRITE_BYTES):
            self.compound('WRITE', nfs4.op(nfs4.PUTFH, fh=data), nfs4.op(
                nfs4.WRITE, stateid=nfs4.ANONYMOUS, offset=at, stable=nfs4.FILE_SYNC,
                data=tree.pattern(at, WRITE_BYTES)))
        for number in range(NAMES):
            self._create(names, f'name-{number:05d}-{"x" * (number % 40)}')
        self.files = Files4(data, scratch, names, self.session)
        self.end.conn.close()

    def take_away(self, _name, folder, what):
        """Removes a file or directory: NFSv4 has one operation for both."""
        self.compound('REMOVE', nfs4.op(nfs4.PUTFH, fh=folder), nfs4.op(nfs4.REMOVE, name=what.encode()))

    def remove(self):
        """Removes all files, and destroys the client ID."""
        super().remove()
        try:
            self.back()
            self._end_session()
            self._alone('DESTROY_CLIENTID', nfs4.DESTROY_CLIENTID, client=self.client)
        except (Unusable, OSError, ValueError):
            pass            # its lease ends by itself

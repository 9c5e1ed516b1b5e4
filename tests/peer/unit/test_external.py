# SPDX-License-Identifier: BSD-3-Clause
"""Servers that are asked over the network: without MOUNT, by NFSv4.1, and by NULL alone."""
import contextlib
import io
import threading
import types
import unittest
from unittest import mock

import run
from model.complete import Complete
from model.end import Options
from net import iwarp, stream
from net.loop import Loop
from nfs import nfs3
from nfs4_server import Nfs4Server
from scenarios import load
from scene import scenario
from scene.files import make_server
from subject import external, external4
from wire import xdr

TAGS = ('A2-3', 'A3.1-1', 'A3.4-3', 'A3.6-2', 'A3.6-3', 'A3.7-1', 'A3.7-2', 'A5.2-1', 'A5.2-2', 'A8-1', 'A-Δ5')


class Listening:
    """A server that keeps to the documents, on a port of this machine, in a thread of its own."""

    def __init__(self, answer):
        self.answer = answer
        self.ended = threading.Event()
        self.loop = Loop(5)
        self.address = stream.Listener(self.loop, self._accepted).address
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _accepted(self, sock, _peer):
        end = Complete(Options(), self.answer)
        end.attach(iwarp.Conn(self.loop, sock, False))

    def _run(self):
        while not self.ended.is_set():
            self.loop.turn(0.02)
        self.loop.close()

    def close(self):
        """Ends the thread."""
        self.ended.set()
        self.thread.join()


class Servers(unittest.TestCase):
    """Of NFSv4 alone, and without MOUNT."""

    def listening(self, answer):
        """Such a server's address."""
        server = Listening(answer)
        self.addCleanup(server.close)
        return server.address

    def judged(self, nfs, address, tags, fault=None):
        """[(scenario's name, verdict, reason)] of statements, and what is said of mistakes."""
        chosen = types.SimpleNamespace(patience=5, server=address, mount=None, export='/export', rough=False,
                                       nfs=nfs, rfc=False, tap_file=None, fault=fault)
        asked = [s for s in load() if s.role == scenario.RESPONDER and s.tag in tags
                 and not s.needs & external.NEEDS.keys() and s.dialect == scenario.VERSION_ONE]
        with contextlib.redirect_stderr(io.StringIO()) as said:
            outcomes = list(run.judge_server(chosen, asked, {}))
        return [(o.scenario.name, o.verdict, o.why) for o in outcomes], said.getvalue()

    def test_a_server_with_nfsv4_alone_is_asked_by_nfsv4_1(self):
        """All that needs files, with sessions, and what was made is removed."""
        server = Nfs4Server()
        with mock.patch.object(external4, 'NAMES', 130):
            outcomes, said = self.judged('4.1', self.listening(server.answer), TAGS)
        self.assertGreater(len(outcomes), 12)
        self.assertEqual([outcome for outcome in outcomes if outcome[1] != run.PASS], [])
        self.assertEqual((said, list(server.export.names)), ('', []))
        self.assertFalse(any(server.sessions.values()))

    def test_a_server_is_asked_by_null_alone(self):
        """What needs files is not seen, be the server of NFSv4 or of NFSv3."""
        for answer in (Nfs4Server().answer, make_server()[0].answer):
            outcomes, _said = self.judged('null', self.listening(answer), ('A3.3-2', 'A3.3-3', 'A3.7-1', 'A8-1'))
            seen = [outcome for outcome in outcomes if outcome[1] != run.NOT_SEEN]
            self.assertEqual({outcome[1] for outcome in seen}, {run.PASS})
            self.assertGreater(len(seen), 3)
            self.assertIn('it needs files, of which there are none with --nfs null',
                          {outcome[2] for outcome in outcomes})

    def test_a_server_without_nfsv4_says_so(self):
        """And what else can be done."""
        address = self.listening(make_server()[0].answer)
        with self.assertRaisesRegex(external.Unusable, 'it has no NFSv4. --nfs null asks'):
            self.judged('4.1', address, ('A3.3-3',))

    def test_a_server_without_mount_says_what_names_it(self):
        """Behind its RDMA port, which is tried first."""
        address = self.listening(make_server()[0].answer)
        no_port = mock.patch('subject.external.over_tcp', return_value=xdr.u32(0))
        refused = mock.patch('subject.external.over_tcp', side_effect=ConnectionRefusedError('refused'))
        for rpcbind in (no_port, refused):
            with rpcbind, self.assertRaisesRegex(external.Unusable, '--mount HOST:PORT .*--nfs 4.1.*--nfs null'):
                self.judged('3', address, ('A3.3-3',))
        with no_port as asked, self.assertRaisesRegex(ConnectionError, 'port 1: Connection refused'):
            self.judged('3', ('127.0.0.1', 1), ('A3.3-3',))
        asked.assert_not_called()

    def test_a_relay_may_stand_in_front_of_any_server(self):
        """Its files are made without it."""
        address = self.listening(Nfs4Server().answer)
        with mock.patch.object(external4, 'NAMES', 1):
            outcomes, said = self.judged('4.1', address, ('A3.7-2',), 'the write list is left out')
        self.assertEqual(({outcome[1] for outcome in outcomes}, said), ({run.FAIL}, ''))

    def test_a_status_is_told_with_its_operation(self):
        """And a name that is not there is told from other errors."""
        server = external4.Server4.__new__(external4.Server4)
        for status, error in ((nfs3.NOENT, external.Missing), (13, external.Unusable)):
            with self.assertRaisesRegex(error, f'LOOKUP fails with NFS status {status} of GETFH'):
                server._good('LOOKUP', status, [(22, 0, None), (10, status, None)])  # pylint: disable=W0212


if __name__ == '__main__':
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""Whoever is judged may send anything, or nothing: that is a verdict on it, and never our fault."""

import contextlib
import io
import os
import signal
import socket
import types
import unittest
from unittest import mock

import run
from model.complete import Complete
from model.end import End, Options
from net import iwarp, pcap, stream, tcp
from net.limit import Limit
from net.loop import Late, Loop
from scene import scenario
from scene.files import make_server
from subject import external
from watch import serve
from wire import ddp, header, mpa, record, rpc, xdr


def verdict(function, play=None):
    """(verdict, why) of a scenario that does this."""
    play = play or types.SimpleNamespace(files=None, close=lambda: None)
    got = run.attempt(scenario.Scenario('T', scenario.RESPONDER, function, {}, frozenset(), []),
                      lambda loop: play, 0.1)
    return got.verdict, got.why


class Attempts(unittest.TestCase):
    """What becomes of a scenario."""

    def test_what_does_not_decode_fails(self):
        """Whichever layer finds that."""
        for error in (xdr.XdrError('a bool is 7', 3), rpc.RpcError('msg_type 9'),
                      header.HeaderError('too short', 2), record.RecordError('too long')):
            def scene(_t, error=error):
                raise error
            self.assertEqual(verdict(scene), (run.FAIL, f'what came does not decode: {error}'))

    def test_a_connection_that_cannot_be_made_fails(self):
        """A server that has crashed."""
        def scene(_t):
            raise ConnectionError('nobody listens')
        self.assertEqual(verdict(scene), (run.FAIL, 'nobody listens'))

    def test_a_fault_of_the_scenario_is_one(self):
        """Any other exception."""
        def scene(_t):
            raise KeyError('x')
        self.assertEqual(verdict(scene)[0], run.BROKEN)

    def test_an_interrupt_ends_the_other_end(self):
        """And goes on to whoever started us."""
        def scene(_t):
            raise KeyboardInterrupt
        play = mock.Mock(files=None)
        with self.assertRaises(KeyboardInterrupt):
            verdict(scene, play)
        play.close.assert_called_once_with()


class Runs(unittest.TestCase):
    """The program as a whole."""

    def status(self, error):
        """(exit status, what is said) where judging ends so."""
        said = io.StringIO()
        with mock.patch.object(run, '_judge', side_effect=error), contextlib.redirect_stderr(said):
            got = run.run(types.SimpleNamespace(pcap=None, junit=None), [], {})
        return got, said.getvalue()

    def test_a_server_that_sends_nonsense_cannot_be_judged(self):
        """Before any scenario has begun."""
        self.assertEqual(self.status(rpc.RpcError('msg_type 9')),
                         (2, 'conformance: what came does not decode: msg_type 9\n'))

    def test_an_interrupt_is_no_fault(self):
        """It has the exit status of a shell."""
        self.assertEqual(self.status(KeyboardInterrupt), (130, 'conformance: interrupted\n'))

    def test_sigterm_is_an_interrupt(self):
        """So that what was made in the export is removed."""
        def killed(*_):
            os.kill(os.getpid(), signal.SIGTERM)
        before = signal.getsignal(signal.SIGTERM)
        self.addCleanup(signal.signal, signal.SIGTERM, before)
        self.assertEqual(self.status(killed)[0], 130)


class Ends(unittest.TestCase):
    """Connections with whoever sends nonsense."""

    def setUp(self):
        self.loop = Loop(2)
        self.addCleanup(self.loop.close)

    def test_a_record_without_end_ends_its_connection(self):
        """The loop goes on."""
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        conn = tcp.RecordConn(self.loop, ours)
        theirs.sendall(b'\xff' * 8)
        self.loop.until(lambda: conn.ended, 'the end')
        self.assertIn('a record of more than', conn.ended)

    def opened(self):
        """An acceptor whose peer is a plain socket."""
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        conn = iwarp.Conn(self.loop, ours, False)
        theirs.sendall(mpa.encode_start(mpa.Start(False)))
        self.loop.until(lambda: conn.peer, 'the request')
        conn.accept(iwarp.Start(flags=0, revision=1))
        return conn, theirs

    def flood(self, segment):
        """Sends segments until the connection ends; its flaws."""
        conn, theirs = self.opened()
        for number in range(iwarp.MOST_SENDS + 2):
            with contextlib.suppress(OSError):
                theirs.sendall(mpa.encode_fpdu(ddp.encode(segment(number)), crc=False))
            self.loop.turn(0)
            if conn.ended:
                break
        self.assertTrue(conn.ended)
        return conn.flaws

    def test_a_send_without_end_is_not_kept(self):
        """A flaw of who sends it."""
        part = bytes(60000)
        flaws = self.flood(lambda number: ddp.Segment(
            False, False, ddp.SEND, msn=1, mo=number * len(part), payload=part))
        self.assertIn('a Send of more than', flaws[0])

    def test_sends_without_end_are_not_kept(self):
        """Nobody takes them."""
        flaws = self.flood(lambda number: ddp.Segment(False, True, ddp.SEND, msn=number + 1))
        self.assertIn('Sends that nobody has asked for', flaws[0])

    def test_a_connection_that_is_gone_is_not_kept_for_wireshark(self):
        """Its addresses are not known any more."""
        with socket.create_server(('127.0.0.1', 0)) as listener:
            sock = socket.create_connection(listener.getsockname())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
            sock.close()
            taken, _peer = listener.accept()
        with mock.patch('builtins.open', mock.mock_open()), taken:
            self.assertIsNone(pcap.Pcap('x').tap(taken, False))


class Clients(unittest.TestCase):
    """Whoever connects to --requester."""

    def setUp(self):
        self.loop = Loop(0.1)
        self.addCleanup(self.loop.close)
        self.service = serve.Service(self.loop, ('127.0.0.1', 0), 0, None, lambda line: None)

    def broken(self):
        """The statements that were broken."""
        return {tag for tag, count in self.service.tally.counts.items() if count.broken}

    def turns(self, condition):
        """Serves until a condition holds."""
        limit = Limit(5)
        while not condition():
            self.assertFalse(limit.passed(), 'it did not come')
            self.loop.turn(0.05)
            self.service.turn()

    def connect(self):
        """A socket to the listener."""
        sock = socket.create_connection(self.service.listener.address)
        self.addCleanup(sock.close)
        return sock

    def client(self, **options):
        """A client of the model, open."""
        end = End(Options(**options), make_server()[0].answer)
        end.attach(iwarp.Conn(self.loop, self.connect(), True, iwarp.Start(data=end.own_data())))
        self.turns(lambda: end.conn.open)
        return end

    def test_nonsense_instead_of_mpa_is_told(self):
        """Nobody else would ever say so."""
        sock = self.connect()
        sock.sendall(b'GET / HTTP/1.0\r\n\r\n')
        self.turns(self.broken)
        self.assertEqual(self.broken(), {'A2-5'})

    def test_sends_that_are_short(self):
        """Each length that has no whole header."""
        end = self.client()
        for size in range(0, 36, 2):
            end.conn.send(bytes(size))
        call = end.call(rpc.call(77, 100003, 3, 0))
        self.turns(lambda: call.over)
        self.assertIn('A4.1-5', self.broken())

    def test_a_read_that_is_not_answered(self):
        """The run goes on, and tells of it."""
        end = self.client()
        watch = self.service.watches[0]
        watch.lent, end.conn.hold_reads = header.ReadSegment(0, 7, 4, 0), True
        watch.answered = serve.CALLS_OF_A_CONNECTION
        self.turns(lambda: not self.service.watches)
        self.assertEqual(self.broken(), {'A7-2'})


class Servers(unittest.TestCase):
    """Whoever is behind -p."""

    def test_who_falls_silent_for_a_dialect_does_not_speak_it(self):
        """The others are judged all the same."""
        loop = Loop(0.1)
        self.addCleanup(loop.close)
        silent = stream.Listener(loop, lambda sock, _peer: iwarp_silent(loop, sock))
        server = external.Server.__new__(external.Server)
        server.loop, server.address = loop, silent.address
        self.assertFalse(server.dialects()['version two'])

    def test_who_serves_a_dialect_after_a_while_speaks_it(self):
        """Whatever it refuses meanwhile: Replies have no order."""
        loop = Loop(5)
        self.addCleanup(loop.close)

        def slow(sock, _peer):
            def answer(call):
                loop.after(0.05, lambda: end.answered(rpc.xid_of(call), files.answer(call)))
                return None
            files, _ = make_server()
            end = Complete(Options(), answer)
            end.attach(iwarp.Conn(loop, sock, False))
        server = external.Server.__new__(external.Server)
        server.loop, server.address = loop, stream.Listener(loop, slow).address
        self.assertTrue(server.dialects()['version two'])

    def test_who_answers_no_connection_any_more_is_not_asked_for_ever(self):
        """Three scenarios in a row, and that is enough; whoever ends a connection does answer."""
        any_scenario = scenario.Scenario('T', scenario.RESPONDER, None, {}, frozenset(), [])

        def answers(what):
            loop = Loop(0.05)
            listener = stream.Listener(loop, what)
            server.address = listener.address
            play = external.Play(loop, any_scenario, server)
            conn = play.connect(iwarp.Start())
            with contextlib.suppress(Late):
                loop.until(lambda: conn.open or conn.ended, 'an answer')
            loop.close()
            play.close()
        server = external.Server.__new__(external.Server)
        server.unheard, server.rough, server.files = 0, False, None
        kept = []
        for expected, what in (
                (1, lambda sock, _peer: kept.append(sock)), (0, lambda sock, _peer: sock.close()),
                (1, lambda sock, _peer: kept.append(sock)), (2, lambda sock, _peer: kept.append(sock))):
            answers(what)
            self.assertEqual((server.unheard, server.gone), (expected, None))
        answers(lambda sock, _peer: kept.append(sock))
        self.assertEqual(server.gone, 'it answers no connection any more')
        for sock in kept:
            sock.close()

    def test_what_may_have_been_made_is_removed(self):
        """Also when the interrupt came before the answer."""
        for making in ('_create', '_mkdir'):
            server = external.Server.__new__(external.Server)
            server.created, server.end = [], types.SimpleNamespace(conn=mock.Mock(ended=None))
            server.call = mock.Mock(side_effect=KeyboardInterrupt)
            with self.assertRaises(KeyboardInterrupt):
                getattr(server, making)(b'folder', 'name')
            server.call = mock.Mock()
            server.remove()
            self.assertEqual(server.call.call_count, 1)

    def _removed(self, *comes):
        """What is said where removing a folder, then what is around it, comes to this."""
        server = external.Server.__new__(external.Server)
        server.end = types.SimpleNamespace(conn=mock.Mock(ended=None))
        server.created = [('RMDIR', b'root', 'top'), ('RMDIR', b'top', 'names')]
        server.folder, server.call = 'top', mock.Mock(side_effect=comes)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            server.remove()
        return said.getvalue()

    def test_a_folder_that_stays_is_told(self):
        """With the first reason; what was never there is not."""
        gone, full, late = external.Missing('2'), external.Unusable('66'), Late('the Reply')
        self.assertEqual(self._removed(None, None), '')
        self.assertEqual(self._removed(gone, gone), '')
        self.assertEqual(self._removed(full, None), '')
        self.assertIn('top is left in the export: 13', self._removed(external.Unusable('13'), full))
        self.assertIn('top is left in the export: the Reply', self._removed(late))

    def test_files_are_removed_before_what_may_leave_nobody_to_do_it(self):
        """A flood needs none; what needs them comes earlier."""
        seen = []
        asked = [scenario.Scenario(name, scenario.RESPONDER, iwarp_silent, {}, frozenset(needs), [])
                 for name, needs in (('flood', {'rough'}), ('harm', {'rough', 'files'}), ('plain', {'files'}))]
        chosen = types.SimpleNamespace(patience=1, server=None, mount=None, export=None, rough=True, nfs='3',
                                       fault=None, rfc=False)
        with mock.patch('subject.external.Server') as made, \
                mock.patch('run.attempt', side_effect=lambda s, *_: seen.append(s.tag)):
            made.return_value.configure_mock(gone=None, **{
                'dialects.return_value': {}, 'remove.side_effect': lambda: seen.append('removed')})
            list(run.judge_server(chosen, asked, {}))
        self.assertEqual(seen, ['plain', 'harm', 'removed', 'flood', 'removed'])


def iwarp_silent(loop, sock):
    """Opens, and says nothing."""
    conn = iwarp.Conn(loop, sock, False)
    conn.on_request = conn.accept


if __name__ == '__main__':
    unittest.main()

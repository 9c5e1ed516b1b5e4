# SPDX-License-Identifier: BSD-3-Clause
"""The daemon as the other end: how it is started."""
import socket
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from net.loop import Loop
from scene.scenario import RESPONDER, Scenario, Unfit
from subject import daemon

# Serves where the port is free, and says so as the daemon does; or it says why it cannot.
STANDS_IN = '''#!/usr/bin/env python3
import os, re, signal, socket, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
conf = open(sys.argv[2]).read()
try:
    listener = socket.create_server(("127.0.0.1", int(re.search(r"iwarp://[^:]*:(\\d+)", conf)[1])))
except OSError as error:
    sys.exit(f"cannot listen: {os.strerror(error.errno)}")
if "credits = 0" in conf:
    sys.exit("credits: 1 at least")
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
signal.sigwait([signal.SIGTERM])
'''


class Start(unittest.TestCase):
    """With a program in its place that does only that."""

    def setUp(self):
        self.loop = Loop(5)
        self.addCleanup(self.loop.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / 'daemon'
        self.program.write_text(STANDS_IN, encoding='ascii')
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)

    def play(self, **keys):
        """One that is closed at the end."""
        scenario = Scenario('T', RESPONDER, None, keys, frozenset(), [])
        play = daemon.Play(self.loop, scenario, str(self.program))
        self.addCleanup(play.close)
        return play

    def test_a_port_that_is_taken_meanwhile_is_not_the_last(self):
        with socket.create_server((daemon.HOST, 0)) as taken, socket.create_server((daemon.HOST, 0)) as free:
            ports = [taken.getsockname()[1], free.getsockname()[1]]
            free.close()
            with mock.patch.object(daemon, 'free_port', mock.Mock(side_effect=ports)) as asked:
                self.play().start()
            self.assertEqual(asked.call_count, 2)

    def test_another_reason_is_told_at_once(self):
        with mock.patch.object(daemon, 'free_port', wraps=daemon.free_port) as asked:
            with self.assertRaisesRegex(Unfit, 'credits: 1 at least'):
                self.play(credits=0).start()
            self.assertEqual(asked.call_count, 1)

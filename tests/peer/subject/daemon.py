# SPDX-License-Identifier: BSD-3-Clause
"""Our daemon as the other end: one process per scenario, with our TCP client or server behind it."""
import collections
import os
import pathlib
import signal
import socket
import subprocess
import tempfile

from net import iwarp, stream, tcp
from net.limit import Limit, factor
from scene.files import make_server
from scene.scenario import REQUESTER, Unfit, Wrong
from wire import rpc

HOST = '127.0.0.1'
PORTS_TRIED = 5
START_S, STOP_S, CONNECT_S = 20, 20, 5
TIMES = {'done_timeout_s', 'reverse_timeout_s'}   # of a scenario, which has something to do within them


def free_port():
    """Returns a port without a listener."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return sock.getsockname()[1]


def libconfig(value):
    """Returns a value in the syntax of libconfig."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return f'"{value}"' if isinstance(value, str) else str(value)


class Asked:
    """A Call over TCP. Finally .reply has its Reply, or .ended the reason why there is none."""

    def __init__(self, conn, call):
        self.conn = conn
        self.xid = call[:4]
        self.call = call
        self.reply = None

    @property
    def over(self):
        """Returns whether it was answered, or its connection has closed."""
        return self.reply is not None or self.conn.ended is not None


class Play:
    """The daemon for one scenario."""

    def __init__(self, loop, scenario, program, pcap=None):
        self.loop = loop
        self.scenario = scenario
        self.program = program
        self.pcap = pcap
        self.pace = round(factor()) if TIMES & scenario.keys.keys() else 1
        self.server, self.files = make_server()
        self.accepted = collections.deque()
        self.process = None
        self._serves = False
        self._log = None
        self._folder = tempfile.TemporaryDirectory(prefix='conformance-')
        self._port = None
        self._asked = []
        self._front = None
        if scenario.role == REQUESTER:
            self._far = stream.Listener(loop, self._accept)
        else:
            self._far = tcp.RecordServer(loop, self.server.answer)

    # ------------------------------------------------------------ the process

    def _config(self):
        far = self._far.address[1]
        forward = self.scenario.role == REQUESTER
        service = {
            'name': 'judged',
            'listen': f'{"tcp" if forward else "iwarp"}://{HOST}:{self._port}',
            'connect': f'{"iwarp" if forward else "tcp"}://{HOST}:{far}',
        }
        if forward:
            service['require_privileged_port'] = False
        else:
            service['source_port'] = 'any'
        service.update(self.scenario.keys)
        service.update({name: service[name] * self.pace for name in TIMES & service.keys()})
        keys = ' '.join(f'{name} = {libconfig(value)};' for name, value in service.items())
        return (f'control = "{self._folder.name}/control.sock"; workers = 1;\n'
                f'services = ( {{ {keys} }} );\n')

    def start(self):
        """Starts the daemon, if it does not run yet, and waits until it serves."""
        if self.process:
            return
        for _ in range(PORTS_TRIED):
            self._port = free_port()
            self._start_once(pathlib.Path(self._folder.name))
            if self.process.poll() is None:
                self._serves = True
                return
            if 'Address already in use' not in self.log():
                break
        raise Unfit(f'the daemon does not start:\n{self.log()}')

    def _start_once(self, folder):
        """Waits until it serves, or has ended, because another process may use its port."""
        (folder / 'conf').write_text(self._config(), encoding='ascii')
        if self._log:
            self._log.close()
        self._log = open(folder / 'log', 'wb')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            (folder / 'notify').unlink(missing_ok=True)
            notify.bind(str(folder / 'notify'))
            notify.setblocking(False)
            self.process = subprocess.Popen(
                [self.program, '-c', str(folder / 'conf')], stdin=subprocess.DEVNULL,
                stdout=self._log, stderr=self._log,
                env={**os.environ, 'NOTIFY_SOCKET': str(folder / 'notify')})
            ready, ended = [], os.pidfd_open(self.process.pid)
            self.loop.watch(notify, lambda: ready.append(notify.recv(4096)))
            self.loop.watch(ended, self.process.poll)
            self.loop.until(lambda: any(b'READY=1' in note for note in ready)
                            or self.process.poll() is not None, 'the daemon to serve', START_S)
            self.loop.forget(notify)
            self.loop.forget(ended)
            os.close(ended)

    def log(self):
        """Returns the output of the daemon."""
        return (pathlib.Path(self._folder.name) / 'log').read_text(errors='replace')

    def close(self):
        """Stops the daemon, which must still run, and must end with success."""
        if self.process is None:
            self._folder.cleanup()
            return
        dead = self.process.poll() is not None
        self.process.send_signal(signal.SIGTERM)
        status = self._ended(Limit(STOP_S))
        self._log.close()
        log = self.log()
        self._folder.cleanup()
        if self._serves and (dead or status):
            raise Wrong(f'the daemon ended with status {status}:\n{log[-4000:]}')

    def _ended(self, limit):
        """Returns the exit status of the process, which is killed after a time limit."""
        while True:
            try:
                return self.process.wait(limit.left())
            except subprocess.TimeoutExpired:
                if limit.passed():
                    self.process.kill()
                    return self.process.wait()

    # ------------------------------------------------------------ its two sides

    def connect(self, start):
        """Connects the scenario to the daemon's listener."""
        self.start()
        sock = stream.connect((HOST, self._port), CONNECT_S)
        return iwarp.Conn(self.loop, sock, True, start, self._tap(sock, True))

    def _tap(self, sock, initiator):
        return self.pcap.tap(sock, initiator) if self.pcap else None

    def _accept(self, sock, _peer):
        self.accepted.append(iwarp.Conn(self.loop, sock, False, tap=self._tap(sock, False)))

    @property
    def gone(self):
        """Returns whether the TCP client has no connection."""
        return self._front is None or self._front.ended is not None

    def call(self, call):
        """Makes a TCP client in front of the daemon call."""
        self.start()
        if self.gone:
            self._front = tcp.RecordConn(self.loop, stream.connect((HOST, self._port), CONNECT_S))
            self._front.taken = self._taken
        asked = Asked(self._front, call)
        self._asked.append(asked)
        self._front.send(call)
        return asked

    def _taken(self, message):
        if rpc.is_call(message):
            self.server_call(message)
            return
        for asked in self._asked:
            if asked.xid == message[:4] and asked.reply is None:
                asked.reply = message
                return

    def server_call(self, message):
        """Answers a reverse Call at the TCP client with an empty result."""
        reply = self.server.answer(message)
        if reply is not None:
            self._front.send(reply)

    def answer(self, _xid, reply):
        """Makes the server answer a held Call."""
        conn = self._front if self.scenario.role == REQUESTER else self._far.conns[-1]
        conn.send(reply)

    def count(self):
        """Returns the number of connections to the server: one for each client."""
        return sum(conn.ended is None for conn in self._far.conns)

    def reverse(self, call):
        """Makes the TCP server behind the daemon send a reverse Call."""
        conn = self._far.conns[-1]
        asked = Asked(conn, call)
        before = conn.taken

        def taken(message):
            if message[:4] == asked.xid and rpc.is_reply(message) and asked.reply is None:
                asked.reply = message
            else:
                before(message)
        conn.taken = taken
        conn.send(call)
        return asked

# SPDX-License-Identifier: BSD-3-Clause
"""A byte stream in the loop: bytes wait here until the socket accepts them."""
import errno
import os
import selectors
import socket

from net.limit import Limit

READ_BYTES = 256 * 1024


class Stream:
    """A connected socket; calls received(data) and ended(why) of its owner."""

    def __init__(self, loop, sock, owner, tap=None):
        self.loop = loop
        self.sock = sock
        self.owner = owner
        self.tap = tap
        self.ended = None
        self._out = bytearray()
        self._mute = False
        sock.setblocking(False)
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        loop.watch(sock, self._readable)

    def send(self, data):
        """Sends the bytes, some of them later if the socket does not accept them yet."""
        if self.ended is not None or self._mute:
            return
        if self.tap:
            self.tap.sent(data)
        self._out += data
        self._writable()

    def _writable(self):
        try:
            while self._out:
                del self._out[: self.sock.send(self._out)]
        except BlockingIOError:
            self.loop.watch(self.sock, self._readable, self._writable)
            return
        except OSError:
            self._mute = True   # what had come, a Terminate for instance, is read before the end is
            self._out.clear()
        self.loop.watch(self.sock, self._readable)

    def _readable(self):
        try:
            data = self.sock.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(error.strerror)
            return
        if not data:
            self._end('closed')
            return
        if self.tap:
            self.tap.received(data)
        self.owner.received(data)

    def _end(self, why):
        if self.ended is None:
            self.close()
            self.ended = why
            self.owner.stream_ended(why)

    def close(self, reset=False):
        """Closes the socket without notifying the owner; on request by a reset."""
        if self.ended is not None:
            return
        self.ended = 'closed here'
        self.loop.forget(self.sock)
        if reset and self.sock.family in (socket.AF_INET, socket.AF_INET6):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
        self.sock.close()


class Listener:
    """Returns a listening TCP socket on a given port, or on one that the system chooses."""

    def __init__(self, loop, accepted, address=('127.0.0.1', 0)):
        family = socket.AF_INET6 if ':' in address[0] else socket.AF_INET
        self.loop = loop
        self.sock = socket.create_server(address, family=family, backlog=64)
        self.sock.setblocking(False)
        self.address = self.sock.getsockname()[:2]
        self._accepted = accepted
        loop.watch(self.sock, self._readable)

    def _readable(self):
        try:
            sock, peer = self.sock.accept()
        except OSError:
            return
        self._accepted(sock, peer)

    def close(self):
        """Stops listening."""
        self.loop.forget(self.sock)
        self.sock.close()


def connect_socket(sock, address, seconds):
    """Connects a socket within a time limit, which is longer on a slow machine. Raises OSError."""
    limit = Limit(seconds)
    sock.setblocking(False)
    error = sock.connect_ex(address)
    if error == errno.EINPROGRESS:
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_WRITE)
            while not selector.select(limit.left()):
                if limit.passed():
                    raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, os.strerror(error))


def connect(address, seconds):
    """Returns a socket that is connected to (host, port), with a time limit for each address of the host."""
    why = None
    try:
        for family, kind, protocol, _name, found in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            sock = socket.socket(family, kind, protocol)
            try:
                connect_socket(sock, found, seconds)
                return sock
            except OSError as error:
                sock.close()
                why = error
    except OSError as error:
        why = error
    raise ConnectionError(f'{address[0]} port {address[1]}: {why.strerror or why}') from why

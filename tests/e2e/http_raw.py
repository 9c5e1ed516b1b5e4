#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Clients of the HTTP listener that send unusual bytes: http_raw.py PORT CASE.

A case sends requests that no usual client sends, and checks the result. The exit status is 0 if it was correct.
"""
import random
import socket
import sys
import time

from time_limit import Limit, receive

PORT = int(sys.argv[1])
LATEST_S = 9  # time limit of a connection without a request, on an idle machine: the daemon gives it 5 s
SOON_S = 2.5
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def connect(source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", PORT), source_address=(source, 0))


def rest(conn):
    """Returns all bytes until the connection closes, or None if it does not close in time."""
    got, limit = b"", Limit(LATEST_S)
    try:
        while True:
            part = receive(conn, 65536, limit)
            if not part:
                return got
            got += part
    except ConnectionError:
        return got
    except TimeoutError:
        return None


def ask(data):
    with connect() as conn:
        try:
            conn.sendall(data)
        except ConnectionError:
            pass
        return rest(conn)


def status(answer):
    return answer.split(b" ")[1].decode() if answer and answer.startswith(b"HTTP/1.1 ") else ""


def alive():
    return status(ask(HEAD + b"\r\n")) == "200"


def garbage():
    """Random bytes: the connection closes, with any answer."""
    seed = random.Random(18)
    for length in (1, 7, 300, 5000, 70000):
        if ask(seed.randbytes(length) + b"\r\n\r\n") is None:
            return False
    return alive()


def lines():
    """Malformed requests."""
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /healthz\r\n\r\n", b"GET /healthz HTTP/9.9\r\n\r\n",
                 b"GET /healthz HTTP/1.1\r\nHost\r\n\r\n", b"GET /healthz HTTP/1.1\r\n: x\r\n\r\n",
                 b"GET  HTTP/1.1\r\n\r\n", b"\0" * 200 + b"\r\n\r\n", b"GET /%00%zz HTTP/1.1\r\n\r\n",
                 b"CONNECT x:1 HTTP/1.1\r\n\r\n", b"GET http://[::1/ HTTP/1.1\r\n\r\n"):
        answer = ask(data)
        if answer is None or status(answer) == "200" and b"/healthz" not in data:
            return False
    return alive()


def body():
    """The daemon reads no body: too large, of another method, or in chunks."""
    post = b"POST /healthz HTTP/1.1\r\n"
    answers = [ask(post + b"Content-Length: 100000000\r\n\r\n" + b"x" * 100000),
               ask(post + b"Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n" + b"x" * 100000),
               ask(post + b"Content-Length: -1\r\n\r\n"),
               ask(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n")]
    return all(answer is not None and status(answer) != "200" for answer in answers) and alive()


def huge():
    """More than 8 KiB of header, in one line, in many, and without an end."""
    answers = [ask(HEAD + b"X: " + b"a" * 9000 + b"\r\n\r\n"), ask(HEAD + b"X: y\r\n" * 3000 + b"\r\n"),
               ask(b"GET /" + b"a" * 9000), ask(HEAD + b"X: " + b"a" * 4000000)]
    return all(answer is not None and status(answer) != "200" for answer in answers) and alive()


def half():
    """An incomplete request times out."""
    begun = Limit(LATEST_S)
    return ask(HEAD) is not None and begun.took() > 3 and not begun.passed()


def drops():
    """A slow sequence of bytes does not extend the time limit."""
    begun = Limit(LATEST_S)
    with connect() as conn:
        conn.settimeout(0.3)
        for byte in HEAD * 9:
            try:
                conn.send(bytes([byte]))
                if not conn.recv(100):
                    return not begun.passed()
            except TimeoutError:
                continue
            except ConnectionError:
                return not begun.passed()
    return False


def pipelined():
    """Of many pipelined requests only the first one gets an answer."""
    answer = ask((HEAD + b"\r\n") * 50)
    return answer is not None and answer.count(b"HTTP/1.1 200") <= 1 and alive()


def gone():
    """Clients that close before the answer."""
    for _ in range(200):
        with connect() as conn:
            conn.sendall(HEAD + b"\r\n")
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    return alive()


def ended():
    """A client that half-closes with or after its request gets the answer: a page immediately, metrics later."""
    for path in (b"/healthz", b"/", b"/metrics", b"/api/status.json"):
        for i in range(50):
            with connect() as conn:
                conn.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
                if i % 2:
                    time.sleep(0.0001 * i)
                conn.shutdown(socket.SHUT_WR)
                answer = rest(conn)
            if status(answer) != "200" or not whole(answer):
                print(f"{path.decode()}, try {i}: {answer if answer is None else answer[:300]}", file=sys.stderr)
                return False
    return True


def whole(answer):
    """Returns whether the body has the length of the header."""
    head, _, content = answer.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return len(lengths) == 1 and int(lengths[0]) == len(content)


def hosts():
    """The daemon refuses every request for another host name, because a web site can resolve to this address."""
    own = socket.gethostname().encode()
    wanted = {b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n": "421",
              b"GET / HTTP/1.1\r\nHost: evil.example:9180\r\n\r\n": "421",
              b"GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n": "421",
              b"HEAD / HTTP/1.1\r\nhost:evil.example\r\n\r\n": "421",
              b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n": "421",
              b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n": "421",
              b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:9180\r\n\r\n": "200",
              b"GET /healthz HTTP/1.1\r\nHost: [::1]:9180\r\n\r\n": "200",
              b"GET /healthz HTTP/1.1\r\nHost: LocalHost\r\n\r\n": "200",
              b"GET /healthz HTTP/1.1\r\nHost: " + own + b"\r\n\r\n": "200",
              b"GET /healthz HTTP/1.1\r\nHost: metrics.example.net:9180\r\n\r\n": "200",
              b"GET /healthz HTTP/1.0\r\n\r\n": "200"}
    got = {request: status(ask(request).replace(b"HTTP/1.0", b"HTTP/1.1", 1)) for request in wanted}
    for request, code in wanted.items():
        if got[request] != code:
            print(f"{request!r}: {got[request]} instead of {code}", file=sys.stderr)
    return got == wanted


def together():
    """Forty concurrent requests are all answered, although only thirty-two connections are allowed."""
    conns = []
    for _ in range(40):
        conns.append(connect())
        conns[-1].sendall(HEAD + b"\r\n")
    return all(status(rest(conn)) == "200" for conn in conns)


def endless():
    """The daemon soon stops to read a chunked body whose first chunk has an endless size."""
    conns = [connect() for _ in range(8)]
    for conn in conns:
        conn.setblocking(False)
        conn.send(b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;")
    push(conns, 3)
    return all(rest(conn) is not None for conn in conns) and alive()


def flooding():
    """The daemon soon stops to read from a client that requests a long answer, reads nothing and sends without end.

    Segments are small, so that the daemon's host buffers little."""
    conns = []
    for _ in range(8):
        conn = socket.socket()
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 4000)
        conn.connect(("127.0.0.1", PORT))
        conn.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        conn.setblocking(False)
        conns.append(conn)
    push(conns, 3)
    for conn in conns:
        conn.close()
    return alive()


def push(conns, seconds):
    """Sends as much as the connections accept, for some seconds."""
    data, begun = b"a" * 65536, time.monotonic()
    while time.monotonic() - begun < seconds:
        taken = 0
        for conn in conns:
            try:
                taken += conn.send(data)
            except (BlockingIOError, ConnectionError):
                continue
        if not taken:
            time.sleep(0.02)


def crowd(source="127.0.0.1"):
    """Sixty silent connections: a request of another client is soon answered."""
    conns = [connect(source) for _ in range(60)]
    print("crowded", flush=True)
    sys.stdin.readline()
    soon = Limit(SOON_S)
    good = alive() and not soon.passed()
    print(f"answered after {soon.took():.1f} s", file=sys.stderr)
    for conn in conns:
        conn.close()
    return good


def strangers():
    """The same with silent clients that http_allow does not list."""
    return crowd("127.0.0.2")


def waiting():
    """Requests for data that cannot be collected get 503 in time, and other requests are answered meanwhile."""
    conns = []
    # A client that has sent nothing for a second is evicted for others.
    for _ in range(60):
        conns.append(connect())
        conns[-1].sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    soon = Limit(SOON_S)
    health = status(ask(HEAD + b"\r\n"))
    took, late = soon.took(), soon.passed()
    answers = [status(rest(conn)) for conn in conns]
    print(f"{health} after {took:.1f} s, then {sorted(set(answers))} until {soon.took():.1f} s", file=sys.stderr)
    return health == "503" and not late and set(answers) == {"503"}


def has_let_go():
    """Returns whether the daemon has closed all connections that their peers have closed (CLOSE_WAIT)."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        return not any(line.split()[1].endswith(f":{PORT:04X}") and line.split()[3] == "08" for line in table)


def leaving():
    """Clients that close while they wait for such data leave nothing."""
    for _ in range(60):
        with connect() as conn:
            conn.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    limit = Limit(LATEST_S)
    while not has_let_go():
        if limit.passed():
            return False
        time.sleep(0.02)
    with connect() as conn:
        conn.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        begun = time.monotonic()
        return status(rest(conn)) == "503" and time.monotonic() - begun > 3


sys.exit(not globals()[sys.argv[2]]())

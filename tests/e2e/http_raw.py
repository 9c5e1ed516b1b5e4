#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Peers of the HTTP listener that send bytes of their own: http_raw.py PORT CASE; status 0 if it behaved.

A case sends what no good client sends, and says what has to come of it.
"""
import random
import socket
import sys
import time

from time_limit import Limit, receive

PORT = int(sys.argv[1])
LATEST_S = 9  # by then a connection without a request is over, on an idle machine: it has 5 s
SOON_S = 2.5
HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


def connect(source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", PORT), source_address=(source, 0))


def rest(conn):
    """All that comes until the end of the connection; None: it has none in time."""
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
    """Bytes of all kinds: whatever is said, it ends."""
    seed = random.Random(18)
    for length in (1, 7, 300, 5000, 70000):
        if ask(seed.randbytes(length) + b"\r\n\r\n") is None:
            return False
    return alive()


def lines():
    """Requests that are none."""
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /healthz\r\n\r\n", b"GET /healthz HTTP/9.9\r\n\r\n",
                 b"GET /healthz HTTP/1.1\r\nHost\r\n\r\n", b"GET /healthz HTTP/1.1\r\n: x\r\n\r\n",
                 b"GET  HTTP/1.1\r\n\r\n", b"\0" * 200 + b"\r\n\r\n", b"GET /%00%zz HTTP/1.1\r\n\r\n",
                 b"CONNECT x:1 HTTP/1.1\r\n\r\n", b"GET http://[::1/ HTTP/1.1\r\n\r\n"):
        answer = ask(data)
        if answer is None or status(answer) == "200" and b"/healthz" not in data:
            return False
    return alive()


def body():
    """A body is not read: too large, or of another method, or in chunks."""
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
    """Half a request is not waited for."""
    begun = Limit(LATEST_S)
    return ask(HEAD) is not None and begun.took() > 3 and not begun.passed()


def drops():
    """A byte now and then does not make it longer."""
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
    """The first of many is answered, and that is all."""
    answer = ask((HEAD + b"\r\n") * 50)
    return answer is not None and answer.count(b"HTTP/1.1 200") <= 1 and alive()


def gone():
    """Who leaves before the answer."""
    for _ in range(200):
        with connect() as conn:
            conn.sendall(HEAD + b"\r\n")
            conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    return alive()


def ended():
    """A client that ends its sending side with the request or after it is answered: with a page at once, with metrics later."""
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
    """Whether the body is as long as the header says."""
    head, _, content = answer.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return len(lengths) == 1 and int(lengths[0]) == len(content)


def hosts():
    """A request for another host is refused, in whatever form: a web site can have its name resolve to this address."""
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
            print(f"{request!r}: {got[request]} in the place of {code}", file=sys.stderr)
    return got == wanted


def together():
    """Forty who ask at once are all answered, though thirty-two have room."""
    conns = []
    for _ in range(40):
        conns.append(connect())
        conns[-1].sendall(HEAD + b"\r\n")
    return all(status(rest(conn)) == "200" for conn in conns)


def endless():
    """A body in chunks, the first of which has a size without an end, is not read for long."""
    conns = [connect() for _ in range(8)]
    for conn in conns:
        conn.setblocking(False)
        conn.send(b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;")
    push(conns, 3)
    return all(rest(conn) is not None for conn in conns) and alive()


def flooding():
    """A client that requests a long answer, takes none of it, and sends without end is not read for long. By small segments, for
    which the daemon's host buffers little."""
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
    """Send as much as they take, for so long."""
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
    """Sixty say nothing, over and over: others have their turn, and soon."""
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
    """… among them those who may not ask."""
    return crowd("127.0.0.2")


def waiting():
    """Who ask for what is gathered while it cannot be are told so in time, and others are answered meanwhile."""
    conns = []
    # Who has said nothing for a second makes room for others.
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
    """Whether the daemon has closed all connections that their peers have (CLOSE_WAIT)."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        return not any(line.split()[1].endswith(f":{PORT:04X}") and line.split()[3] == "08" for line in table)


def leaving():
    """Who leave while they wait for it leave no trace."""
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

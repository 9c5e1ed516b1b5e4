# SPDX-License-Identifier: BSD-3-Clause
"""Each rule that is held against a client sees a client that breaks it, and says nothing of one that does not."""
import contextlib
import socket
import unittest

from model.end import End, Options
from net import iwarp
from net.loop import Late, Loop
from nfs import nfs3
from nfs.server import HOLD
from scene.files import make_server
from scene.client_session import new_xid
from watch.rules import ALL_TAGS
from watch.serve import mount_line
from watch.tally import Tally
from watch.observer import Grants, Watch
from wire import header, private_data, rpc


def nfs(proc, args=b''):
    """A Call of NFSv3."""
    return rpc.call(new_xid(), nfs3.PROGRAM, nfs3.VERSION, proc, args, cred=rpc.auth_sys())


class Client(unittest.TestCase):
    """A client on a pair of sockets, watched."""

    def setUp(self):
        self.loop = Loop(5)
        self.loop.alone = True
        self.addCleanup(self.loop.close)
        self.tally = Tally(lambda line: None)
        self.server, self.files = make_server()

    def work(self, bend=lambda end: None, options=None, more=None):
        """Connects, calls in all the ways there are, and ends; the statements that were broken."""
        ours, theirs = socket.socketpair()
        served = End(Options(), self.server.answer)
        watch = Watch(served, self.tally)
        client = End(options or Options(ddp='nfs'), self.server.answer)
        bend(client)
        conn = iwarp.Conn(self.loop, ours, False)

        def requested():
            served.attach(conn)
            watch.start()
            conn.accept(iwarp.Start(data=served.own_data()))
        conn.on_request = requested
        client.attach(iwarp.Conn(self.loop, theirs, True, iwarp.Start(data=client.own_data())))
        calls = [client.call(call) for call in self.calls()]
        with contextlib.suppress(Late):
            self.loop.until(lambda: conn.ended or all(c.over for c in calls), 'the Calls',
                            0.3 if more else 5)
        if more:
            more(client)
            self.loop.run(0.05)
        if watch.idle():
            watch.probe(self.loop)
        for flaw in conn.flaws:
            self.tally.note('A2-5', flaw)
        return {tag for tag, count in self.tally.counts.items() if count.broken}

    def calls(self):
        """NULL, a long READDIR, a READ, a WRITE, a long Call."""
        return [nfs(0), nfs(6, nfs3.read(self.files.data, 0, 20000)),
                nfs(16, nfs3.readdir(self.files.names, 0, nfs3.NO_VERIFIER, 8000)),
                nfs(7, nfs3.write(self.files.scratch, 0, b'w' * 9999, nfs3.FILE_SYNC)),
                nfs(0), nfs(0), nfs(0), nfs(0)]

    def test_a_good_client_breaks_nothing(self):
        self.assertEqual(self.work(), set())

    def test_a_good_client_that_moves_whole_calls_breaks_nothing(self):
        self.assertEqual(self.work(options=Options()), set())
        self.assertTrue(self.tally.counts['A5.1-1'].held)

    def test_every_rule_has_a_tag_that_is_known(self):
        self.assertIn('A3.3-4', ALL_TAGS)

    def test_a_call_without_a_credit(self):
        self.server.before = lambda call: HOLD

        def bend(end):
            end.may_send = lambda: end.conn.open
        self.assertIn('A3.3-4', self.work(bend, more=lambda client: None))

    def overruns(self, allowed):
        """The statements that a client breaks whose credits are allowed(end), of a server that answers at once."""
        def bend(end):
            end.may_send = lambda: end.conn.open and len(end.pending) < allowed(end)
        return self.work(bend, more=lambda client: self.many(client, 40))

    def many(self, client, count):
        """More Calls, as fast as credits go."""
        calls = [client.call(nfs(0)) for _ in range(count)]
        with contextlib.suppress(Late):
            self.loop.until(lambda: client.conn.ended or all(c.over for c in calls), 'the Calls', 9)

    def test_calls_beyond_the_credits_of_a_server_that_answers_at_once(self):
        """One more than granted, as many as were ever granted, and without any limit."""
        for allowed in (lambda end: end.granted + 1, lambda end: 2, lambda end: 99,
                        lambda end: 2 if end.granted > 1 else 3):
            self.tally.counts.clear()
            self.assertEqual(self.overruns(allowed), {'A3.3-4'})

    def test_no_grant_is_held_against_a_client_that_obeys_it(self):
        """With Calls waiting at all times, through all grants, and with a smaller one on its way."""
        self.assertEqual(self.work(more=lambda client: self.many(client, 600)), set())
        self.assertGreater(self.tally.counts['A3.3-4'].held, 40)

    def test_credits_that_are_not_used_up_show_nothing(self):
        """One Call at a time under larger grants says nothing of how many there would be."""
        def bend(end):
            end.may_send = lambda: end.conn.open and not end.pending
        self.assertEqual(self.work(bend, more=lambda client: self.many(client, 80)), set())
        self.assertEqual(self.tally.counts['A3.3-4'].held, 24)

    def test_calls_on_their_way_are_no_overrun(self):
        """They left before the smaller grant came; those behind them did not."""
        grants = Grants()
        grants.sent(8, 0)
        grants.call()
        self.assertEqual(grants.limit(), 8)
        grants.sent(1, 2)
        for _ in range(5):          # one is answered, two wait, five may be on their way
            grants.call()
            self.assertEqual(grants.limit(), 8)
        grants.call()
        self.assertEqual(grants.limit(), 1)
        grants.refused(4)
        self.assertEqual(grants.limit(), 4)

    def test_another_version(self):
        def bend(end):
            end.call_version = lambda: 7
        self.assertIn('A4.1-3', self.work(bend, more=lambda client: None))

    def planned(self, change):
        """A bend that changes each message before it goes."""
        def bend(end):
            right = end.planned

            def planned(pending):
                message = right(pending)
                change(message)
                return message
            end.planned = planned
        return bend

    def breaks(self, tag, change, **more):
        """The change of a message is seen as this statement broken."""
        self.assertIn(tag, self.work(self.planned(change), more=lambda client: None, **more))

    def test_two_xids(self):
        def change(message):
            message.body = b'\x11\x22\x33\x44' + message.body[4:] if message.body else b''
        self.breaks('A4.1-2', change)

    def test_a_chunk_at_an_odd_position(self):
        def change(message):
            for entry in message.reads:
                entry.position += 2
        self.breaks('A3.4-1', change)

    def test_a_chunk_of_another_length(self):
        def change(message):
            for entry in message.reads:
                entry.length -= 4
        self.breaks('A3.4-4', change)

    def test_a_chunk_where_no_payload_is(self):
        def change(message):
            for entry in message.reads:
                entry.position -= 8
        self.breaks('A3.4-2', change)

    def test_a_long_call_without_a_chunk_of_its_own(self):
        def change(message):
            if message.proc == header.NOMSG:
                message.reads[0].position = 64
        self.breaks('A5.1-1', change, options=Options())

    def test_segments_that_wrap(self):
        def change(message):
            for chunk in message.writes:
                chunk[0].offset = (1 << 64) - 4
        self.breaks('A4.3-2', change)

    def test_a_reply_chunk_that_is_too_small(self):
        def change(message):
            for segment in message.reply or []:
                segment.length = 64
        self.breaks('A5.2-5', change)

    def test_a_send_that_is_too_long(self):
        def bend(end):
            end.send_limit = lambda: 1 << 20
        self.assertIn('A2-2', self.work(bend))

    def test_a_header_that_does_not_decode(self):
        def more(client):
            client.conn.send(header.encode(header.Header(1, body=b''))[:16] + b'\0\0\0\7' * 8)
        self.assertIn('A4.1-5', self.work(more=more))

    def test_done(self):
        def more(client):
            client.put(header.Header(1, proc=header.DONE))
        self.assertIn('A-Δ2', self.work(more=more))

    def test_an_error_for_nothing(self):
        def more(client):
            client.put(header.Header(1, proc=header.ERROR, err=header.ERR_CHUNK))
        self.assertIn('A4.2-3', self.work(more=more))

    def test_an_xid_twice(self):
        self.server.before = lambda call: HOLD
        call = nfs(0)

        def more(client):
            client.pending.clear()
            client.granted = 5
            for _ in range(2):
                client.put(header.Header(7, body=b'\0\0\0\7' + call[4:]))
        self.assertIn('D1.1.4-1', self.work(more=more))

    def test_reserved_flags(self):
        def bend(end):
            end.own_data = lambda: private_data.encode(
                private_data.PrivateData(True, 4096, 4096, reserved=0x40))
        self.assertEqual(self.work(bend), {'C5.1-2'})

    def test_private_data_that_is_cut_short(self):
        def bend(end):
            right = end.own_data()
            end.own_data = lambda: right[:6]
        self.assertIn('C4-4', self.work(bend))

    def test_memory_that_stays_open(self):
        def bend(end):
            attach = end.attach

            def attached(conn):
                conn.withdraw = lambda key: None
                attach(conn)
            end.attach = attached
        options = Options(ddp='nfs', invalidate=False)
        self.assertEqual(self.work(bend, options=options), {'A7-2'})


class Line(unittest.TestCase):
    """What to mount."""

    def test_of_any_address(self):
        line = mount_line(('192.0.2.1', 20049), 1234)
        self.assertIn('proto=rdma,port=20049,mountproto=tcp,mountport=1234', line)
        self.assertTrue(line.endswith(' 192.0.2.1:/export /mnt'), line)
        line = mount_line(('2001:db8::1', 20049), 1234)
        self.assertIn('proto=rdma6,port=20049,mountproto=tcp6,', line)
        self.assertTrue(line.endswith(' [2001:db8::1]:/export /mnt'), line)
        self.assertIn(f' {socket.gethostname()}:/export', mount_line(('0.0.0.0', 20049), 1))

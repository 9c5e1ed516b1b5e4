# SPDX-License-Identifier: BSD-3-Clause
"""What the parts of the model promise each other; whether it keeps to the documents, scenarios judge."""
import unittest
from unittest import mock

from model.complete import Complete
from model.end import End, Options


class Xids(unittest.TestCase):
    """Of an end's own messages: INIT_XCHAR and the like, and CONF_RDMA."""

    def test_no_call_in_flight_has_it(self):
        """Neither ours nor the peer's, whichever parts the end has: X-12."""
        for kind in (End, Complete):
            end = kind(Options(), None)
            end.pending, end.works = {5: None}, {6: None}
            with self.subTest(kind=kind.__name__), mock.patch('secrets.randbits',
                                                              side_effect=[5, 6, 7]):
                self.assertEqual(end.own_xid(), 7)

# SPDX-License-Identifier: BSD-3-Clause
"""What scenarios use of the other end is there, whoever it is."""
import inspect
import re
import unittest

from subject import daemon, external, self_test
from test_style import sources

OF_ANY_SERVER = {'connect', 'files', 'server', 'close'}


def used(texts):
    """What is taken of a play."""
    return {name for text in texts for name in re.findall(r'\bplay\.([a-z]\w*)', text)}


def has(play):
    """What a class of plays has: methods, properties, and what they set."""
    return set(dir(play)) | set(re.findall(r'\bself\.([a-z]\w*)(?= = |, self\.)', inspect.getsource(play)))


class Plays(unittest.TestCase):
    """Of the daemon, of the peer and of any server."""

    def test_the_daemon_and_the_peer_have_all_that_is_used(self):
        """By scenarios and by what is between."""
        names = used(text for path, text in sources()
                     if path.startswith(('scene/', 'scenarios/')) or path == 'run.py')
        self.assertIn('connect', names)
        for module in (daemon, self_test):
            self.assertEqual(names - has(module.Play), set(), module.__name__)

    def test_any_server_has_what_can_be_had(self):
        """A scenario that needs more says so, and is not asked."""
        self.assertEqual(OF_ANY_SERVER - has(external.Play), set())

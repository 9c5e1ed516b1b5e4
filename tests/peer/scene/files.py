# SPDX-License-Identifier: BSD-3-Clause
"""The files that scenarios use, on a server in memory."""
import dataclasses

from nfs.operations import handle
from nfs.server import NAMES_NAME, PATTERN_NAME, Server
from nfs.tree import File

NAMES = 640


@dataclasses.dataclass
class Files:
    """The handles that scenarios use."""
    data: bytes         # of a pattern
    scratch: bytes      # to be written
    names: bytes        # of a large directory


def make_server():
    """A server, and the handles of its files."""
    server = Server(names=NAMES)
    tree = server.tree
    scratch = tree.add(File, 0o666, (0, 0))
    tree.put(tree.root, b'scratch', scratch)
    return server, Files(handle(tree.root.find(PATTERN_NAME)), handle(scratch),
                         handle(tree.root.find(NAMES_NAME)))

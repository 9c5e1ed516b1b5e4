# SPDX-License-Identifier: BSD-3-Clause
"""A file system in memory: what files and directories hold, found by handle and by name.

It knows nothing of messages. What cannot be done raises Refused with the status of NFSv3.
"""
from nfs import nfs3

NAME_LIMIT = 255
FIRST_COOKIE = 3  # 1 and 2 are those of "." and ".."
PATTERN_PERIOD = 65521
BLOCK = 4096


class Refused(Exception):
    """An operation that fails; `status` is what the Reply says."""

    def __init__(self, status):
        super().__init__(f"status {status}")
        self.status = status


def _one_period():
    state, found = 1, bytearray()
    for _ in range(PATTERN_PERIOD):
        state = (state * 1103515245 + 12345) & 0x7fffffff
        found.append(state >> 16 & 0xff)
    return bytes(found)


_PERIOD = _one_period()


def pattern(offset, count):
    """The bytes from `offset` on of an endless content, whose period is a prime."""
    begin = offset % PATTERN_PERIOD
    return (_PERIOD * ((begin + count) // PATTERN_PERIOD + 1))[begin:begin + count]


class Node:
    """What all kinds have in common."""

    kind = nfs3.REG
    size = 0

    def __init__(self, number, mode, owner, now):
        self.number, self.mode, self.links = number, mode, 1
        self.uid, self.gid = owner
        self.atime = self.mtime = self.ctime = now

    def resize(self, size):
        """Only files can."""
        raise Refused(nfs3.INVAL)


class File(Node):
    """Bytes that are kept."""

    verf = None  # of the exclusive CREATE that made it

    def __init__(self, *args):
        super().__init__(*args)
        self.content = bytearray()

    @property
    def size(self):
        """How many bytes it holds."""
        return len(self.content)

    def read(self, offset, count):
        """The bytes from `offset` on, as far as there are any."""
        return bytes(memoryview(self.content)[offset:offset + count])

    def write(self, offset, data):
        """Put bytes at `offset`; a gap before them is zeros."""
        if data and offset > self.size:
            self.resize(offset)
        self.content[offset:offset + len(data)] = data

    def resize(self, size):
        """Cut it, or extend it by zeros."""
        del self.content[size:]
        self.content.extend(bytes(size - self.size))


class Pattern(Node):
    """A file that is only read, whose bytes are computed from their offset."""

    def __init__(self, size, *args):
        super().__init__(*args)
        self.size = size

    def read(self, offset, count):
        """The bytes from `offset` on, as far as there are any."""
        return pattern(offset, max(0, min(count, self.size - offset)))

    def write(self, offset, data):
        """Nobody may."""
        raise Refused(nfs3.ACCES)

    def resize(self, size):
        """Nobody may."""
        raise Refused(nfs3.ACCES)


class Link(Node):
    """A symbolic link."""

    kind = nfs3.LNK

    def __init__(self, path, *args):
        super().__init__(*args)
        self.path = path

    @property
    def size(self):
        """The length of its path."""
        return len(self.path)


class Directory(Node):
    """Names in the order in which they came, each with a cookie that stays its own."""

    kind = nfs3.DIR
    size = BLOCK

    def __init__(self, parent, *args):
        super().__init__(*args)
        self.parent = parent or self
        self.links = 2
        self.names = {}  # name -> (cookie, node)
        self.next_cookie = FIRST_COOKIE

    def find(self, name):
        """The node of a name; None if there is none."""
        if name in (b".", b".."):
            return self if name == b"." else self.parent
        return self.names.get(name, (0, None))[1]

    def put(self, name, node):
        """Give a node a name that is free."""
        self.names[name] = self.next_cookie, node
        self.next_cookie += 1
        if node.kind == nfs3.DIR:
            self.links += 1
            node.parent = self

    def take(self, name):
        """Take a name away; gives its node."""
        node = self.names.pop(name)[1]
        if node.kind == nfs3.DIR:
            self.links -= 1
        return node

    def after(self, cookie):
        """(cookie, name, node) of all names behind that of a cookie."""
        if cookie < 1:
            yield 1, b".", self
        if cookie < 2:
            yield 2, b"..", self.parent
        for name, (own, node) in self.names.items():
            if own > cookie:
                yield own, name, node


class Tree:
    """All nodes of a file system, by number, and the changes that concern several of them."""

    def __init__(self, clock):
        self.clock = clock  # gives nanoseconds
        self.nodes = {}
        self.last = 0
        self.root = self.add(Directory, 0o777, (0, 0), None)

    def add(self, kind, mode, owner, *first):
        """A new node that has no name yet."""
        self.last += 1
        node = kind(*first, self.last, mode, owner, self.clock())
        self.nodes[self.last] = node
        return node

    def touch(self, *nodes):
        """Their content has changed."""
        for node in nodes:
            node.mtime = node.ctime = self.clock()

    @staticmethod
    def check_new_name(name):
        """Refuse what cannot be a name."""
        if len(name) > NAME_LIMIT:
            raise Refused(nfs3.NAMETOOLONG)
        if name in (b"", b".", b"..") or b"/" in name or b"\0" in name:
            raise Refused(nfs3.INVAL)

    def put(self, directory, name, node):
        """Give a node a name that must be new."""
        self.check_new_name(name)
        if directory.find(name):
            raise Refused(nfs3.EXIST)
        directory.put(name, node)
        self.touch(directory)

    def remove(self, directory, name, of_directory):
        """Take away the name of a directory, or of anything else."""
        self.check_new_name(name)
        node = directory.find(name)
        if node is None:
            raise Refused(nfs3.NOENT)
        if of_directory != (node.kind == nfs3.DIR):
            raise Refused(nfs3.NOTDIR if of_directory else nfs3.ISDIR)
        if of_directory and node.names:
            raise Refused(nfs3.NOTEMPTY)
        self._drop(directory.take(name))
        self.touch(directory)

    def rename(self, directory, name, to_directory, to_name):
        """Move a name; what has the new one is removed."""
        self.check_new_name(name)
        self.check_new_name(to_name)
        node, other = directory.find(name), to_directory.find(to_name)
        if node is None:
            raise Refused(nfs3.NOENT)
        if node is other:
            return
        if node.kind == nfs3.DIR and self._is_below(to_directory, node):
            raise Refused(nfs3.INVAL)
        if other is not None:
            self._check_replaced(node, other)
            self._drop(to_directory.take(to_name))
        to_directory.put(to_name, directory.take(name))
        node.ctime = self.clock()
        self.touch(directory, to_directory)

    @staticmethod
    def _check_replaced(node, other):
        if (node.kind == nfs3.DIR) != (other.kind == nfs3.DIR):
            raise Refused(nfs3.EXIST)
        if other.kind == nfs3.DIR and other.names:
            raise Refused(nfs3.NOTEMPTY)

    @staticmethod
    def _is_below(directory, ancestor):
        while directory is not ancestor and directory.parent is not directory:
            directory = directory.parent
        return directory is ancestor

    def _drop(self, node):
        node.links -= 2 if node.kind == nfs3.DIR else 1
        node.ctime = self.clock()
        if node.links == 0:
            del self.nodes[node.number]

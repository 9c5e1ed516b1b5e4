# SPDX-License-Identifier: BSD-3-Clause
"""The tree in memory, as far as it is not seen by Calls."""
import unittest

from nfs.tree import Directory, File, PATTERN_PERIOD, Tree, pattern


class Pattern(unittest.TestCase):
    """The content that is computed."""

    def test_pieces_are_those_of_the_whole(self):
        whole = pattern(0, 3 * PATTERN_PERIOD)
        for offset in (0, 1, 4095, PATTERN_PERIOD - 1, PATTERN_PERIOD, PATTERN_PERIOD + 1):
            for count in (0, 1, 7, 4096, PATTERN_PERIOD, PATTERN_PERIOD + 5):
                self.assertEqual(pattern(offset, count), whole[offset:offset + count])

    def test_far_away_it_goes_on(self):
        self.assertEqual(pattern(PATTERN_PERIOD << 40, 100), pattern(0, 100))

    def test_blocks_of_usual_sizes_differ(self):
        for size in (4, 512, 4096, 65536, 1 << 20):
            blocks = {pattern(number * size, size) for number in range(20)}
            self.assertEqual(len(blocks), 20)


class Content(unittest.TestCase):
    """Files."""

    def setUp(self):
        self.file = Tree(lambda: 1).add(File, 0o644, (0, 0))

    def test_a_gap_is_zeros(self):
        self.file.write(5, b"abc")
        self.assertEqual(self.file.read(0, 100), bytes(5) + b"abc")

    def test_what_is_written_replaces_and_extends(self):
        self.file.write(0, b"abcdef")
        self.file.write(4, b"XYZ")
        self.assertEqual(self.file.read(0, 100), b"abcdXYZ")
        self.assertEqual(self.file.read(2, 3), b"cdX")
        self.assertEqual(self.file.read(7, 1), b"")

    def test_no_bytes_far_behind_the_end_make_no_gap(self):
        self.file.write(1 << 62, b"")
        self.assertEqual(self.file.size, 0)

    def test_it_is_cut_and_extended(self):
        self.file.write(0, b"abcdef")
        self.file.resize(2)
        self.file.resize(4)
        self.assertEqual(self.file.read(0, 100), b"ab\0\0")


class Cookies(unittest.TestCase):
    """The names of a directory stay where they are while others come and go."""

    def test_they_stay(self):
        tree = Tree(lambda: 1)
        for name in (b"a", b"b", b"c"):
            tree.put(tree.root, name, tree.add(File, 0o644, (0, 0)))
        cookies = {name: cookie for cookie, name, _ in tree.root.after(0)}
        self.assertEqual(list(cookies), [b".", b"..", b"a", b"b", b"c"])
        tree.remove(tree.root, b"b", False)
        tree.put(tree.root, b"b", tree.add(File, 0o644, (0, 0)))
        names = [name for _, name, _ in tree.root.after(cookies[b"a"])]
        self.assertEqual(names, [b"c", b"b"])

    def test_the_root_is_its_own_parent(self):
        tree = Tree(lambda: 1)
        below = tree.add(Directory, 0o755, (0, 0), None)
        tree.put(tree.root, b"d", below)
        self.assertIs(tree.root.find(b".."), tree.root)
        self.assertIs(below.find(b".."), tree.root)
        self.assertIs(below.find(b"."), below)


if __name__ == "__main__":
    unittest.main()

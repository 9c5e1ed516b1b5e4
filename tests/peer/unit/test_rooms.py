# SPDX-License-Identifier: BSD-3-Clause
"""The order of the rooms: README.md lists them, and each imports only those above it, none in a circle."""
import ast
import os
import re
import unittest

from test_style import PEER, sources


def rooms(text):
    """The names of each line of the list, in its order: folders, or the programs and modules at the top."""
    block = re.search(r'\n\n((?:    \S.*\n)*    wire/.*\n(?:    \S.*\n)*)', text).group(1)
    for line in block.splitlines():
        yield [name.rstrip('/').removesuffix('.py') for name in re.split(r'\s{2,}', line.strip())
               if re.fullmatch(r'[a-z]+/|[a-z]+(\.py)?', name)]


def imported(text, modules):
    """The modules of the peer that a source imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for name in {f'{node.module}.{alias.name}' for alias in node.names}:
                yield name if name in modules else node.module


def arrows(texts):
    """{module: those it imports} of {path: text}."""
    modules = {path.removesuffix('.py').removesuffix('/__init__').replace('/', '.'): text
               for path, text in texts.items()}
    return {name: set(imported(text, modules)) & set(modules) for name, text in modules.items()}


def upward(graph, order):
    """What imports something that the list has below it."""
    place = {room: number for number, names in enumerate(order) for room in names}
    for name, targets in graph.items():
        for target in targets:
            here, there = (place[module.split('.')[0]] for module in (name, target))
            if there > here:
                yield f'{name} imports {target}'


def circle(graph):
    """Modules that are in a circle of imports, and those that need them."""
    left = {name: set(targets) - {name} for name, targets in graph.items()}
    while leaves := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in leaves:
            del left[name]
    return sorted(left)


class Rooms(unittest.TestCase):
    """Of the sources, and of bad ones."""

    def setUp(self):
        with open(os.path.join(PEER, 'README.md'), encoding='utf-8') as file:
            self.order = list(rooms(file.read()))
        self.graph = arrows({path: text for path, text in sources()
                             if not path.startswith('unit/')})

    def test_the_list_has_every_room(self):
        """And none that is not there."""
        listed = [name for names in self.order for name in names]
        self.assertEqual(sorted(listed), sorted({name.split('.')[0] for name in self.graph}
                                                | {'unit'}))

    def test_nothing_imports_what_stands_below_it(self):
        """All modules and programs."""
        self.assertEqual(list(upward(self.graph, self.order)), [])

    def test_nothing_imports_in_a_circle(self):
        """Within a room either."""
        self.assertEqual(circle(self.graph), [])

    def test_only_the_scenarios_are_imported_by_name(self):
        """What imports by a name that it makes up is not seen here."""
        self.assertEqual([path for path, text in sources()
                          if 'import_module' in text and not path.startswith('unit/')],
                         ['scenarios/__init__.py'])

    def test_bad_arrows_are_found(self):
        """Both kinds."""
        texts = {'wire/a.py': 'from net import b\n', 'net/b.py': 'from wire.a import it\n',
                 'net/c.py': 'import os\nfrom net import b\n'}
        self.assertEqual(list(upward(arrows(texts), [['wire'], ['net']])), ['wire.a imports net.b'])
        self.assertEqual(circle(arrows(texts)), ['net.b', 'net.c', 'wire.a'])

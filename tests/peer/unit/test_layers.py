# SPDX-License-Identifier: BSD-3-Clause
"""Layers: README.md lists them; each imports only layers above it, and no module imports itself in a circle."""
import ast
import os
import re
import unittest

from test_style import PEER, sources


def layers(text):
    """Yields the names of each line of the list in README.md: directories, or programs and modules."""
    block = re.search(r'\n\n((?:    \S.*\n)*    wire/.*\n(?:    \S.*\n)*)', text).group(1)
    for line in block.splitlines():
        yield [name.rstrip('/').removesuffix('.py') for name in re.split(r'\s{2,}', line.strip())
               if re.fullmatch(r'[a-z]+/|[a-z]+(\.py)?', name)]


def imported(text, modules):
    """Yields the modules of the peer that a source imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            for name in {f'{node.module}.{alias.name}' for alias in node.names}:
                yield name if name in modules else node.module


def arrows(texts):
    """Returns {module: its imports} for {path: text}."""
    modules = {path.removesuffix('.py').removesuffix('/__init__').replace('/', '.'): text
               for path, text in texts.items()}
    return {name: set(imported(text, modules)) & set(modules) for name, text in modules.items()}


def upward(graph, order):
    """Yields each import of a module from a lower line of the list."""
    place = {layer: number for number, names in enumerate(order) for layer in names}
    for name, targets in graph.items():
        for target in targets:
            here, there = (place[module.split('.')[0]] for module in (name, target))
            if there > here:
                yield f'{name} imports {target}'


def circle(graph):
    """Returns the modules in a circle of imports, and the modules that import these."""
    left = {name: set(targets) - {name} for name, targets in graph.items()}
    while leaves := [name for name, targets in left.items() if not targets & left.keys()]:
        for name in leaves:
            del left[name]
    return sorted(left)


class Layers(unittest.TestCase):
    """Checks the sources, and examples of bad ones."""

    def setUp(self):
        with open(os.path.join(PEER, 'README.md'), encoding='utf-8') as file:
            self.order = list(layers(file.read()))
        self.graph = arrows({path: text for path, text in sources()
                             if not path.startswith('unit/')})

    def test_the_list_has_exactly_the_layers_of_the_tree(self):
        """Compares README.md with the directory."""
        listed = [name for names in self.order for name in names]
        self.assertEqual(sorted(listed), sorted({name.split('.')[0] for name in self.graph}
                                                | {'unit'}))

    def test_modules_import_only_layers_above_them(self):
        """All modules and programs."""
        self.assertEqual(list(upward(self.graph, self.order)), [])

    def test_no_imports_in_a_circle(self):
        """Also within one layer."""
        self.assertEqual(circle(self.graph), [])

    def test_only_the_scenarios_are_imported_by_name(self):
        """This test cannot see imports by a computed name."""
        self.assertEqual([path for path, text in sources()
                          if 'import_module' in text and not path.startswith('unit/')],
                         ['scenarios/__init__.py'])

    def test_bad_imports_are_found(self):
        """Both kinds."""
        texts = {'wire/a.py': 'from net import b\n', 'net/b.py': 'from wire.a import it\n',
                 'net/c.py': 'import os\nfrom net import b\n'}
        self.assertEqual(list(upward(arrows(texts), [['wire'], ['net']])), ['wire.a imports net.b'])
        self.assertEqual(circle(arrows(texts)), ['net.b', 'net.c', 'wire.a'])

# SPDX-License-Identifier: BSD-3-Clause
"""The rules for the peer's sources that can be seen in their text."""

import ast
import builtins
import os
import re
import symtable
import sys
import unittest

PEER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAX_COLUMNS, MAX_LINES, MAX_FUNCTION_LINES = 116, 400, 50
SPDX = "# SPDX-License-Identifier: BSD-3-Clause"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def sources():
    """(path, text) of the modules and programs in Python."""
    for folder, _, names in os.walk(PEER):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if name.endswith(".py") or re.match(r"#!.*python", text):
                yield os.path.relpath(path, PEER), text


def text_faults(text):
    """What is wrong with lines."""
    rows = text.splitlines()
    if SPDX not in rows[:2]:
        yield 1, "no SPDX line first"
    if len(rows) > MAX_LINES:
        yield len(rows), f"more than {MAX_LINES} lines"
    for number, row in enumerate(rows, 1):
        if len(row) > MAX_COLUMNS:
            yield number, f"more than {MAX_COLUMNS} columns"
        if row != row.rstrip() or "\t" in row:
            yield number, "a tab, or blanks at the end"


def public(tree):
    """The classes and functions that others see, but for those within functions."""
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def tree_faults(tree):
    """What is wrong with functions and docstrings."""
    if not ast.get_docstring(tree):
        yield 1, "no docstring"
    for node in public(tree):
        if not ast.get_docstring(node) and not node.name.startswith(("test_", "setUp", "tearDown")):
            yield node.lineno, f"{node.name}: no docstring"
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno >= MAX_FUNCTION_LINES:
            yield node.lineno, f"{node.name}: more than {MAX_FUNCTION_LINES} lines"


def import_faults(tree):
    """What is not of the standard library and not of the peer."""
    own = {name.removesuffix(".py") for folder in (PEER, os.path.join(PEER, "unit"))
           for name in os.listdir(folder)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in (name.split(".")[0] for name in names):
            if name not in sys.stdlib_module_names and name not in own:
                yield node.lineno, f"imports {name}"


def unused_faults(tree):
    """Imports of which nothing is made."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                if (alias.asname or alias.name).split(".")[0] not in used:
                    yield node.lineno, f"imports {alias.name} for nothing"


def name_faults(text):
    """Names that nothing in the module makes."""
    top = symtable.symtable(text, "", "exec")
    known = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known |= {*dir(builtins), "__file__", "__path__"}
    tables = [top]
    for table in tables:
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()) and symbol.get_name() not in known:
                yield table.get_lineno(), f"{symbol.get_name()}: nothing makes it"


def faults(text):
    """(line, what is wrong there)."""
    tree = ast.parse(text)
    return [*name_faults(text), *text_faults(text), *tree_faults(tree), *import_faults(tree), *unused_faults(tree)]


class Style(unittest.TestCase):
    """Of all sources, and of bad ones."""

    def test_the_sources_keep_the_rules(self):
        """Each of them."""
        found = dict(sources())
        self.assertIn("wire/header.py", found)
        self.assertEqual([f"{path}:{line}: {what}" for path, text in found.items()
                          for line, what in faults(text)], [])

    def test_what_breaks_them_is_found(self):
        """One rule at a time."""
        good = f'{SPDX}\n"""What."""\n\n\ndef f():\n    """Does."""\n    return 1\n'
        self.assertEqual(faults(good), [])
        self.assertEqual(faults("#!/usr/bin/env python3\n" + good), [])
        for bad in (good.replace(SPDX, "# Free"), good.replace('"""What."""', ""),
                    good.replace('"""Does."""', "pass"), good + "X = 1 \n", good + "#" * (MAX_COLUMNS + 1) + "\n",
                    good + "#\n" * 400, good + "    # on\n" * 48 + "    return 2\n",
                    good + "import numpy\nnumpy.it()\n", good + "from check.more import it\nit()\n",
                    good + "import re\n",
                    good + "X = made_by_nobody\n", good.replace("return 1", "return made_by_nobody"),
                    good + "class Bare:\n    x = 1\n"):
            with self.subTest(bad=bad[-40:]):
                self.assertEqual(len(faults(bad)), 1)

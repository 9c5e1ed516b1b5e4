# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios, a module for each part of a document."""
import importlib
import pkgutil

from scene import scenario


def load():
    """Returns all scenarios, in the order of the files and of their places in them."""
    if not scenario.ALL:
        for name in sorted(module.name for module in pkgutil.iter_modules(__path__)):
            importlib.import_module(f'{__name__}.{name}')
    return scenario.ALL

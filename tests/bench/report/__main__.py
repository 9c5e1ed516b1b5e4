# SPDX-License-Identifier: BSD-3-Clause
"""usage: python3 report DIR: makes DIR/page.html of the samples there, and prints the tables."""

import os
import sys

import page
import table
from samples import Run


def main():
    """Returns the exit status."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    run = Run.load(sys.argv[1])
    with open(os.path.join(sys.argv[1], "page.html"), "w", encoding="utf-8") as to:
        to.write(page.page(run))
    print(table.text(run), end="")
    return 0


sys.exit(main())

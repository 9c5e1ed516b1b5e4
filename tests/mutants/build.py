# SPDX-License-Identifier: BSD-3-Clause
"""One build with all mutants: a configured directory, whose sources with switches precede those of the tree.

make looks for a source in the folder of the build first, and CPPFLAGS has the compiler look there for headers first (see
`mutants` in ./dev). So only the files that have a mutant are written there.
"""
import re
import subprocess
import threading

import table


class Build:
    """A build directory, configured as in tests/README.md."""

    def __init__(self, folder, tree, jobs):
        self.folder = folder
        self.tree = tree
        self._jobs = jobs
        self._lock = threading.Lock()
        self._made = set()

    def write(self, mutants, only_try=False):
        """Writes the sources with the switches of all mutants, or only checks that it can.

        Raises table.Wrong where one of them does not apply.
        """
        wrong, texts = [], {}
        for name in sorted({mutant.file for mutant in mutants}):
            of_file = [mutant for mutant in mutants if mutant.file == name]
            try:
                texts[name] = table.apply(self._right(name), of_file)
            except (table.Wrong, OSError) as error:
                wrong += self._each(name, of_file) or [str(error)]
        if wrong:
            raise table.Wrong('\n'.join(wrong))
        if only_try:
            return
        for path in [*self.folder.glob('lib/**/*.[ch]'), *self.folder.glob('daemon/**/*.[ch]')]:
            name = str(path.relative_to(self.folder))
            if name not in texts and (self.tree / name).exists():
                texts[name] = self._right(name)       # had a mutant once: objects that were made of it are older
        for name, text in texts.items():
            self._put(name, text)

    def _right(self, name):
        return (self.tree / name).read_text(encoding='utf-8')

    def _each(self, name, mutants):
        """Returns the errors of each mutant of a file alone."""
        wrong = []
        for mutant in mutants:
            try:
                table.span(self._right(name), mutant)
            except (table.Wrong, OSError) as error:
                wrong.append(str(error))
        return wrong

    def _put(self, name, text):
        path = self.folder / name
        if path.exists():
            if path.read_text(encoding='utf-8') == text:
                return
        elif name.endswith('.h'):
            for made in self.folder.glob('**/*.o'):   # which have the header of the tree
                made.unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')

    def make(self, *targets):
        """Makes the targets, each once, with make's output on standard output. Returns whether that succeeded."""
        with self._lock:
            missing = [target for target in targets if target not in self._made]
            if not missing:
                return True
            command = ['make', '-C', str(self.folder), '-s', f'-j{self._jobs}']
            for what in (['daemon/base/paths.h', 'daemon/http/page_html.h', 'tests/lib/time_limit'], missing):
                done = subprocess.run(command + what, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True, check=False)
                if done.returncode:
                    said = [line for line in done.stdout.splitlines() if not re.match(r'  [A-Z]+ ', line)]
                    print('\n'.join(f'# {line}' for line in said[-30:]))
                    return False
            self._made.update(missing)
            return True

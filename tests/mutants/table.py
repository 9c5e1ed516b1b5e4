# SPDX-License-Identifier: BSD-3-Clause
"""The tables of mutants, and sources that contain all of them.

A mutant is a place in a source, which is right, and what stands there instead once the mutant is chosen:

    A3.3-4 A3.3-5 lib/rpcrdma/credits.h:credit_window_open
    - window->in_flight < window->granted
    + true

The statements that it breaks come first, then file:function; lines with `-` are the place, which must be found exactly once
in that function, however its blanks are; lines with `+` are what breaks it. A place that ends with `;` or `}` is one statement or
several of C, any other one, and one in brackets, is an expression. `+` alone is nothing. Without `:function` the whole file is searched.
"""
import dataclasses
import re

KINDS = '+-'


class Wrong(Exception):
    """An invalid table."""


@dataclasses.dataclass
class Mutant:
    """A mutant of a table, selected by its number."""
    number: int
    where: str          # of the table, FILE:LINE
    tags: list
    file: str
    function: str
    right: str
    broken: str

    @property
    def is_statement(self):
        """Returns whether it replaces statements, not an expression."""
        right = self.right.strip()
        return right[-1] == ';' or (right[-1] == '}' and right[0] != '(')

    def __str__(self):
        place = f'{self.file}:{self.function}' if self.function else self.file
        right, broken = (' '.join(text.split()) for text in (self.right, self.broken))
        return f'{place}: "{right}" becomes "{broken}"'


def read(paths, root):
    """Returns the mutants of all tables, numbered from 1 in their order."""
    mutants = []
    for path in paths:
        block, begin = [], 0
        for number, line in enumerate([*path.read_text(encoding='utf-8').splitlines(), ''], 1):
            if line.startswith('#'):
                continue
            if line.strip():
                begin = begin if block else number
                block.append(line)
            elif block:
                mutants.append(_mutant(len(mutants) + 1, f'{path.relative_to(root)}:{begin}', block))
                block = []
    return mutants


def _mutant(number, where, block):
    words = block[0].split()
    lines = {kind: [line[1:].removeprefix(' ') for line in block[1:] if line[0] == kind] for kind in KINDS}
    if len(words) < 2 or any(line[0] not in KINDS for line in block[1:]) or not all(lines.values()):
        raise Wrong(f'{where}: not TAG... FILE:FUNCTION, lines with - and lines with +')
    file, _colon, function = words[-1].partition(':')
    right, broken = '\n'.join(lines['-']), '\n'.join(lines['+'])
    if not right.strip():
        raise Wrong(f'{where}: no place')
    return Mutant(number, where, words[:-1], file, function, right, broken)


def _body(text, function):
    """Returns the begin and the end of the function's body in text, or None. Its brace is alone on a line."""
    head = re.search(rf'^[A-Za-z_][^\n;=]*\b{re.escape(function)}\([^;{{}}]*\)\s*\n{{', text, re.MULTILINE)
    end = head and text.find('\n}', head.end())
    return (head.end(), end + 2) if head and end >= 0 else None


def span(text, mutant):
    """Returns (begin, end) of its place in the text of its file. Raises Wrong unless it occurs exactly once."""
    body = _body(text, mutant.function) if mutant.function else (0, len(text))
    if body is None:
        raise Wrong(f'{mutant.where}: {mutant.file} has no function {mutant.function}')
    words = r'\s+'.join(re.escape(word) for word in mutant.right.split())
    first, last = mutant.right.split()[0][0], mutant.right.split()[-1][-1]
    edges = [r'(?<!\w)' if re.match(r'\w', first) else '', r'(?!\w)' if re.match(r'\w', last) else '']
    found = list(re.compile(edges[0] + words + edges[1]).finditer(text, *body))
    if len(found) != 1:
        raise Wrong(f'{mutant.where}: does not apply: its place is {len(found)} times in {mutant.file}:{mutant.function}: '
                    f'{" ".join(mutant.right.split())}')
    return found[0].span()


def apply(text, mutants):
    """Returns the text of a file with a switch at each place. Raises Wrong if a mutant does not apply."""
    places = {}
    for mutant in mutants:
        places.setdefault(span(text, mutant), []).append(mutant)
    return _render(text, 0, len(text), sorted(places.items(), key=lambda place: (place[0][0], -place[0][1])))


def _render(text, begin, end, places):
    """Returns text from begin to end with its places. A place within another one follows it."""
    out, at = [], begin
    while places:
        (first, last), mutants = places[0]
        inner = [place for place in places[1:] if place[0][0] < last]
        places = places[1 + len(inner):]
        if any(place[0][1] > last for place in inner):
            raise Wrong(f'{mutants[0].where}: overlaps {inner[0][1][0].where}')
        out += [text[at:first], _switch(mutants, _render(text, first, last, inner))]
        at = last
    return ''.join([*out, text[at:end]])


def _switch(mutants, right):
    if len({mutant.is_statement for mutant in mutants}) != 1:
        raise Wrong(f'{mutants[0].where}: is a statement here and an expression there')
    if mutants[0].is_statement:
        broken = ''.join(f'if (mutant_is({mutant.number})) {{ {_one_line(mutant)} }} else ' for mutant in mutants)
        return f'{{ {broken}{{ {right} }} }}'
    broken = ''.join(f'mutant_is({mutant.number}) ? ({_one_line(mutant)}) : ' for mutant in mutants)
    return f'({broken}({right}))'


def _one_line(mutant):
    return ' '.join(mutant.broken.split('\n'))

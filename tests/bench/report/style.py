# SPDX-License-Identifier: BSD-3-Clause
"""The style of the page: on light and on dark."""

STYLE = """
:root { color-scheme: light dark; --back: #fbfaf8; --card: #fff; --text: #22252a; --muted: #6b7078; --grid: #e3e1dc;
  --even: #9a9da3; --ours: #1f6fd6; --haproxy: #d9822b; --copy: #6c8f5c; --socat: #a9865b; --none: #9aa0a8;
  --beside: #8a5fd0; --good: #1d8a4e; --fair: #b07a00; --poor: #c8403a; }
@media (prefers-color-scheme: dark) {
  :root { --back: #15171a; --card: #1d2024; --text: #e6e7e9; --muted: #9aa0a8; --grid: #2e3238; --even: #767c85;
    --ours: #5fa2f5; --haproxy: #eda257; --copy: #93b983; --socat: #c9a97e; --none: #7d838b; --beside: #b294ea;
    --good: #4fc185; --fair: #dcae4a; --poor: #ee7a74; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 84rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.9rem; font-weight: 650; letter-spacing: -.02em; margin: 0; }
h2 { font-size: 1.2rem; font-weight: 620; margin: 0; }
p { color: var(--muted); margin: .2rem 0 1rem; max-width: 60rem; }
p.small { font-size: .82rem; }
section { background: var(--card); border: 1px solid var(--grid); border-radius: 12px; padding: 1.3rem 1.5rem; margin-top: 1.4rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(23rem, 1fr)); gap: 1.6rem 2rem; align-items: start; }
.plot { width: 100%; height: auto; display: block; overflow: visible; }
.single .plot { max-width: 75rem; }
.tiles { display: flex; flex-wrap: wrap; gap: 1rem; }
.tile { padding: .6rem 1.2rem; border-radius: 10px; border: 1px solid var(--grid); background: var(--card); }
.tile b { font-size: 1.7rem; margin-right: .6rem; font-variant-numeric: tabular-nums; }
.tile.good b, td.good { color: var(--good); } .tile.fair b, td.fair { color: var(--fair); } .tile.none b, td.none { color: var(--muted); }
.tile.poor b, td.poor { color: var(--poor); }
text { fill: var(--text); font-size: 12px; font-family: inherit; }
text.small { fill: var(--muted); font-size: 11px; }
text.title { font-weight: 600; font-size: 13px; }
text.figure { font-variant-numeric: tabular-nums; }
.grid-line, .grid line.grid, line.grid { stroke: var(--grid); }
line.even { stroke: var(--even); stroke-width: 1.5; }
line.aim { stroke: var(--text); stroke-width: 3; opacity: .55; }
line.least { stroke: var(--text); stroke-width: 1.2; opacity: .5; }
line.whisker { stroke: var(--text); stroke-width: 1.4; opacity: .65; }
line.range { stroke-width: 2.5; opacity: .55; }
.ours { --c: var(--ours); } .haproxy { --c: var(--haproxy); } .copy { --c: var(--copy); } .socat { --c: var(--socat); }
.none { --c: var(--none); } .beside { --c: var(--beside); } .good { --c: var(--good); } .fair { --c: var(--fair); } .poor { --c: var(--poor); }
.bar, .dot { fill: var(--c); } .ring { fill: var(--card); stroke: var(--c); stroke-width: 2; } .range { stroke: var(--c); }
.bar.pale, .dot.pale { opacity: .55; } .bar.part1 { opacity: .6; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th { text-align: right; font-weight: 600; color: var(--muted); } td { text-align: right; }
th, td { padding: .22rem .8rem; border-bottom: 1px solid var(--grid); } th:first-child, td:first-child { text-align: left; padding-left: 0; }
summary { cursor: pointer; font-weight: 600; padding: .5rem 0; }
ul { margin: .4rem 0 0; padding-left: 1.2rem; }
"""

"""The look of the page: light and dark, wide and narrow."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #22221f; --faint: #62625e; --panel: #f7f7f5; --rule: #deded9;
  --grid: #e4e4e0; --others: #b9b9b3; --link: #00588a;
  --line1: #0072b2; --line2: #d98c00; --line3: #009e73; --line4: #d55e00; --line5: #c0609a;
  --line6: #3fa3dd; --line7: #8c6bb1;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #191918; --ink: #ececea; --faint: #a3a39e; --panel: #232322; --rule: #3b3b39;
    --grid: #333331; --others: #6a6a66; --link: #8cc8f0;
    --line1: #4ba3e0; --line2: #f0b030; --line3: #34c99a; --line4: #f2803a; --line5: #e394c3;
    --line6: #9bd5f7; --line7: #b59ad6;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 80rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue",
  "Liberation Sans", Arial, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 {
  font-size: 1.3rem; margin: 3rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--rule);
}
h3 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
p { max-width: 46rem; margin: .5rem 0; overflow-wrap: break-word; }
a { color: var(--link); }
code { font: .9em ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
nav { display: flex; flex-wrap: wrap; gap: .35rem 1.1rem; }
nav a { padding: .15rem 0; }
.note { font-size: .85rem; color: var(--faint); }
.wide { overflow-x: auto; max-width: 100%; }
.wide:focus-visible, summary:focus-visible, a:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px;
}
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td {
  padding: .3rem .8rem .3rem 0; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--rule); font-weight: 400;
}
thead th {
  color: var(--faint); font-size: .82rem; line-height: 1.25; vertical-align: bottom;
  white-space: normal; max-width: 7.5rem; overflow-wrap: break-word;
}
.word { text-align: left; }
td.word { white-space: normal; max-width: 44rem; overflow-wrap: break-word; }
td.word:last-child { min-width: 11rem; }
tbody tr:hover { background: var(--panel); }
td small, th small { display: block; color: var(--faint); font-size: .76rem; line-height: 1.3; }
b { font-weight: 700; }
.legend {
  display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; list-style: none; padding: 0;
  margin: .25rem 0 .5rem; font-size: .85rem;
}
.legend li { display: flex; align-items: baseline; gap: .4rem; }
.legend svg { width: 34px; height: 12px; flex: none; }
.panels {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: .75rem;
}
.panels.alone { grid-template-columns: minmax(0, 40rem); }
figure { margin: 0; min-width: 0; }
.alone figure div { overflow-x: auto; }
figure svg {
  display: block; width: 100%; max-width: calc(1.4 * var(--wide)); height: auto;
  font-family: inherit; overflow: visible;
}
.alone figure svg { min-width: calc(1.15 * var(--wide)); }
figure svg text { paint-order: stroke; stroke: var(--paper); stroke-width: 2px; }
figcaption { font-size: .85rem; color: var(--faint); margin: .4rem 0 .2rem; }
details { margin: 1rem 0; border: 1px solid var(--rule); border-radius: 6px; padding: 0 .9rem; }
summary { cursor: pointer; padding: .6rem 0; font-weight: 600; }
details[open] { padding-bottom: .9rem; }
@media (max-width: 40rem) {
  body { padding: 1rem .9rem 3rem; }
  h1 { font-size: 1.4rem; }
  nav { gap: .1rem 1rem; }
  nav a { padding: .3rem 0; }
  th.word[scope="row"] {
    white-space: normal; max-width: 9rem; overflow-wrap: break-word; position: sticky; left: 0;
    background: var(--paper);
  }
  .panels { grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
}
@media print {
  body { max-width: none; }
  figure, tr { break-inside: avoid; }
}
"""

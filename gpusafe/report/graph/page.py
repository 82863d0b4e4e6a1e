"""The fixed parts of the HTML page: its style and its script. Nothing in it asks for anything from a network."""

from __future__ import annotations

STYLE = """
:root { --paper: #ffffff; --ink: #1c2128; --faint: #6b7280; --line: #c9ced6; --box: #f4f6f8; --work: #dbeafe;
  --event: #e0f2f1; --sync: #dcfce7; --memory: #f3e8ff; --gap: #fef3c7; --red: #d11a2a; --edge: #5b6675; }
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { --paper: #14181d; --ink: #e6e9ee;
  --faint: #98a2b0;
  --line: #3a424d; --box: #20262e; --work: #1d3557; --event: #17393a; --sync: #1b3b28; --memory: #37264d;
  --gap: #4a3b13;
  --red: #ff5c68; --edge: #9aa5b4; } }
:root[data-theme=dark] { --paper: #14181d; --ink: #e6e9ee; --faint: #98a2b0; --line: #3a424d; --box: #20262e;
  --work: #1d3557; --event: #17393a; --sync: #1b3b28; --memory: #37264d; --gap: #4a3b13; --red: #ff5c68;
  --edge: #9aa5b4; }
body { margin: 0 auto; max-width: 1500px; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .3rem; } .faint { color: var(--faint); }
button { background: var(--box); color: var(--ink); border: 1px solid var(--line); border-radius: 4px;
  padding: 2px 10px; }
.view { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; cursor: grab; height: 60vh; }
.view svg { width: 100%; height: 100%; display: block; }
svg text { font: 11px ui-monospace, monospace; fill: var(--ink); } svg text.title { font-weight: bold; }
svg text.reason { fill: var(--faint); font-size: 9px; } svg line.lane { stroke: var(--line); stroke-dasharray: 3 4; }
svg rect { fill: var(--box); stroke: var(--line); } .work rect { fill: var(--work); }
  .event rect { fill: var(--event); }
.sync rect { fill: var(--sync); } .memory rect { fill: var(--memory); } .gap rect { fill: var(--gap); }
svg path { fill: none; stroke: var(--edge); stroke-width: 1.2; } svg .race path { stroke: var(--red);
  stroke-width: 2.5; }
svg .race text { fill: var(--red); font-weight: bold; } .red rect { stroke: var(--red); stroke-width: 2.5; }
svg.hovering .box:not(.near), svg.hovering .edge:not(.near) { opacity: .25; }
.fault { color: var(--red); font-weight: 600; } pre { overflow: auto; border: 1px solid var(--line);
  border-radius: 6px;
  padding: .5rem 0; font: 12px/1.5 ui-monospace, monospace; max-height: 60vh; }
pre span { display: block; padding: 0 .8rem; } pre span:target { background: var(--gap); }
pre i { color: var(--faint); font-style: normal; display: inline-block; width: 3.5em; user-select: none; }
"""

SCRIPT = """
document.getElementById('theme').addEventListener('click', () => {
  const root = document.documentElement, now = root.dataset.theme ||
    (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset.theme = now === 'dark' ? 'light' : 'dark';
});
for (const view of document.querySelectorAll('.view')) {
  const svg = view.querySelector('svg'), full = svg.getAttribute('viewBox').split(' ').map(Number);
  let box = full.slice(), held = null;
  const show = () => svg.setAttribute('viewBox', box.join(' '));
  const zoom = (factor, x, y) => {
    box = [x - (x - box[0]) * factor, y - (y - box[1]) * factor, box[2] * factor, box[3] * factor]; show();
  };
  const middle = factor => zoom(factor, box[0] + box[2] / 2, box[1] + box[3] / 2);
  const at = event => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [point.x, point.y];
  };
  const bar = view.previousElementSibling;
  bar.querySelector('.in').addEventListener('click', () => middle(1 / 1.3));
  bar.querySelector('.out').addEventListener('click', () => middle(1.3));
  bar.querySelector('.fit').addEventListener('click', () => { box = full.slice(); show(); });
  view.addEventListener('wheel', event => {
    event.preventDefault(); zoom(event.deltaY > 0 ? 1.12 : 1 / 1.12, ...at(event));
  }, { passive: false });
  view.addEventListener('pointerdown', event => { held = at(event); });
  window.addEventListener('pointerup', () => { held = null; });
  view.addEventListener('pointermove', event => {
    if (!held) return;
    const now = at(event); box[0] += held[0] - now[0]; box[1] += held[1] - now[1]; show();
  });
  for (const node of svg.querySelectorAll('.box')) {
    const edges = [...svg.querySelectorAll('.edge')].filter(e => [e.dataset.from, e.dataset.to].includes(node.id));
    const near = new Set([node.id, ...edges.flatMap(e => [e.dataset.from, e.dataset.to])]);
    const mark = on => {
      svg.classList.toggle('hovering', on);
      for (const e of edges) e.classList.toggle('near', on);
      for (const id of near) document.getElementById(id).classList.toggle('near', on);
    };
    node.addEventListener('pointerenter', () => mark(true));
    node.addEventListener('pointerleave', () => mark(false));
  }
}
document.body.dataset.ready = 'yes';
"""

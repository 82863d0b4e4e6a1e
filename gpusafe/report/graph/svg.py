"""One picture as an SVG: lanes from left to right, operations from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from gpusafe.report.graph.model import Box, Picture
from gpusafe.span import Span

LANE, ROW, WIDTH, HEIGHT, TOP = 250, 40, 200, 26, 40
_FITS = 30
_ARROW = (
    '<defs><marker id="{0}tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 L8 4 L0 8"/></marker></defs>'
)


def svg(picture: Picture, prefix: str, link: Callable[[Span], str]) -> str:
    """The drawing; ``prefix`` keeps its ids apart from other drawings', ``link`` gives the address of a place."""
    width = LANE * len(picture.lanes) + 20
    height = TOP + ROW * (len(picture.boxes) + 1)
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img">', _ARROW.format(prefix)]
    for number, lane in enumerate(picture.lanes):
        middle = _left(number) + WIDTH // 2
        parts.append(f'<line class="lane" x1="{middle}" x2="{middle}" y1="{TOP}" y2="{height - 10}"/>')
        parts.append(
            f'<text class="title" x="{middle}" y="22" text-anchor="middle">{escape(_short(lane.title))}</text>'
        )
    parts += _edges(picture, prefix)
    parts += [_box(item, picture, prefix, link) for item in picture.boxes]
    return "\n".join([*parts, "</svg>"])


def _left(lane: int) -> int:
    return 20 + LANE * lane


def _top(row: int) -> int:
    return TOP + ROW * row


def _box(item: Box, picture: Picture, prefix: str, link: Callable[[Span], str]) -> str:
    red = " red" if item.ident in picture.racing else ""
    x, y = _left(item.lane), _top(item.row)
    place = f"{item.span.file}:{item.span.line}"
    after = [f"after {e.reason}" for e in picture.edges if e.target == item.ident]
    hover = escape("\n".join(dict.fromkeys([item.label, place, *(f"in {c}" for c in item.calls), *after])))
    return (
        f'<a href="{escape(link(item.span))}"><g class="box {item.kind}{red}" id="{prefix}{item.ident}">'
        f'<title>{hover}</title><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>'
        f'<text x="{x + 8}" y="{y + 17}">{escape(_short(item.label))}</text></g></a>'
    )


def _edges(picture: Picture, prefix: str) -> Iterator[str]:
    boxes = {b.ident: b for b in picture.boxes}
    drawn = [(e.source, e.target, e.reason, "edge", e.reason) for e in picture.edges]
    drawn += [(r.first, r.second, r.rule, "edge race", r.message) for r in picture.races]
    for source, target, words, kind, hover in drawn:
        curve, x, y = _curve(boxes[source], boxes[target])
        tip = f' marker-end="url(#{prefix}tip)"' if kind == "edge" else ""
        yield (
            f'<g class="{kind}" data-from="{prefix}{source}" data-to="{prefix}{target}"><title>{escape(hover)}</title>'
            f'<path d="{curve}"{tip}/><text class="reason" x="{x}" y="{y}">{escape(words)}</text></g>'
        )


def _curve(first: Box, second: Box) -> tuple[str, int, int]:
    """A path between two boxes, and where its words stand."""
    y1, y2 = _top(first.row) + HEIGHT // 2, _top(second.row) + HEIGHT // 2
    if first.lane == second.lane:
        x = _left(first.lane) + WIDTH
        return f"M{x} {y1} C{x + 40} {y1} {x + 40} {y2} {x} {y2}", x + 8, (y1 + y2) // 2
    rightwards = first.lane < second.lane
    x1 = _left(first.lane) + (WIDTH if rightwards else 0)
    x2 = _left(second.lane) + (0 if rightwards else WIDTH)
    bend = 30 if rightwards else -30
    return f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}", (x1 + x2) // 2 - 20, (y1 + y2) // 2 - 4


def _short(text: str) -> str:
    return text if len(text) <= _FITS else text[: _FITS - 1] + "\u2026"

"""Pictures as one HTML page that needs nothing else: it opens without a network, zooms, and leads to source lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from gpusafe.report.graph.model import Picture
from gpusafe.report.graph.page import SCRIPT, STYLE
from gpusafe.report.graph.svg import svg
from gpusafe.report.style import Style
from gpusafe.span import Span

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_BAR = (
    '<p><button class="in" title="larger">+</button> <button class="out" title="smaller">\u2212</button> '
    '<button class="fit">all of it</button></p>'
)
_MOST_LINES = 5_000


def render(pictures: Sequence[Picture], sources: Mapping[str, str], style: Style) -> str:
    """The page: each picture, then the source text that they lead to."""
    files = {f: n for n, f in enumerate(dict.fromkeys(b.span.file for p in pictures for b in p.boxes))}

    def link(span: Span) -> str:
        return f"#s{files[span.file]}L{span.line}"

    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>launch graph</title>',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}</style></head><body>",
        '<h1>Launch graph <button id="theme" title="light or dark">\u25d0</button></h1>',
    ]
    if not pictures:
        parts.append("<p>no host function with GPU work</p>")
    for number, picture in enumerate(pictures):
        parts += _section(picture, svg(picture, f"p{number}", link))
    for file, number in files.items():
        parts += _source(file, number, sources.get(file, ""))
    return "\n".join([*parts, f"<script>{SCRIPT}</script></body></html>", ""])


def _section(picture: Picture, drawing: str) -> Iterator[str]:
    yield f"<h2>{escape(picture.title)}: {escape(picture.verdict)}</h2>"
    about = [f"one of {picture.paths} paths"] if picture.paths > 1 else []
    about += [f"when {condition}" for condition in picture.conditions]
    about += [f"{picture.left_out} more operations are left out"] if picture.left_out else []
    yield from (f'<div class="faint">{escape(words)}</div>' for words in about)
    yield from (f'<div class="fault">{escape(f"{race.rule}: {race.message}")}</div>' for race in picture.races)
    yield _BAR
    yield f'<div class="view">{drawing}</div>'


def _source(file: str, number: int, text: str) -> Iterator[str]:
    yield f"<h2>{escape(file)}</h2><pre>"
    lines = text.splitlines()[:_MOST_LINES]
    yield "".join(f'<span id="s{number}L{n}"><i>{n}</i>{escape(line)}</span>' for n, line in enumerate(lines, 1))
    yield "</pre>"

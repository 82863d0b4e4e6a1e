"""Source excerpts in rustc's layout: line numbers, `^^^` under the primary place, `---` under the others, labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpusafe.report.marks import Mark, mark_lines
from gpusafe.report.source_line import SourceLine, shown
from gpusafe.report.style import Style
from gpusafe.span import Span
from gpusafe.verdict import Site

_MAX_BAR = 6  # a multi-line place with more lines than this is shown by its first and last ones


@dataclass(frozen=True, slots=True)
class _Label:
    """A site with what sets it apart: primary or not, and the depth of its bar when it spans lines (0: none)."""

    span: Span
    text: str
    primary: bool
    depth: int


def snippets(
    primary: Site, related: Sequence[Site], sources: Mapping[str, str], style: Style, gutter: int
) -> list[str]:
    """The excerpts of all files that the sites name, the primary one's first; ``gutter``: width of the line numbers."""
    out: list[str] = []
    for place, (file, labels) in enumerate(_by_file(primary, related).items()):
        head = labels[0].span
        arrow = "-->" if place == 0 else ":::"
        out.append(f"{' ' * gutter}{style.paint('frame', arrow)} {file}:{head.line}:{head.col}")
        text = sources.get(file)
        if text is not None:
            out += _excerpt(text.split("\n"), labels, style, gutter)
    return out


def gutter_width(sites: Iterable[Site]) -> int:
    """Digits that the largest line number of an excerpt needs."""
    return max((len(str(site.span.end_line)) for site in sites), default=1)


def _by_file(primary: Site, related: Sequence[Site]) -> dict[str, list[_Label]]:
    files: dict[str, list[tuple[Site, bool]]] = {primary.span.file: []}
    seen: set[tuple[Span, str]] = set()
    for site in (primary, *related):
        if (site.span, site.label) not in seen:
            seen.add((site.span, site.label))
            files.setdefault(site.span.file, []).append((site, site is primary))
    return {file: _labels(sites) for file, sites in files.items()}


def _labels(sites: list[tuple[Site, bool]]) -> list[_Label]:
    """The labels of one file; bars of places that enclose others run further left."""
    long = sorted(
        {site.span for site, _ in sites if site.span.end_line > site.span.line}, key=lambda s: (s.line, -s.end_line)
    )
    depths = {span: place for place, span in enumerate(long, 1)}
    return [_Label(site.span, site.label, primary, depths.get(site.span, 0)) for site, primary in sites]


def _excerpt(lines: list[str], labels: list[_Label], style: Style, gutter: int) -> list[str]:
    last = len(lines)
    labels = [label for label in labels if 1 <= label.span.line <= last]
    if not labels:
        return []
    blank = f"{' ' * gutter} {style.paint('frame', '|')}"
    depth = max(label.depth for label in labels)
    out = [blank]
    previous = 0
    for number in _shown_lines(labels, last):
        if previous and number == previous + 2:
            out.append(_row(number - 1, shown(lines[number - 2]), labels, depth, style, gutter))
        elif previous and number > previous + 1:
            out.append(style.paint("frame", "..."))
        source = shown(lines[number - 1])
        out.append(_row(number, source, labels, depth, style, gutter))
        out += [f"{blank} {line}".rstrip() for line in _below(number, source, labels, depth, style)]
        previous = number
    out.append(blank)
    return out


def _shown_lines(labels: Iterable[_Label], last: int) -> list[int]:
    lines: set[int] = set()
    for label in labels:
        first, end = label.span.line, min(label.span.end_line, last)
        if end - first < _MAX_BAR:
            lines.update(range(first, end + 1))
        else:
            lines.update((first, first + 1, end - 1, end))
    return sorted(lines)


def _row(number: int, source: SourceLine, labels: list[_Label], depth: int, style: Style, gutter: int) -> str:
    """A source line with its number and the bars that run beside it."""
    bars = [" "] * depth
    for label in labels:
        if not label.depth:
            continue
        if label.span.line == number and _opens_flush(label, source):
            bars[label.depth - 1] = _tint(label, "/", style)
        elif label.span.line < number <= label.span.end_line:
            bars[label.depth - 1] = _tint(label, "|", style)
    beside = "".join(bars) + (" " if depth else "")
    width = max(20, style.width - gutter - 3 - (depth + 1 if depth else 0))
    text = source.text if len(source.text) <= width else source.text[: width - 3] + "..."
    return f"{style.paint('frame', f'{number:>{gutter}} |')} {beside}{text}".rstrip()


def _opens_flush(label: _Label, source: SourceLine) -> bool:
    return source.column(label.span.col) <= source.indent


def _tint(label: _Label, text: str, style: Style) -> str:
    return style.paint("error" if label.primary else "secondary", text)


def _below(number: int, source: SourceLine, labels: list[_Label], depth: int, style: Style) -> list[str]:
    """The marker lines under a source line."""
    out: list[str] = []
    here = [label for label in labels if label.span.line == number and not label.depth]
    marks = [_mark(label, source, style.width) for label in here]
    side = _side(number, source, labels, depth, style)
    out += [side + line for line in mark_lines(marks, style)]
    outer_first = sorted(labels, key=lambda label: label.depth)
    for label in outer_first:
        if label.depth and label.span.line == number and not _opens_flush(label, source):
            column = source.column(label.span.col)
            out.append(_elbow(label, number, column, "", labels, depth, style, opening=True))
    for label in reversed(outer_first):
        if label.depth and label.span.end_line == number:
            column = max(source.column(label.span.end_col) - 1, 0)
            out.append(_elbow(label, number, column, label.text, labels, depth, style, opening=False))
    return out


def _mark(label: _Label, source: SourceLine, width: int) -> Mark:
    start = min(source.column(label.span.col), width)
    end = min(max(source.column(label.span.end_col), start + 1), width)
    return Mark(start, max(end, start + 1), label.text, label.primary)


def _side(number: int, source: SourceLine, labels: list[_Label], depth: int, style: Style) -> str:
    bars = [" "] * depth
    for label in labels:
        begun = label.span.line < number or (label.span.line == number and _opens_flush(label, source))
        if label.depth and begun and number <= label.span.end_line:
            bars[label.depth - 1] = _tint(label, "|", style)
    return "".join(bars) + (" " if depth else "")


def _elbow(
    label: _Label, number: int, column: int, text: str, labels: list[_Label], depth: int, style: Style, *, opening: bool
) -> str:
    """The line that leads from a bar to the first or last character of its place."""
    bars = [" "] * label.depth
    for other in labels:
        if other.depth and other.depth < label.depth and other.span.line <= number <= other.span.end_line:
            bars[other.depth - 1] = _tint(other, "|", style)
    bars[label.depth - 1] = " " if opening else _tint(label, "|", style)
    mark = "^" if label.primary else "-"
    run = "_" * (depth - label.depth + 1 + column) + mark
    return "".join(bars) + _tint(label, run + (f" {text}" if text else ""), style)

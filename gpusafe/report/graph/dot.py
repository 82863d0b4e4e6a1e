"""Pictures as one DOT graph for Graphviz: a cluster for each function, in it one for each lane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpusafe.report.graph.model import Picture
from gpusafe.report.style import Style

_SHAPES = {"work": "box", "event": "cds", "sync": "hexagon", "memory": "note", "gap": "octagon", "host": "plaintext"}


def render(pictures: Sequence[Picture], sources: Mapping[str, str], style: Style) -> str:
    """All pictures in one directed graph."""
    lines = ["digraph gpusafe {", "  node [fontname=monospace, fontsize=10];", "  edge [fontsize=9];"]
    for number, picture in enumerate(pictures):
        lines += [f"  {line}" for line in _one(picture, f"f{number}_")]
    return "\n".join([*lines, "}", ""])


def _one(picture: Picture, prefix: str) -> Iterator[str]:
    yield f"subgraph cluster_{prefix} {{"
    yield f"  label={_quoted(f'{picture.title}: {picture.verdict}')};"
    for number, lane in enumerate(picture.lanes):
        boxes = [b for b in picture.boxes if b.lane == number]
        yield f"  subgraph cluster_{prefix}{number} {{"
        yield f"    label={_quoted(lane.title)};"
        for item in boxes:
            label = _quoted(f"{item.label}\n{item.span.file.rsplit('/', 1)[-1]}:{item.span.line}")
            color = ", color=red, fontcolor=red, penwidth=2" if item.ident in picture.racing else ""
            yield f"    {prefix}{item.ident} [label={label}, shape={_SHAPES[item.kind]}{color}];"
        reason = "" if lane.is_host else ' [tooltip="stream order"]'
        if len(boxes) > 1:
            yield f"    {' -> '.join(prefix + b.ident for b in boxes)}{reason};"
        yield "  }"
    for edge in picture.edges:
        yield f"  {prefix}{edge.source} -> {prefix}{edge.target} [label={_quoted(edge.reason)}, constraint=false];"
    for race in picture.races:
        label = _quoted(race.rule)
        yield f"  {prefix}{race.first} -> {prefix}{race.second} [label={label}, dir=both, color=red, fontcolor=red];"
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'

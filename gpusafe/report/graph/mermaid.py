"""Pictures as a Mermaid flowchart, for Markdown: a subgraph for each function, in it one for each lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpusafe.report.graph.model import Picture
from gpusafe.report.style import Style


def render(pictures: Sequence[Picture], sources: Mapping[str, str], style: Style) -> str:
    """All pictures in one flowchart."""
    lines, red, links = ["flowchart TB"], [], 0
    for number, picture in enumerate(pictures):
        prefix = f"f{number}_"
        lines.append(f"  subgraph {prefix}all[{_quoted(f'{picture.title}: {picture.verdict}')}]")
        for column, lane in enumerate(picture.lanes):
            boxes = [b for b in picture.boxes if b.lane == column]
            lines.append(f"    subgraph {prefix}lane{column}[{_quoted(lane.title)}]")
            lines += [f"      {prefix}{b.ident}[{_quoted(f'{b.label} (line {b.span.line})')}]" for b in boxes]
            if len(boxes) > 1:
                lines.append("      " + " --> ".join(prefix + b.ident for b in boxes))
                links += len(boxes) - 1
            lines.append("    end")
        lines.append("  end")
        for edge in picture.edges:
            lines.append(f"  {prefix}{edge.source} -. {_quoted(edge.reason)} .-> {prefix}{edge.target}")
            links += 1
        for race in picture.races:
            lines.append(f"  {prefix}{race.first} x-- {_quoted(race.rule)} --x {prefix}{race.second}")
            lines.append(f"  linkStyle {links} stroke:red,stroke-width:3px")
            links += 1
        red += [prefix + ident for ident in sorted(picture.racing)]
    if red:
        lines += ["  classDef race stroke:red,stroke-width:3px", f"  class {','.join(red)} race"]
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """Mermaid reads HTML entities in quoted labels, and Markdown between backticks."""
    for char, entity in (("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "'")):
        text = text.replace(char, entity)
    return f'"{text}"'

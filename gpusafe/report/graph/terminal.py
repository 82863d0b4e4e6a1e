"""A picture as a table for terminals: a column for each lane, a row for each operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpusafe.report.graph.model import Picture
from gpusafe.report.style import Style

_MOST_LANES = 6
_COLORS = {"event": "cyan", "sync": "green", "memory": "magenta", "gap": "yellow", "host": "", "work": "bold"}


def render(pictures: Sequence[Picture], sources: Mapping[str, str], style: Style) -> str:
    """All pictures below each other."""
    out = StringIO()
    console = Console(
        file=out,
        force_terminal=style.color,
        no_color=not style.color,
        color_system="standard" if style.color else None,
        width=style.width,
    )
    if not pictures:
        console.print("no host function with GPU work", markup=False)
    for index, picture in enumerate(pictures):
        if index:
            console.print()
        _one(console, picture)
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _one(console: Console, picture: Picture) -> None:
    console.print(Text(f"{picture.title}: {picture.verdict}", "bold"))
    for words in _about(picture):
        console.print(Text(f"  {words}", "dim"))
    console.print(_table(picture))
    for race in picture.races:
        rows = {b.ident: b.row + 1 for b in picture.boxes}
        line = f"{race.rule} between {rows[race.first]} and {rows[race.second]}: {race.message}"
        console.print(Text(line, "bold red"))


def _about(picture: Picture) -> Iterator[str]:
    if picture.paths > 1:
        yield f"one of {picture.paths} paths"
    yield from (f"when {condition}" for condition in picture.conditions)
    if picture.left_out:
        yield f"{picture.left_out} more operations are left out"


def _table(picture: Picture) -> Table:
    wide = len(picture.lanes) <= _MOST_LANES
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("", justify="right")
    for title in [lane.title for lane in picture.lanes] if wide else ["lane", "operation"]:
        table.add_column(Text(title), overflow="fold")
    table.add_column("after", overflow="fold")
    table.add_column("at", overflow="fold")
    after = _after(picture)
    for item in picture.boxes:
        red = item.ident in picture.racing
        label = Text(item.label, "bold red" if red else _COLORS[item.kind])
        if wide:
            cells = [label if lane == item.lane else Text("") for lane in range(len(picture.lanes))]
        else:
            cells = [Text(picture.lanes[item.lane].title), label]
        number = Text(f"{'!' if red else ''}{item.row + 1}")
        place = Text(f"{item.span.file.rsplit('/', 1)[-1]}:{item.span.line}", "dim")
        table.add_row(number, *cells, Text(", ".join(after[item.ident]), "dim"), place)
    return table


def _after(picture: Picture) -> dict[str, list[str]]:
    rows = {b.ident: b.row + 1 for b in picture.boxes}
    found: dict[str, list[str]] = defaultdict(list)
    for edge in picture.edges:
        found[edge.target].append(f"{rows[edge.source]} ({edge.reason})")
    return found

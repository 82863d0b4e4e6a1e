"""Draws docs/terminal.svg for the README: what `gpusafe check` really prints about a part of the example crate.

Run it from anywhere: `python scripts/picture.py`; `--check` only says whether the picture is up to date.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
COMMAND = "gpusafe check fixtures/crates/example/loader"
WIDTH = 118


def drawn() -> str:
    """The picture as SVG; the same text gives the same bytes, and no font is fetched."""
    from rich.console import Console
    from rich.text import Text

    from gpusafe import options
    from gpusafe.api import analysed
    from gpusafe.report import render

    before = Path.cwd()
    os.chdir(ROOT)
    try:
        chosen = options(COMMAND.split()[-1], use_config=False, ptx="never", quiet=False, no_baseline=True)
        output = render(analysed(chosen), chosen, color=True, width=WIDTH)
    finally:
        os.chdir(before)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "dim"), COMMAND))
    console.print(Text.from_ansi(output))
    svg = console.export_svg(title="gpusafe", unique_id="gpusafe")
    svg = re.sub(r"\s*@font-face \{.*?\}\n", "\n", svg, flags=re.S)
    return re.sub(r"[ \t]+$", "", svg, flags=re.M)


def words(svg: str) -> str:
    """What the picture says, without counts of obligations, which change with the prover."""
    import html

    text = html.unescape(" ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))).replace("\xa0", " ")
    return " ".join(re.sub(r"\d+ obligations?", "obligations", text).split())


def main() -> int:
    """Write the picture, or with ``--check`` compare it."""
    sys.path.insert(0, str(ROOT))
    svg = drawn()
    if "--check" in sys.argv[1:]:
        if words(PICTURE.read_text(encoding="utf-8")) == words(svg):
            return 0
        print("docs/terminal.svg is out of date: python scripts/picture.py", file=sys.stderr)
        return 1
    PICTURE.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

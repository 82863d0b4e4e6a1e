"""The pages for beginners: their programs, put together as the page says, give the output that the page shows.

``GPUSAFE_BLESS=1 pytest tests/docs`` writes the output anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpusafe.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("start-*.md"))
BLOCK = re.compile(
    r'(?:^<!-- in place of `(?P<old>[^`]+)` -->\n)?^```\w+ title="(?P<title>[^"]+)"\n(?P<body>.*?)^```$', re.M | re.S
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_its_program_gives(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gpusafe.cli.check.terminal_width", lambda: 120)
    text = page.read_text(encoding="utf-8")
    shown, told = [], []
    for block in BLOCK.finditer(text):
        title, body = block["title"], block["body"]
        if title.startswith("$ gpusafe "):
            main([*title.split()[2:], "--color", "never"])
            told.append(capsys.readouterr().out)
            shown.append(body)
        elif (old := block["old"]) is not None:
            before = Path(title).read_text()
            assert before.count(old) == 1, f"{title}: {old!r}"
            Path(title).write_text(before.replace(old, body.removesuffix("\n")))
        else:
            Path(title).parent.mkdir(parents=True, exist_ok=True)
            Path(title).write_text(body)
    if os.environ.get("GPUSAFE_BLESS"):
        outputs = iter(told)
        page.write_text(BLOCK.sub(lambda b: _blessed(b, outputs), text), encoding="utf-8")
    assert list(map(_uncounted, shown)) == list(map(_uncounted, told))


def _uncounted(output: str) -> str:
    """How many questions stand behind a proof changes with the prover, and says nothing to beginners."""
    return re.sub(r"\d+ obligations?", "obligations", output)


def _blessed(block: re.Match[str], outputs: Iterator[str]) -> str:
    if not block["title"].startswith("$ "):
        return block[0]
    return f'```text title="{block["title"]}"\n{next(outputs)}```'

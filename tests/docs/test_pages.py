"""Links lead somewhere, every page is in the site, and what the pages tell people to type exists."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from gpusafe.cli.arguments import parse
from gpusafe.config import from_table
from gpusafe.rules import RULES

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    for link in LINK.findall(text):
        if link.startswith(("http:", "https:")):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file) if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@each_page
def test_commands_of_the_page_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each `gpusafe ...` line or span that is a whole command is one that the command line takes."""
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^(?:    |- |\$ )?((?:cargo )?gpusafe (?:[a-z]+|-).*?)(?:  +#.*| *#.*)?$", text, re.M)
    commands += re.findall(r"`((?:cargo )?gpusafe [a-z-][^`\n]*)`", text)
    for command in commands:
        words = command.removeprefix("cargo ").split()[1:]
        if not re.fullmatch(r"[\w\-=.,/: ]+", " ".join(words)) or "|" in command or words[0] in ("is", "with", "reads"):
            continue
        told = parse([word.replace("...", "x") for word in words] if words[0][0] != "-" else ["check", *words])
        assert callable(told) or told == 0 or _needs_more(words), f"{command}: {capsys.readouterr().err}"


def _needs_more(words: list[str]) -> bool:
    """A command that is named without the argument that it needs."""
    return words in (["explain"], ["baseline"], ["litmus"])


def test_the_settings_of_the_readme_can_be_read() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    assert set(from_table(tomllib.loads(block), "gpusafe.toml")) == {"fail_on", "targets", "lints", "per_path"}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_rule_and_setting_has_its_place_in_the_site() -> None:
    pages = script("docs_pages").pages()
    assert {f"rules/{code}.md" for code in RULES} <= set(pages)
    assert all(f"({code}.md)" in pages["rules/index.md"] for code in RULES)
    assert "`--fail-on`" in pages["settings.md"]
    assert "](docs/" not in pages["index.md"]


def test_the_picture_shows_what_is_printed() -> None:
    picture = script("picture")
    shown = picture.words((ROOT / "docs" / "terminal.svg").read_text(encoding="utf-8"))
    assert shown == picture.words(picture.drawn())  # `python scripts/picture.py` draws it anew


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=True))
    assert (tmp_path / "rules" / "GS101" / "index.html").is_file()

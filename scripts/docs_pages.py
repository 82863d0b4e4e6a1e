"""A hook of mkdocs: the pages that are made from the program, so that they cannot differ from it.

One page a rule (what `gpusafe explain` prints), the list of rules, the settings, and README and changelog as pages.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


def pages() -> dict[str, str]:
    """The generated pages: Markdown by path below docs/."""
    from gpusafe.report.explain import markdown
    from gpusafe.rules import RULES

    made = {"index.md": _as_page("README.md"), "changelog.md": _as_page("CHANGELOG.md"), "settings.md": _settings()}
    made["rules/index.md"] = _rules()
    for rule in RULES.values():
        made[f"rules/{rule.code}.md"] = markdown(rule) + "\n"
    return made


def _as_page(name: str) -> str:
    """A file of the project's root as a page: links into docs/ lose their folder, others to files their link."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](").replace('src="docs/', 'src="')
    text = text.replace("](CHANGELOG.md)", "](changelog.md)")
    return re.sub(r"\[([^\]]+)\]\(LICENSE[\w-]*\)", r"\1", text)


def _rules() -> str:
    from gpusafe.rules import RULES

    lines = ["# Rules", "", "Codes and names are stable; either can be used wherever a rule is named."]
    family = ""
    for rule in RULES.values():
        if rule.family != family:
            family = rule.family
            lines += ["", f"## {family[:1].upper()}{family[1:]}", "", "| code | name | level | |", "|---|---|---|---|"]
        level = "not yet" if not rule.checked else rule.level.value if rule.enabled else f"{rule.level.value}, off"
        summary = rule.summary.replace("|", "\\|")
        lines.append(f"| [{rule.code}]({rule.code}.md) | {rule.name} | {level} | {summary} |")
    return "\n".join(lines) + "\n"


def _settings() -> str:
    from gpusafe.config import Options, sample, settings

    lines = [
        "# Settings",
        "",
        "The command line goes before the file. The file is the nearest `gpusafe.toml` at or above the first path, or",
        "`[workspace.metadata.gpusafe]` and `[package.metadata.gpusafe]` in a Cargo.toml. `gpusafe config` shows what",
        "is in force and where it comes from; `gpusafe config --schema` prints a JSON schema for editors.",
        "",
        "| flag | in the file | default | |",
        "|---|---|---|---|",
    ]
    defaults = Options()
    for option, setting in settings():
        flags = ", ".join(f"`{flag}`" for flag in setting.flags) or "`-A`, `-W`, `-D`, `-F`" * (option.name == "lints")
        key = f"`{option.name.replace('_', '-')}`" if setting.in_file else ""
        value = getattr(defaults, option.name)
        default = f"`{json.dumps(value)}`" if isinstance(value, (str, bool)) else ""
        choices = f": {', '.join(setting.choices)}" if setting.choices else ""
        lines.append(f"| {flags} | {key} | {default} | {setting.help}{choices} |")
    lines += [
        "",
        "## In editors",
        "",
        "`gpusafe config --schema > gpusafe.schema.json` writes what editors need to complete and check. Those with",
        "taplo inside (VS Code's Even Better TOML, Helix, Zed, Neovim) take it from the first line of the file:",
        "`#:schema ./gpusafe.schema.json`.",
    ]
    lines += ["", "## A file with everything", "", "```toml", sample().rstrip(), "```"]
    return "\n".join(lines) + "\n"


def on_files(files: Any, config: Any) -> Any:
    """Adds the generated pages to the site (called by mkdocs)."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_config(config: Any) -> Any:
    """Puts a page for each rule into the navigation, and pages that it does not name (called by mkdocs)."""
    listed = [{"All rules": "rules/index.md"}]
    listed += [{page[6:-3]: page} for page in pages() if page.startswith("rules/GS")]
    named = repr(config["nav"])
    others = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if f"'{page.name}'" not in named]
    nav = [{"Rules": listed} if "Rules" in section else section for section in config["nav"]]
    config["nav"] = [*nav, *([{"More": others}] if others else [])]
    return config

"""``gpusafe config``: the settings in force, and where each comes from; the schema and a sample of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpusafe.cli.settings_file import load
from gpusafe.config import sample, schema, settings


def run(path: str, explicit: str | None, shown: str = "sources") -> int:
    """Print the ``sources`` of the settings that a file may hold, the ``schema`` of that file, or a ``sample``."""
    match shown:
        case "schema":
            print(json.dumps(schema(), indent=2))
        case "sample":
            print(sample(), end="")
        case _:
            _sources(path, explicit)
    return 0


def _sources(path: str, explicit: str | None) -> None:
    sourced = load(Path(path), {}, explicit)
    for option, setting in settings():
        if not setting.in_file:
            continue
        value = getattr(sourced.options, option.name)
        key = option.name.replace("_", "-")
        source = sourced.sources.get(option.name, "default")
        for line in _lines(key, option.name, value):
            print(f"{line}  # {source}: {setting.help}")


def _lines(key: str, name: str, value: Any) -> list[str]:
    match name:
        case "lints":
            told = [f'{key}.{lint.rule} = "{lint.level}"' for lint in value]
        case "per_path":
            told = [
                f"{key}.{json.dumps(entry.pattern)}.lints = {{ {_pairs(entry.lints)} }}  # below {entry.folder}"
                for entry in value
            ]
        case _:
            told = [f"# {key} is not set" if value is None else f"{key} = {json.dumps(value)}"]
    return told or [f"# {key} is not set"]


def _pairs(lints: Any) -> str:
    return ", ".join(f'{lint.rule} = "{lint.level}"' for lint in lints)

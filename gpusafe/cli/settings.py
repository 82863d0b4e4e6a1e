"""``gpusafe config``: the settings in force, and where each comes from."""

from __future__ import annotations

import json
from pathlib import Path

from gpusafe.cli.settings_file import load
from gpusafe.config import settings


def run(path: str, explicit: str | None) -> int:
    """List every setting that a file may hold as a line of TOML, its source as a comment."""
    sourced = load(Path(path), {}, explicit)
    for option, setting in settings():
        if not setting.in_file:
            continue
        value = getattr(sourced.options, option.name)
        key = option.name.replace("_", "-")
        source = sourced.sources.get(option.name, "default")
        line = f"# {key} is not set" if value is None else f"{key} = {json.dumps(value)}"
        print(f"{line}  # {source}: {setting.help}")
    return 0

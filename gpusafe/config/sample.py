"""A gpusafe.toml that says what could stand in it: every setting, commented out."""

from __future__ import annotations

import json

from gpusafe.config.options import Options, settings


def sample() -> str:
    """The text of the sample; taking out one `# ` of a line of code sets it."""
    defaults = Options()
    parts = ["# Settings of gpusafe. What is commented out shows the default, or an example."]
    tables: list[str] = []
    for option, setting in settings():
        if not setting.in_file:
            continue
        key = option.name.replace("_", "-")
        about = f"## {setting.help}"
        if setting.choices:
            about += f": {', '.join(setting.choices)}"
        code = setting.example or f"{key} = {json.dumps(getattr(defaults, option.name))}"
        commented = "\n".join(f"# {line}" for line in code.splitlines())
        (tables if code.startswith("[") else parts).append(f"{about}\n{commented}")
    return "\n\n".join([*parts, *tables]) + "\n"

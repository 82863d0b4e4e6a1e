"""The JSON schema of gpusafe.toml, for editors."""

from __future__ import annotations

from typing import Any

from gpusafe.config.options import Options, settings
from gpusafe.config.setting import Setting


def schema() -> dict[str, Any]:
    """JSON schema (draft 7, which editors for TOML know) of all that a configuration file may hold."""
    defaults = Options()
    properties: dict[str, Any] = {
        option.name.replace("_", "-"): _property(setting, getattr(defaults, option.name))
        for option, setting in settings()
        if setting.in_file
    }
    properties["api"] = {
        "description": "what functions of your own wrappers do (docs/extending.md)",
        "type": "array",
        "items": {"type": "object", "required": ["crate"]},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "gpusafe.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _property(setting: Setting, default: Any) -> dict[str, Any]:
    about: dict[str, Any] = {"description": setting.help}
    if setting.choices:
        about["enum"] = list(setting.choices)
    elif setting.schema is not None:
        about |= setting.schema
    else:
        about["type"] = "boolean"
    if isinstance(default, (str, bool)):
        about["default"] = default
    return about

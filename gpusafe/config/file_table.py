"""What a table of a configuration file sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field
from typing import Any

from gpusafe.config.options import settings
from gpusafe.config.setting import Setting
from gpusafe.errors import UsageError


def from_table(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields that a configuration table sets; keys are the field names with dashes.

    ``where`` names the table for messages. Raises UsageError for an unknown key or a value of the wrong kind.
    """
    known = {f.name.replace("_", "-"): (f, s) for f, s in settings() if s.in_file}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "api":  # read where the sources are (gpusafe.parse.dialects.extension)
            if where.endswith("]"):
                raise UsageError(f"{where}: `[[api]]` tables belong into a gpusafe.toml")
            values["api"] = (where,)
            continue
        if key not in known:
            raise UsageError(f"{where}: unknown key `{key}`{_hint(key, known)}")
        option, setting = known[key]
        values[option.name] = _read(value, option, setting, where)
    return values


def _hint(key: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    on_command_line = {f.name.replace("_", "-"): s.flags[-1] for f, s in settings() if not s.in_file}
    dashed = key.replace("_", "-").lower()
    if dashed in on_command_line:
        return f" (only the command line sets it: {on_command_line[dashed]})"
    near = get_close_matches(dashed, [*known, "api"], 1, 0.6)
    return f"; did you mean `{near[0]}`?" if near else f" (known: {', '.join(sorted(known))})"


def _read(value: Any, option: Field[Any], setting: Setting, file: str) -> Any:
    where = f"{file}: `{option.name.replace('_', '-')}`"
    if setting.choices:
        if value not in setting.choices:
            raise UsageError(
                f"{where} must be one of {', '.join(setting.choices)}, not {value!r}{_near(value, setting)}"
            )
        return value
    try:
        if setting.read is not None:
            return setting.read(value, file)
        if setting.parse is None:
            if not isinstance(value, bool):
                raise UsageError(f"{where} must be true or false, not {value!r}")
            return value
        text = ",".join(str(item) for item in value) if isinstance(value, list) else str(value)
        return setting.parse(text)
    except ValueError as problem:
        raise UsageError(f"{where}: {problem}") from None


def _near(value: Any, setting: Setting) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(value).lower(), setting.choices, 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""

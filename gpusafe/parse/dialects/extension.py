"""Reading ``[[api]]`` tables: from the user's settings file, and those that come with gpusafe."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from gpusafe import entry_points
from gpusafe.parse.dialects.extension_model import EFFECTS, KINDS, WORDS, ApiCall, ApiTable, Place
from gpusafe.parse.dialects.versions import parse_range

_HEADER = re.compile(r"^\s*\[\[?\s*([\w.\-]+)\s*\]?\]", re.MULTILINE)
_NAME = re.compile(r"^(?:(?P<owner>[A-Za-z_]\w*)(?P<sign>::|\.))?(?P<name>[A-Za-z_]\w*)$")
_TABLE_KEYS = frozenset({"crate", "versions", "source", "types", "call"})
_PLACES = ("length", "from", "to", "stream", "event", "target", "reads", "writes")


def load_tables(files: Iterable[str], crates: Iterable[str]) -> tuple[tuple[ApiTable, ...], tuple[str, ...]]:
    """The tables of the user's files, then those of installed packages and those shipped, both for ``crates`` only.

    There is a notice for each that is wrong.
    """
    tables: list[ApiTable] = []
    notices: list[str] = []
    for file in dict.fromkeys(files):
        try:
            text = Path(file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            notices.append(f"{file}: cannot read its `[[api]]` tables: {problem}")
            continue
        found, wrong = read_tables(text, file)
        tables += found
        notices += wrong
    found, wrong = _of_packages(set(crates))
    tables += found
    notices += wrong
    for name in sorted(set(crates)):
        shipped = resources.files("gpusafe.parse.dialects").joinpath(f"extensions/{name}.toml")
        if shipped.is_file():
            found, wrong = read_tables(shipped.read_text("utf-8"), f"{name}.toml (shipped)")
            tables += found
            notices += wrong
    return tuple(tables), tuple(notices)


def _of_packages(crates: set[str]) -> tuple[list[ApiTable], list[str]]:
    """The tables that installed packages bring for ``crates``, by entry points named after the crate."""
    tables: list[ApiTable] = []
    notices: list[str] = []
    for crate, value in entry_points.declared(entry_points.TABLES):
        if crate.replace("-", "_") not in crates:
            continue
        try:
            module = entry_points.load(value)
            files = [f for f in resources.files(module).iterdir() if f.name.endswith(".toml")]
            texts = sorted((f.name, f.read_text("utf-8")) for f in files)
        except Exception as problem:
            notices.append(f"the tables for `{crate}` cannot be read from {value}: {type(problem).__name__}: {problem}")
            continue
        for name, text in texts:
            found, wrong = read_tables(text, f"{value}/{name}")
            tables += found
            notices += wrong
    return tables, notices


def read_tables(text: str, where: str) -> tuple[list[ApiTable], list[str]]:
    """The ``[[api]]`` tables of a TOML text, and a notice with its place for each part that is wrong and left out."""
    try:
        listed = tomllib.loads(text).get("api", [])
    except tomllib.TOMLDecodeError as problem:
        return [], [f"{where}: {problem}"]
    if not isinstance(listed, list):
        return [], [f"{where}: `api` must be a list of tables (`[[api]]`)"]
    lines = _lines(text)
    tables: list[ApiTable] = []
    notices: list[str] = []
    calls = 0
    for number, raw in enumerate(listed):
        at = f"{where}:{lines['api'][number]}" if number < len(lines["api"]) else where
        raw_calls = raw.get("call", []) if isinstance(raw, dict) else []
        places = []
        for _ in raw_calls if isinstance(raw_calls, list) else ():
            places.append(f"{where}:{lines['api.call'][calls]}" if calls < len(lines["api.call"]) else at)
            calls += 1
        table = _table(raw, at, places, notices)
        if table is not None:
            tables.append(table)
    return tables, notices


def _lines(text: str) -> dict[str, list[int]]:
    """The lines of the table headers, by the header."""
    found: dict[str, list[int]] = {"api": [], "api.call": []}
    for match in _HEADER.finditer(text):
        if match[1] in found:
            found[match[1]].append(text.count("\n", 0, match.start(1)) + 1)
    return found


def _table(raw: Any, at: str, places: list[str], notices: list[str]) -> ApiTable | None:
    problem = _problem_of_table(raw)
    if problem is not None:
        notices.append(f"{at}: {problem}; the table is left out")
        return None
    calls = []
    for one, place in zip(raw.get("call", []), places, strict=True):
        made = _call(one, raw.get("types", {}))
        if isinstance(made, str):
            notices.append(f"{place}: {made}; the call is left out")
        else:
            calls.append(made)
    crate = raw["crate"].replace("-", "_")
    return ApiTable(crate, raw.get("versions", ""), raw.get("source", ""), raw.get("types", {}), tuple(calls), at)


def _problem_of_table(raw: Any) -> str | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("crate"), str) or not raw["crate"]:
        return "an `[[api]]` table needs `crate`, the name of the crate that it describes"
    unknown = sorted(raw.keys() - _TABLE_KEYS)
    if unknown:
        return f"unknown key `{unknown[0]}` (known: {', '.join(sorted(_TABLE_KEYS))})"
    for key in ("versions", "source"):
        if not isinstance(raw.get(key, ""), str):
            return f"`{key}` must be a text"
    if parse_range(raw.get("versions", "")) is None:
        return f"`versions` must be comparisons such as `>=0.3, <0.5`, not `{raw['versions']}`"
    types = raw.get("types", {})
    if not isinstance(types, dict):
        return "`types` must map type names to what they are"
    wrong = next((name for name, kind in types.items() if kind not in KINDS), None)
    if wrong is not None:
        return f"type `{wrong}` must be one of {', '.join(KINDS)}, not {types[wrong]!r}"
    if not isinstance(raw.get("call", []), list):
        return "`call` must be a list of tables (`[[api.call]]`)"
    return None


def _call(raw: Any, types: Mapping[str, str]) -> ApiCall | str:
    """A checked call, or what is wrong with it."""
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        return "an `[[api.call]]` needs `name`: `function`, `Type::function` or `Type.method`"
    name = _NAME.match(raw["name"])
    if name is None:
        return f"`{raw['name']}` is no name of a call (`function`, `Type::function` or `Type.method`)"
    if name["sign"] == "." and name["owner"] not in types:
        return f"the type of `{raw['name']}` is not among the table's `types`"
    effect = raw.get("effect")
    if not isinstance(effect, str) or effect not in EFFECTS:
        return f"`effect` of `{raw['name']}` must be one of {', '.join(EFFECTS)}, not {effect!r}"
    needed, optional = EFFECTS[effect]
    given = raw.keys() - {"name", "effect", "result"}
    for key in sorted(needed - given):
        return f"`{raw['name']}`: the effect `{effect}` needs `{key}`"
    for key in sorted(given - needed - optional):
        return f"`{raw['name']}`: the effect `{effect}` has no `{key}`"
    words: dict[str, str] = {}
    places: dict[str, tuple[Place, ...]] = {}
    for key in sorted(given):
        problem = _value(key, raw[key], words, places, name["sign"] == ".")
        if problem is not None:
            return f"`{raw['name']}`: {problem}"
    flags = (raw.get("zero", False), raw.get("result", False))
    if not all(isinstance(flag, bool) for flag in flags):
        return f"`{raw['name']}`: `zero` and `result` must be true or false"
    if effect == "synchronize" and words["what"] != "context" and "target" not in places:
        return f"`{raw['name']}`: which {words['what']} is waited for must be said by `target`"
    return ApiCall(name["owner"], name["name"], name["sign"] == ".", effect, words, places, *flags)


def _value(
    key: str, value: Any, words: dict[str, str], places: dict[str, tuple[Place, ...]], method: bool
) -> str | None:
    if key in WORDS:
        if value not in WORDS[key]:
            return f"`{key}` must be one of {', '.join(WORDS[key])}, not {value!r}"
        words[key] = value
    elif key in _PLACES:
        listed = value if isinstance(value, list) else [value]
        for one in listed:
            number = isinstance(one, int) and not isinstance(one, bool) and one >= 0
            if not number and not (method and one == "self"):
                return (
                    f"`{key}` must be the number of an argument (from 0){' or `self`' if method else ''}, not {one!r}"
                )
        if len(listed) != 1 and key not in ("reads", "writes"):
            return f"`{key}` must be one argument"
        places[key] = tuple(listed)
    return None

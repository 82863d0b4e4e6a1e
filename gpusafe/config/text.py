"""Values of options as people type them. Each function raises ValueError with what is wrong."""

from __future__ import annotations

import re

FORMATS = ("text", "short", "json", "sarif", "rustc-json", "github", "gitlab", "junit", "markdown")
"""How an outcome can be written."""


def parse_outputs(text: str) -> tuple[tuple[str, str], ...]:
    """``FORMAT=FILE,...`` as pairs."""
    pairs = [word.partition("=") for word in text.split(",") if word]
    for name, _, file in pairs:
        if name not in FORMATS:
            raise ValueError(f"`{name}` is no format (known: {', '.join(FORMATS)})")
        if not file:
            raise ValueError(f"`{name}` needs a file, as in {name}=FILE")
    return tuple((name, file) for name, _, file in pairs)


def parse_words(text: str) -> tuple[str, ...]:
    """``a,b c`` as the words that it lists."""
    return tuple(word for word in text.replace(",", " ").split() if word)


def parse_targets(text: str) -> tuple[str, ...]:
    """``sm_80,sm_90a`` as the targets that it lists; the memory model begins with sm_70."""
    words = parse_words(text)
    for word in words:
        if not re.fullmatch(r"sm_(7[025]|8[06789]|9[01]|1[0-2]\d)[af]?", word):
            raise ValueError(f"`{word}` is no target such as sm_80 (sm_75 to sm_121)")
    return words


def parse_executor(text: str) -> str:
    """``dask://HOST:PORT`` as the address of the cluster's scheduler."""
    scheme, _, place = text.partition("://")
    host, _, port = place.rpartition(":")
    if scheme != "dask" or not host or not port.isdecimal():
        raise ValueError(f"`{text}` is no executor such as dask://HOST:PORT")
    return f"tcp://{place}"


def parse_jobs(text: str) -> int:
    """A number of processes, at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"`{text}` is not a number of processes")
    return int(text)


def parse_extent(text: str) -> tuple[int, int, int]:
    """``X[,Y[,Z]]`` (or with ``x`` between) as three sizes, each at least 1."""
    parts = text.lower().replace("x", ",").split(",")
    if len(parts) > 3 or not all(p.strip().isdecimal() and int(p) > 0 for p in parts):
        raise ValueError(f"`{text}` is not a size such as 256 or 16,16,1")
    x, y, z = [*(int(p) for p in parts), 1, 1][:3]
    return x, y, z

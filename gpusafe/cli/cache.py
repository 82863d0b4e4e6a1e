"""``gpusafe cache``: what is kept of earlier runs."""

from __future__ import annotations

import json
from pathlib import Path

from gpusafe.cache.place import folder_of
from gpusafe.cache.store import Statistics, Store
from gpusafe.cli.exit_codes import CLEAN
from gpusafe.errors import UsageError


def run(action: str, asked: str | None, format: str) -> int:
    """Show the cache, or ``clear`` it; raises UsageError where that cannot be done."""
    folder = folder_of(asked)
    if folder is None:
        print("no cache: GPUSAFE_CACHE_DIR is set to nothing")
        return CLEAN
    store = Store(folder)
    before = store.statistics()
    if action == "clear":
        _clear(store)
        print(f"removed {_counted(sum(before.entries.values()), 'verdict')} ({_bytes(before.size)}) from {store.file}")
        return CLEAN
    for notice in store.notices:
        print(f"note: {notice}")
    print(_as_json(store.file, before) if format == "json" else _as_text(store.file, before, store.limit))
    return CLEAN


def _clear(store: Store) -> None:
    try:
        store.clear()
    except OSError as problem:
        raise UsageError(f"cannot remove {store.file}: {problem.strerror}") from None


def _as_json(file: Path, found: Statistics) -> str:
    return json.dumps(
        {
            "file": str(file),
            "entries": dict(found.entries),
            "bytes": found.size,
            "hits": found.hits,
            "misses": found.misses,
        }
    )


def _as_text(file: Path, found: Statistics, limit: int) -> str:
    asked = found.hits + found.misses
    share = f", {100 * found.hits / asked:.0f} % found" if asked else ""
    kinds = ", ".join(f"{count} of {kind} units" for kind, count in found.entries.items()) or "none"
    return "\n".join(
        (
            f"location  {file}",
            f"entries   {kinds}",
            f"size      {_bytes(found.size)} of at most {_bytes(limit)}",
            f"asked     {_counted(asked, 'time')}{share}",
        )
    )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _bytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.1f} KiB"

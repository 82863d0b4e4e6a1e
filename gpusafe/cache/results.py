"""Results of pure functions of a unit, kept from run to run."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpusafe.cache.identity import identity
from gpusafe.cache.pack import pack, unpack

if TYPE_CHECKING:
    from gpusafe.cache.store import Store

W = TypeVar("W")
R = TypeVar("R")


class Results:
    """What is known of units in the cache in ``folder``; None: nothing is known and nothing kept."""

    def __init__(self, folder: Path | None) -> None:
        self._store = _store(folder) if folder is not None else None

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know of the cache."""
        return tuple(self._store.notices) if self._store is not None else ()

    def of(
        self,
        kind: str,
        work: Sequence[W],
        run: Callable[[Sequence[W]], Sequence[R]],
        keepable: Callable[[R], bool],
    ) -> list[R]:
        """The result of every unit of ``work`` in order: from the cache, or of ``run`` for all that are not there.

        A result must follow from its unit alone and be made of data. Those that are not ``keepable`` are not kept.
        """
        if self._store is None:
            return list(run(work))
        keys = [_key(kind, unit) for unit in work]
        known = self._known(keys)
        missing = [i for i, key in enumerate(keys) if key is None or key not in known]
        found: dict[int, R] = {i: known[key] for i, key in enumerate(keys) if key is not None and key in known}
        made = dict(zip(missing, run([work[i] for i in missing]), strict=True)) if missing else {}
        kept = {}
        for i, result in made.items():
            key = keys[i]
            if key is not None and keepable(result) and (data := pack(result)) is not None:
                kept[key] = data
                made[i] = unpack(data)  # the same objects as a later run reads: what is made of them has the same key
        self._store.put(kind, kept)
        found |= made
        return [found[i] for i in range(len(work))]

    def _known(self, keys: Sequence[bytes | None]) -> dict[bytes, Any]:
        assert self._store is not None
        known = {}
        for key, data in self._store.get([key for key in dict.fromkeys(keys) if key is not None]).items():
            try:
                known[key] = unpack(data)
            except ValueError:
                continue  # damaged: it is made again and replaced
        return known


def _store(folder: Path) -> Store:
    from gpusafe.cache.store import Store  # imports a database

    return Store(folder)


def _key(kind: str, unit: object) -> bytes | None:
    """A hash of all of a unit, its places included; None for what cannot be written down.

    Equal bytes are read as equal units, so two units of one key do not differ; equal units may have two keys.
    """
    try:
        data = pickle.dumps(unit, pickle.HIGHEST_PROTOCOL)
    except (RecursionError, pickle.PicklingError, TypeError, AttributeError):
        return None
    digest = hashlib.sha256(identity())
    digest.update(f"{kind}\0".encode())
    digest.update(data)
    return digest.digest()

"""Outcomes of compilers kept on disk, by a hash of everything that they depend on.

Only outcomes that the inputs determine are kept: a compiler that was killed or ran out of time is asked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gpusafe.cache.place import cache_folder

__all__ = ["Kept", "cache_folder", "key_of"]

_MOST = 4000  # files; the oldest quarter goes when there are more


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of texts by key; anything that goes wrong with it is as if it were empty."""

    folder: Path | None

    def get(self, key: str) -> str | None:
        """The text kept under a key."""
        if self.folder is None:
            return None
        try:
            return (self.folder / key).read_text()
        except (OSError, UnicodeDecodeError):
            return None

    def put(self, key: str, text: str) -> None:
        """Keep a text; it appears at once or not at all."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self.folder, prefix="new-")
            try:
                with open(descriptor, "w") as file:
                    file.write(text)
                os.replace(name, self.folder / key)
            except OSError:
                os.unlink(name)
                raise
            self._prune()

    def _prune(self) -> None:
        assert self.folder is not None
        names = os.listdir(self.folder)
        if len(names) > _MOST:
            by_age = sorted(names, key=lambda n: (self.folder / n).stat().st_mtime if self.folder else 0.0)
            for name in by_age[: _MOST // 4]:
                with contextlib.suppress(OSError):
                    (self.folder / name).unlink()


def key_of(*parts: str) -> str:
    """A key for texts; how they are divided matters."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()

"""Reading files: what lies under the given paths, what may be read, and each file parsed once."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpusafe.parse.rust import ast
from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.workspace_gpu_text import hints_at_gpu, mentions_gpu

MAX_BYTES = 8 * 1024 * 1024
"""Larger files are skipped."""

CUDA_SUFFIXES = (".cu", ".cuh")
PTX_SUFFIX = ".ptx"
"""PTX is what a compiler made of sources: it is read where the user names the file, not where it lies in a folder."""

_SKIPPED_FOLDERS = frozenset({"target", "node_modules"})


@dataclass
class Scan:
    """What lies under one folder, in the order of names."""

    manifests: list[Path] = field(default_factory=list)
    rust: list[Path] = field(default_factory=list)
    cuda: list[Path] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def scan(folder: Path) -> Scan:
    """Walk a folder; hidden folders, build output and links to folders are not entered."""
    found = Scan()

    def unreadable(error: OSError) -> None:
        found.notices.append(f"cannot read the folder {error.filename}: {error.strerror}")

    for where, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(os.path.normpath(os.path.join(where, name)))
            if name == "Cargo.toml":
                found.manifests.append(path)
            elif name.endswith(".rs"):
                found.rust.append(path)
            elif name.endswith(CUDA_SUFFIXES):
                found.cuda.append(path)
    return found


class SourceStore:
    """The files of one run: read and parsed at most once, never from outside of ``roots``."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = [Path(os.path.realpath(root)) for root in roots]
        self.sources: dict[str, str] = {}
        self.skipped: dict[str, str] = {}
        self.details: dict[str, str] = {}
        self.notices: dict[str, None] = {}
        self._syntax: dict[str, ast.SourceFile | None] = {}
        self._gpu: dict[str, bool] = {}

    def add_root(self, root: Path) -> None:
        """Allow one more folder to be read from."""
        self.roots.append(Path(os.path.realpath(root)))

    def notice(self, message: str) -> None:
        """Something for the user to know, said once."""
        self.notices[message] = None

    def exists(self, path: Path) -> bool:
        """Whether ``path`` is a file that may be looked at."""
        return path.is_file() and self._inside(path)

    def _inside(self, path: Path) -> bool:
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(root) for root in self.roots)

    def read(self, path: Path) -> str | None:
        """The text of a file; None when it is skipped (the reason is in ``skipped``)."""
        key = str(path)
        if key in self.sources:
            return self.sources[key]
        if key in self.skipped:
            return None
        reason = self._refusal(path)
        if reason is None:
            try:
                data = path.read_bytes()
            except OSError as error:
                reason = f"unreadable: {error.strerror}"
        if reason is not None:
            self.skipped[key] = reason
            return None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            text = data.decode("utf-8-sig", "replace")
            self.details[key] = f"not UTF-8 (byte {error.start}); read with replacement characters"
        self.sources[key] = text
        return text

    def _refusal(self, path: Path) -> str | None:
        try:
            status = path.stat()
        except OSError as error:
            return f"unreadable: {error.strerror}"
        if not self._inside(path):
            return "symbolic link to a place outside" if path.is_symlink() else "outside of the checked folders"
        if not stat.S_ISREG(status.st_mode):
            return "not a regular file"
        if status.st_size > MAX_BYTES:
            return f"too large ({status.st_size / 2**20:.1f} MiB; the limit is {MAX_BYTES // 2**20} MiB)"
        return None

    def has_gpu(self, path: Path) -> bool:
        """Whether the file's text mentions GPU code."""
        key = str(path)
        if key not in self._gpu:
            text = self.read(path)
            self._gpu[key] = text is not None and mentions_gpu(text)
        return self._gpu[key]

    def hints_at_gpu(self, path: Path) -> bool:
        """Whether the file may handle GPU things through another crate of the workspace."""
        text = self.read(path)
        return text is not None and hints_at_gpu(text)

    def syntax(self, path: Path) -> ast.SourceFile | None:
        """The parsed file; None when it is skipped."""
        key = str(path)
        if key not in self._syntax:
            text = self.read(path)
            self._syntax[key] = parse_file(key, text) if text is not None else None
        return self._syntax[key]

    def parsed(self) -> dict[str, ast.SourceFile]:
        """The files parsed so far."""
        return {key: file for key, file in self._syntax.items() if file is not None}

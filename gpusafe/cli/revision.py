"""Other states of a git repository: the index, a revision, and what differs between them and the files."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gpusafe.errors import UsageError

_CODELESS = (
    "md markdown rst txt adoc html htm css scss js mjs ts tsx jsx py pyi ipynb rb go java sh bash zsh fish ps1 bat yml "
    "yaml xml svg png jpg jpeg gif webp ico pdf csv tsv parquet safetensors gguf onnx npy npz zip gz xz zst tar wasm "
    "nix dockerfile editorconfig license"
)
_INERT = frozenset(f".{kind}" for kind in _CODELESS.split(" "))
"""Kinds of files that no Rust or CUDA program includes as code; every other kind is taken to matter."""

_INERT_NAMES = frozenset(
    {"license", "dockerfile", "makefile", "justfile", "codeowners", ".gitignore", ".gitattributes"}
)


def matters(path: str) -> bool:
    """Whether a change of the file can change what gpusafe says."""
    name = PurePosixPath(path).name.lower()
    return PurePosixPath(name).suffix not in _INERT and name not in _INERT_NAMES


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository by the top folder of its files."""

    top: Path

    @staticmethod
    def around(path: Path) -> Repository:
        """The repository that ``path`` lies in; raises UsageError outside of one or without git."""
        folder = path if path.is_dir() else path.parent
        return Repository(Path(_git(folder, "rev-parse", "--show-toplevel").strip()))

    def holds(self, path: Path) -> bool:
        """Whether ``path`` lies in the repository."""
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.top))

    def relative(self, path: Path) -> Path:
        """``path`` from the top; raises UsageError for a path that lies elsewhere."""
        if not self.holds(path):
            raise UsageError(f"{path} lies outside of the repository {self.top}")
        return Path(os.path.realpath(path)).relative_to(os.path.realpath(self.top))

    def base(self, revision: str) -> str:
        """The commit where the history of HEAD left that of ``revision``."""
        if revision.startswith("-"):
            raise UsageError(f"`{revision}` is no revision")
        commit = _git(self.top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", failure=_no(revision))
        merged = _git(self.top, "merge-base", commit.strip(), "HEAD", failure=None)
        return merged.strip() or commit.strip()

    def changed(self, base: str) -> list[str]:
        """The files that differ from ``base``, new ones that git does not ignore among them."""
        differing = _git(self.top, "diff", "--name-only", "--no-renames", "-z", base, "--")
        new = _git(self.top, "ls-files", "--others", "--exclude-standard", "-z")
        return _names(differing) + _names(new)

    def staged(self, base: str | None = None) -> list[str]:
        """The files that differ between ``base`` (HEAD) and the index."""
        if base is None and not _git(self.top, "rev-parse", "--verify", "--quiet", "HEAD", failure=None):
            return _names(_git(self.top, "ls-files", "-z"))
        return _names(_git(self.top, "diff", "--cached", "--name-only", "--no-renames", "-z", base or "HEAD", "--"))

    def differs_from_index(self) -> bool:
        """Whether files that matter differ from what is staged."""
        differing = _names(_git(self.top, "diff", "--name-only", "--no-renames", "-z", "--"))
        new = _names(_git(self.top, "ls-files", "--others", "--exclude-standard", "-z"))
        return any(map(matters, [*differing, *new]))

    @contextmanager
    def index_tree(self) -> Iterator[Path]:
        """A folder with the files as they are staged."""
        with tempfile.TemporaryDirectory(prefix="gpusafe-") as folder:
            tree = Path(folder) / "tree"
            tree.mkdir()
            _git(self.top, "checkout-index", "--all", "--force", f"--prefix={tree}/")
            yield tree

    @contextmanager
    def revision_tree(self, commit: str) -> Iterator[Path]:
        """A folder with the files of a commit; the repository's own index and files are not touched."""
        with tempfile.TemporaryDirectory(prefix="gpusafe-") as folder:
            tree = Path(folder) / "tree"
            tree.mkdir()
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            _git(self.top, "read-tree", commit, more=index)
            _git(self.top, "checkout-index", "--all", "--force", f"--prefix={tree}/", more=index)
            yield tree


def _environment() -> dict[str, str]:
    """The environment without what a git hook sets for its own folder; the index of the commit is kept."""
    kept = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX")}
    if "GIT_INDEX_FILE" in kept:
        kept["GIT_INDEX_FILE"] = os.path.abspath(kept["GIT_INDEX_FILE"])
    return kept


def _names(listed: str) -> list[str]:
    return [name for name in listed.split("\0") if name]


def _no(revision: str) -> str:
    return f"there is no revision `{revision}` here (a shallow clone may lack it)"


def _git(folder: Path, *arguments: str, failure: str | None = "", more: Mapping[str, str] | None = None) -> str:
    """What git prints. When it fails: raises UsageError with ``failure`` or git's own words; returns "" for None."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder or "."), *arguments],
            capture_output=True,
            check=False,
            env={**_environment(), **(more or {})},
        )
    except FileNotFoundError:
        raise UsageError("git is not installed, and --staged and --changed-since need it") from None
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    if failure is None:
        return ""
    words = done.stderr.decode("utf-8", "replace").strip().splitlines()
    raise UsageError(failure or (words[-1] if words else f"git {arguments[0]} failed"))

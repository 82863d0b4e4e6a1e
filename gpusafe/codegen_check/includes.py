"""Files that a crate has rustc read beside its modules: those outside of its tree are not read."""

from __future__ import annotations

import ast as python
from itertools import islice
from pathlib import Path

from gpusafe.codegen_check.crate_source import KernelSource
from gpusafe.codegen_check.extract.lex import tokens

_INCLUDES = frozenset({"include", "include_str", "include_bytes"})
_VARIABLES = frozenset({"env", "option_env"})


def read_outside(source: KernelSource) -> str | None:
    """The first include of a file outside of the crate's workspace, as it is written; None when there is none.

    An include of a path from a variable (``OUT_DIR``) is passed over: rustc gets no variables, and fails there.
    """
    tree = _tree(Path(source.crate.manifest or source.root_file.path))
    for file, _ in source.modules.values():
        if not any(name in file.text for name in _INCLUDES):
            continue
        listed = list(tokens(file.text))
        for at, token in enumerate(listed[:-2]):
            if token.text in _INCLUDES and listed[at + 1].text == "!":
                inside = _argument([t.text for t in islice(listed, at + 2, at + 40)])
                if not _VARIABLES & set(inside) and not _below(tree, Path(file.path).parent, inside):
                    return f"{token.text}!({' '.join(inside)})"
    return None


def _tree(start: Path) -> Path:
    """The folder of the outermost manifest above, or of the file itself."""
    folder = start.resolve().parent
    found = [f for f in (folder, *folder.parents) if (f / "Cargo.toml").is_file()]
    return found[-1] if found else folder


def _argument(words: list[str]) -> list[str]:
    """The tokens inside the first pair of brackets."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word in "([{") - (word in ")]}")
        if depth == 0:
            return words[1:at]
    return words[1:]


def _below(tree: Path, folder: Path, words: list[str]) -> bool:
    """Whether the strings among the tokens, put together, name a file below ``tree``."""
    texts = [w for w in words if w.startswith(('"', "r"))]
    try:
        path = "".join(python.literal_eval(w.replace("#", "") if w.startswith("r") else w) for w in texts)
    except (ValueError, SyntaxError):
        return False
    return bool(path) and (folder / path).resolve().is_relative_to(tree)

"""The compiler flags that a program states for itself, and the targets that follow from them.

A line ``//! rustc-flags: ...`` in a file's leading comments says how its kernels are built. Only flags that shape the
generated code are passed on: a flag could otherwise load a plugin or write files, and the analysed text is nobody's
friend.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

DEFAULT_TARGETS = ("sm_80", "sm_90")

_LINE = re.compile(r"^//[!/]?\s*rustc-flags:\s*(.*)$")
_WORD = r"[\w.,+=-]+"
_PASSED = tuple(
    re.compile(pattern)
    for pattern in (
        r"-O",
        rf"-C(target-cpu|target-feature|opt-level|panic|overflow-checks|debug-assertions|codegen-units)={_WORD}",
        r"-C(overflow-checks|debug-assertions)",
        rf"-Z(mir-enable-passes|mir-opt-level|inline-mir|inline-mir-threshold|inline-llvm|unstable-options)(={_WORD})?",
        r"--cfg=[\w=\"-]+",
    )
)


@dataclass(frozen=True, slots=True)
class Flags:
    """``passed`` as rustc gets them; ``target`` is the target-cpu among them; ``refused`` the ones left out."""

    passed: tuple[str, ...] = ()
    target: str | None = None
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """A target to compile for; ``asked``: the user named it, so not building for it is the program's fault."""

    name: str
    asked: bool

    @property
    def level(self) -> int:
        """The number in the name: 90 for ``sm_90a``."""
        match = re.match(r"sm_(\d+)", self.name)
        return int(match[1]) if match else 0


def flags_of(text: str) -> Flags:
    """The flags that the leading comment lines of a file state."""
    words: list[str] = []
    for line in text.splitlines()[:60]:
        stripped = line.strip()
        if stripped and not stripped.startswith("//"):
            break
        match = _LINE.match(stripped)
        if match:
            words += _split(match[1])
    passed: list[str] = []
    refused: list[str] = []
    for flag in _joined(words):
        (passed if any(p.fullmatch(flag) for p in _PASSED) else refused).append(flag)
    target = next((f.split("=", 1)[1] for f in reversed(passed) if f.startswith("-Ctarget-cpu=")), None)
    return Flags(tuple(passed), target, tuple(refused))


def targets_for(flags: Flags, asked: Sequence[str]) -> tuple[Target, ...]:
    """What to compile for: the flags' own target, else the targets asked for, else the default ones."""
    if flags.target is not None:
        return (Target(flags.target, True),)
    if asked:
        return tuple(Target(name, True) for name in dict.fromkeys(asked))
    return tuple(Target(name, False) for name in DEFAULT_TARGETS)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _joined(words: list[str]) -> list[str]:
    """``-C x=y`` and ``--cfg x`` as one word each."""
    found: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        if word in ("-C", "-Z") and i + 1 < len(words):
            found.append(word + words[i + 1])
            i += 1
        elif word == "--cfg" and i + 1 < len(words):
            found.append(f"--cfg={words[i + 1]}")
            i += 1
        else:
            found.append(word)
        i += 1
    return found

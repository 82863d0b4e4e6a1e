"""Lowering of one source text, and its IR as lines without places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpusafe.ir import kernel as k
from gpusafe.ir.dump import lines
from gpusafe.parse.rust.build import parse_file
from gpusafe.parse.rust.device import lower_file

Lower = Callable[..., k.Kernel]

PLAIN = "use core::arch::nvptx::*;\nuse core::sync::atomic::*;\n"
CUDA_STD = "use cuda_std::prelude::*;\nuse cuda_std::{shared_array, warp};\n"
OXIDE = (
    "use cuda_device::*;\nuse cuda_device::atomic::*;\nuse cuda_device::barrier::*;\n"
    "use cuda_device::{cluster, warp};\n"
    "use cuda_device::cooperative_groups::*;\nuse cuda_device::cooperative_groups::ops::*;\n"
)


def lowered(text: str, name: str | None = None) -> k.Kernel:
    """The kernel of a text (the one called ``name``, else the only one)."""
    source = parse_file("lib.rs", text)
    assert not source.errors, source.errors
    made = lower_file(source)
    assert not made.problems, made.problems
    kernels = [x for x in made.kernels if name is None or x.name == name]
    assert len(kernels) == 1
    return kernels[0]


def shown(kernel: k.Kernel) -> list[str]:
    """The body, one statement a line, without indentation and places."""
    return [re.sub(r"\s+(//.*)?(@\d+:\d+)?$", "", line.split("  //")[0]).strip() for line in lines(kernel.body)]


def statements(kernel: k.Kernel) -> Iterator[k.Stmt]:
    """All statements, nested ones included."""
    todo = list(reversed(kernel.body))
    while todo:
        stmt = todo.pop()
        yield stmt
        for part in ("orelse", "then", "body"):
            todo.extend(reversed(getattr(stmt, part, ())))


def unmodelled(kernel: k.Kernel) -> list[str]:
    """What the lowering says it does not model."""
    return [s.what for s in statements(kernel) if isinstance(s, k.Unmodelled)]
